"""A trail with one of each quirk that real trails have, by name.

Two quirks would hide all others and have functions of their own: a log that is rewritten in place,
and a manifest that cannot be parsed.
"""

from __future__ import annotations

import base64
import hashlib
import json
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING, Final

from tests.trails.content import file_hash
from tests.trails.files import OMIT, AuditFiles, to_json
from tests.trails.hashing import annotation_id
from tests.trails.repository import Repository
from tests.trails.writer import TrailWriter

if TYPE_CHECKING:
    from pathlib import Path

BEFORE: Final = "def area(width, height):\n    return width * height\n"
AFTER: Final = (
    "def area(width: float, height: float) -> float:\n    return width * height\n\n\nUNIT = 'm'\n"
)
FOREIGN_PATH: Final = "/home/someone/other-project/src/lib.rs"
BULK_TIME: Final = "2026-02-03T10:30:00.123456Z"


@dataclass(frozen=True)
class Quirk:
    """One quirk: the records and manifest keys that have it, and a description."""

    note: str
    records: tuple[str, ...] = ()
    keys: tuple[str, ...] = ()
    variant: str | None = None
    paths: tuple[str, ...] = ()
    value: str | None = None


@dataclass(frozen=True)
class QuirkTrail:
    """The result of `quirks`: HEAD, and the quirks by name in `items`."""

    root: Path
    writer: TrailWriter
    repository: Repository
    head: str
    items: MappingProxyType[str, Quirk]

    def __getitem__(self, name: str) -> Quirk:
        """Return a quirk by its name."""
        return self.items[name]


def quirks(root: Path) -> QuirkTrail:
    """Create a repository at `root` with a trail of all quirks and two commits on `main`."""
    repository = Repository(root)
    repository.write("src/area.py", BEFORE)
    repository.commit("Add area", "2026-01-20T09:00:00+00:00")
    stray = _abandoned_commit(repository)
    trail = TrailWriter(root, level="high", project="quirks")
    trail.config(tracked_extensions=[".py"])
    trail.environment()
    items = _hash_quirks(trail) | _record_quirks(trail, stray) | _file_quirks(trail)
    repository.write("src/area.py", AFTER)
    head = repository.commit("Annotate area", "2026-02-03T12:00:00+00:00")
    return QuirkTrail(root, trail, repository, head, MappingProxyType(items))


def _abandoned_commit(repository: Repository) -> str:
    repository.switch("abandoned", create=True)
    repository.write("src/area.py", BEFORE + "\n\nLOST = True\n")
    stray = repository.commit("Try something", "2026-01-21T09:00:00+00:00")
    repository.switch("main")
    return stray


def _hash_quirks(trail: TrailWriter) -> dict[str, Quirk]:
    environment = trail.last_environment
    items: dict[str, Quirk] = {}

    def add(name: str, note: str, variant: str, *keys: str) -> None:
        items[name] = Quirk(note, keys=keys, variant=variant)

    key = trail.command("git status", variant="no-type", directory="/home/someone/project")
    add("no-type", "The key was made without the type.", "no-type", key)
    key = trail.command(
        "git diff", variant="no-type+null-dropped", command_exit_code=None, working_directory=None
    )
    add(
        "null-dropped",
        "Stored with nulls, hashed without them or the type.",
        "no-type+null-dropped",
        key,
    )
    key = trail.environment(
        model="claude-opus-4-6", model_version="20260101", variant="environment-unknown"
    )
    add(
        "environment-unknown",
        "The model was filled in under the old key.",
        "environment-unknown",
        key,
    )
    key = trail.environment(
        model="gpt-5", model_version="5.1", variant="no-type+environment-unknown"
    )
    add(
        "environment-unknown-no-type",
        "As above, by an older tool.",
        "no-type+environment-unknown",
        key,
    )
    twins = [
        trail.command("npm test", exit_code=0, variant=variant) for variant in ("no-type", "spec")
    ]
    add("twins", "One entry under the keys of two variants.", "no-type", *twins)
    key = trail.prompt("Größe prüfen", variant="ascii")
    add("ascii", "Non-ASCII characters were escaped before hashing.", "ascii", key)
    key = trail.environment(parameters={"temperature": 0.7, "top_p": 0.9}, variant="replacer")
    add("replacer", "Nested members were emptied before hashing.", "replacer", key)
    key = trail.environment(parameters={"temperature": 1.0, "penalty": 1e-7}, variant="js-number")
    add("js-number", "Stored with 1.0, hashed as 1.", "js-number", key)
    thought = "A width is never negative.\n" * 40
    digest = hashlib.sha256(thought.encode()).hexdigest()
    blob = f"blobs/{digest}.blob"
    trail.files.write(blob, thought.encode())
    key = trail.entry(
        {
            "type": "reasoning",
            "external": True,
            "blob_path": blob,
            "reasoning_token_count": 240,
            "reasoning_model": None,
            "created_at": trail.now(),
        }
    )
    items["raw-blob"] = Quirk(
        "The blob is plain text, named by its own hash.", keys=(key,), paths=(blob,)
    )
    trail.last_environment = environment
    return items


def _record_quirks(trail: TrailWriter, stray: str) -> dict[str, Quirk]:
    path = "src/area.py"
    items: dict[str, Quirk] = {}

    def add(
        name: str, note: str, *records: str, variant: str | None = None, paths: tuple[str, ...] = ()
    ) -> None:
        items[name] = Quirk(note, records=records, variant=variant, paths=paths)

    session = trail.session_start(description="claude-code agent session", annotation_id=OMIT)
    items["unclosed-session"] = Quirk("The session never ends; its start has no id.", value=session)
    one = trail.line(
        path, 1, 2, action="modify", session=session, text=AFTER, id_variant="less-anchors"
    )
    add(
        "id-less-anchors",
        "The id was made before the anchors were added.",
        one,
        variant="less-anchors",
    )
    one = trail.line(path, 1, 2, action="modify", session=session, text=BEFORE)
    add("anchor-before-edit", "The anchors are those of the text before the edit.", one)
    ones = [
        trail.line(
            path, 1, 1, action="modify", command=trail.command(f"edit {number}", type="file_write")
        )
        for number in range(3)
    ]
    add("placeholder", "1-1 stands for: somewhere in the file.", *ones)
    ones = [
        trail.line(name, 1, 2, timestamp=BULK_TIME, session_id=None, annotation_id=OMIT)
        for name in ("src/area.py", "src/volume.py", "src/weight.py")
    ]
    add("bulk", "Written by a script: one microsecond, no session, no ids.", *ones)
    sibling = f"-{trail.root.name}/Auto Run Docs/plan one.py"
    add(
        "sibling-path",
        "What a prefix of a sibling folder leaves.",
        trail.line(sibling, 1, 3),
        paths=(sibling,),
    )
    add(
        "foreign-path",
        "An absolute path of another project.",
        trail.line(FOREIGN_PATH, 4, 9),
        paths=(FOREIGN_PATH,),
    )
    one = trail.line(path, 1, 2, action="modify", session=session, text=AFTER)
    add("uncommitted", "No commit; the next commit that touches the path holds it.", one)
    one = trail.line(path, 4, 5, commit=stray, session=session)
    items["stray-commit"] = Quirk("The commit is no ancestor of HEAD.", records=(one,), value=stray)
    older, newer = trail.line(path, 1, 1, text=AFTER), trail.line(path, 4, 5, action="modify")
    edge = trail.edge("supersedes", newer, older, target_type="annotation", annotation_id=OMIT)
    add(
        "disjoint-supersedes",
        "Newer, older, edge: a later edit of the same file, not a remap.",
        newer,
        older,
        edge,
    )
    one = trail.line(path, 5, 5, commit=stray, id_variant="less-commit")
    add(
        "id-less-commit",
        "The commit was filled in after the id was made.",
        one,
        variant="less-commit",
    )
    factors = [{"signal": "temperature", "value": 0.5, "weight": 0.15}]
    one = trail.line(path, 5, 5, risk_score=0.5, risk_factors=factors, id_variant="less-risk")
    add("id-less-risk", "The score was added after the id was made.", one, variant="less-risk")
    add(
        "untracked",
        "Not among the tracked extensions.",
        trail.line("docs/plan.md", 1, 4),
        paths=("docs/plan.md",),
    )
    one = trail.edge("informed_by", newer, older, old_names=True)
    add("old-edge-names", "source_id and target_id, no types.", one)
    add("spaced", "Written with a space after each comma and colon.", _spaced(trail, path))
    return items


def _spaced(trail: TrailWriter, path: str) -> str:
    record: dict[str, object] = {
        "timestamp": trail.tick(),
        "type": "line",
        "file_path": path,
        "line_start": 2,
        "line_end": 2,
        "environment_hash": trail.last_environment,
        "action": "modify",
        "commit_hash": None,
        "assurance_level": "high",
    }
    record["annotation_id"] = annotation_id(record)
    trail.raw_log(json.dumps(record).encode() + b"\n")
    return str(record["annotation_id"])


def _file_quirks(trail: TrailWriter) -> dict[str, Quirk]:
    files = trail.files
    attested = files.log.read_bytes()
    config = files.config.read_bytes()
    subjects = {
        ".ai-audit/manifest.json": file_hash("formatted since"),
        ".ai-audit/annotations.jsonl": file_hash(attested),
        ".ai-audit/config.json": file_hash(config),
    }
    _attest(files, subjects, attested.count(b"\n"))
    after = trail.line("src/area.py", 4, 4, action="modify")
    files.write("config.json", json.dumps(json.loads(config), indent="\t").encode() + b"\n")
    for name in ("audit.db-shm", "audit.db-wal"):
        files.write(name, b"")
    return {
        "stale-attestation": Quirk(
            "All three subjects differ; the attested log is a prefix of the log before `records`.",
            records=(after,),
            paths=("attestation.json",),
            value=str(attested.count(b"\n")),
        ),
        "reindented-config": Quirk(
            "A formatter rewrote it after it was attested.", paths=("config.json",)
        ),
        "database-leftovers": Quirk(
            "SQLite's side files, without the database.", paths=("audit.db-shm", "audit.db-wal")
        ),
    }


def _attest(files: AuditFiles, subjects: dict[str, str], records: int) -> None:
    """Write an attestation in the only known form; its signature is not a real one."""
    statement = {
        "_type": "https://in-toto.io/Statement/v1",
        "subject": [
            {"name": name, "digest": {"sha256": digest}} for name, digest in subjects.items()
        ],
        "predicateType": "https://itsavibe.ai/vibes/attestation/v1",
        "predicate": {"stats": {"total_annotations": records, "unique_models": 0}},
    }
    envelope = {
        "payload": _url_base64(to_json(statement).encode()),
        "payloadType": "application/vnd.in-toto+json",
        "signatures": [
            {"keyid": "0123456789abcdef", "keytype": "user", "sig": _url_base64(bytes(64))}
        ],
    }
    files.write("attestation.json", json.dumps(envelope, indent="\t").encode() + b"\n")


def _url_base64(raw: bytes) -> str:
    return base64.urlsafe_b64encode(raw).rstrip(b"=").decode("ascii")


def rewrite_log(root: Path, commit: str) -> int:
    """Rewrite the log with `commit` in all annotations without one, as one known tool does.

    Returns:
        How many records were changed. Their unchanged ids are of the variant `less-commit`.
    """
    files = AuditFiles(root)
    changed = 0
    lines = []
    for line in files.log.read_bytes().split(b"\n")[:-1]:
        record = json.loads(line)
        if record.get("type") in ("line", "function") and record.get("commit_hash") is None:
            record["commit_hash"] = commit
            changed += 1
        lines.append(to_json(record).encode() + b"\n")
    files.log.write_bytes(b"".join(lines))
    return changed


def corrupt_manifest(root: Path) -> bytes:
    """Truncate the manifest within its last entry, and return its former content."""
    files = AuditFiles(root)
    whole = files.manifest.read_bytes()
    files.manifest.write_bytes(whole[: whole.rindex(b'"created_at"') + 5])
    return whole
