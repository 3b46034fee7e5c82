"""The placing of lines as a subject: hunks at each commit, owners by git's blame and line hashes.

It keeps what waits in the simplest way; how the product keeps it is tested elsewhere.
"""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from datetime import UTC, datetime
from functools import cache, cached_property
from pathlib import Path
from typing import Any, Final

from typing_extensions import override

from tests.git_life.in_process import Committing, InProcessHook
from tests.git_life.subject import Claim, Edit
from vibes_lsp.anchors.align import came_from
from vibes_lsp.anchors.create_anchors import make_context, range_hash
from vibes_lsp.anchors.line_hashes import join_hashes, line_hash
from vibes_lsp.anchors.text import Text
from vibes_lsp.errors import HistoryUnavailable
from vibes_lsp.git.line_origins import line_origins
from vibes_lsp.git.patches import staged_patch
from vibes_lsp.git.repository import Repository, open_repository
from vibes_lsp.git.staging import open_commit_index
from vibes_lsp.model.hashing import annotation_id, sha256
from vibes_lsp.model.members import Members
from vibes_lsp.placing.committed_lines import CommittedOwners
from vibes_lsp.placing.edits import RecordedEdit, edit_id, logged_lines, read_edit
from vibes_lsp.placing.hash_placement import HashedText, consecutive
from vibes_lsp.placing.hunks import FileAtCommit, Origin, WrittenHunks, hunks, late_hunks
from vibes_lsp.placing.line_owners import owned_text
from vibes_lsp.placing.lost_lines import LostBlocks
from vibes_lsp.placing.moved_blocks import PlacedLines
from vibes_lsp.placing.standing import CandidateEdits, has_left
from vibes_lsp.placing.trail_records import TrailRecords

LOG: Final = ".ai-audit/annotations.jsonl"


class Placing:
    """Records edits, writes their hunks in a pre-commit hook, and asks whose lines are."""

    def __init__(self, environment: dict[str, str]) -> None:
        self._hook = InProcessHook(Path(environment["HOME"]), write_hunks)
        self._trail: Trail | None = None

    def init(self, root: Path) -> None:
        """Start a trail, and install the hook."""
        (root / LOG).parent.mkdir(exist_ok=True)
        (root / LOG).touch()
        with (root / ".gitattributes").open("a", encoding="utf-8") as attributes:
            attributes.write(f"{LOG} merge=union -text\n")
        self.join(root)

    def join(self, root: Path) -> None:
        """Install the hook."""
        self._hook.install(root / git(root, "rev-parse", "--git-path", "hooks").strip())

    def record(self, root: Path, edit: Edit) -> None:
        """Keep an edit and the text after it."""
        text = Text.from_bytes(edit.after)
        store = Store(root)
        content = store.keep(edit.after)
        for first, last in edit.ranges:
            lines = text.lines[first - 1 : last]
            members: Members = {
                "type": "line",
                "file_path": edit.path,
                "line_start": first,
                "line_end": last,
                "environment_hash": "ab" * 32,
                "action": "create" if edit.before is None else "modify",
                "timestamp": datetime.now(UTC).isoformat(timespec="microseconds"),
                "commit_hash": None,
                "assurance_level": "medium",
                "anchor_context": make_context(lines),
                "anchor_hash": range_hash(lines),
                "file_content_hash": content,
                "line_hashes": join_hashes(lines),
                "prompt": edit.name,
            }
            members["annotation_id"] = annotation_id(members)
            store.add(members)

    def owners(self, root: Path, path: str) -> Mapping[int, Claim]:
        """Return whose the lines on disk are."""
        try:
            return self._of(root).owners(path)
        except HistoryUnavailable:  # a partial clone
            return {}

    def unreviewed(self, root: Path, base: str) -> set[tuple[str, int]] | None:
        """Return the lines of changed files that an AI wrote."""
        options = ("--name-only", "--diff-filter=AM", "--no-renames", "--relative", "-z")
        changed = git(root, "diff", *options, base, "HEAD")
        trail = self._of(root)
        return {
            (path, number)
            for path in changed.split("\0")
            if path and path not in {LOG, ".gitattributes"} and (root / path).is_file()
            for number in trail.owners(path)
        }

    def settle(self, root: Path) -> None:
        """Take both sides of a log in conflict."""
        if not git(root, "ls-files", "--unmerged", "--", LOG):
            return
        sides = [git(root, "show", f":{stage}:./{LOG}", ok=False) for stage in (2, 3)]
        lines = dict.fromkeys(line for side in sides for line in side.splitlines())
        (root / LOG).write_text("".join(f"{line}\n" for line in lines), "utf-8")
        git(root, "add", "--", LOG)

    def close(self) -> None:
        """End the hook."""
        if self._trail is not None:
            self._trail.close()
        self._hook.close()
        assert not self._hook.failures, self._hook.failures

    def _of(self, root: Path) -> Trail:
        """Return the trail of a work tree as it is now; the last one if nothing changed since."""
        state = state_of(root)
        if self._trail is None or self._trail.state != state:
            if self._trail is not None:
                self._trail.close()
            self._trail = Trail(root)
        return self._trail


class Store:
    """What waits: in git's common folder, a file for each work tree.

    What a removed work tree left there is each other work tree's.
    """

    def __init__(self, root: Path) -> None:
        self.root = root
        own, common, _ = folders_of(root)
        self.folder = common / "placing"
        self.folder.mkdir(exist_ok=True)
        self.file = self.folder / f"waiting-{own.name}.jsonl"
        self._works = {"waiting-.git.jsonl"} | {
            f"waiting-{folder.name}.jsonl" for folder in common.glob("worktrees/*")
        }
        self._written = self.folder / "written.jsonl"

    def keep(self, data: bytes) -> str:
        """Keep a text, and return its hash."""
        content = sha256(data)
        (self.folder / content).write_bytes(data)
        return content

    def text(self, content: str) -> Text | None:
        """Return a text."""
        file = self.folder / content
        return Text.from_bytes(file.read_bytes()) if file.is_file() else None

    def add(self, members: Members) -> None:
        """Add an edit."""
        with self.file.open("a", encoding="utf-8") as file:
            file.write(json.dumps(members) + "\n")

    @cached_property
    def own(self) -> list[RecordedEdit]:
        """The edits of this work tree, and of those that were removed."""
        left = [file for file in self._files() if file.name not in self._works]
        return [edit for file in [*left, self.file] for edit in read_edits(file)]

    @cached_property
    def foreign(self) -> list[RecordedEdit]:
        """The edits of other work trees."""
        others = [file for file in self._files() if file.name in self._works]
        return [edit for file in others for edit in read_edits(file)]

    def _files(self) -> list[Path]:
        """Return the files of other work trees."""
        return sorted(set(self.folder.glob("waiting-*.jsonl")) - {self.file})

    def candidates(self, path: str, records: Iterable[Members]) -> CandidateEdits:
        """Return the edits that lines of a file may be of."""
        return CandidateEdits(
            [edit for edit in self.own if edit.path == path],
            [
                edit
                for edit in self.own
                if edit.path != path and not self.written.has(edit.id) and self.has_left(edit)
            ],
            [edit for edit in self.foreign if edit.path == path],
            self.text,
            logged_lines(records),
        )

    def has_left(self, edit: RecordedEdit) -> bool:
        """Whether neither the file on disk nor the staged one has a distinctive line of an edit."""
        file = self.root / edit.path
        disk = file.read_bytes() if file.is_file() else b""
        staged = git(self.root, "show", f":./{edit.path}", ok=False).encode(
            "utf-8", "surrogateescape"
        )
        texts = (HashedText(Text.from_bytes(data).lines) for data in (disk, staged))
        return has_left(edit, self.text(edit.content), texts)

    @cached_property
    def written(self) -> WrittenHunks:
        """The hunks that were written before."""
        return WrittenHunks(read_lines(self._written))

    def note(self, records: Iterable[Members]) -> None:
        """Keep what is written."""
        with self._written.open("a", encoding="utf-8") as file:
            file.writelines(json.dumps(record) + "\n" for record in records)


class Records(TrailRecords):
    """The records of a log, without a trail."""

    def __init__(self, records: Iterable[Members], waiting: Iterable[RecordedEdit]) -> None:
        edits = (read_edit(record) for record in records)
        self._hunks = {edit.id: edit for edit in edits if edit is not None and edit.may_own}
        moments = [hunk.moment for hunk in self._hunks.values()]
        self._oldest = min([*moments, *(edit.moment for edit in waiting)], default=None)

    @override
    def of_file(self, path: str) -> Sequence[RecordedEdit]:
        """Return the records of a file."""
        return [hunk for hunk in self._hunks.values() if hunk.path == path]

    @override
    def of_id(self, identifier: str) -> RecordedEdit | None:
        """Return a record."""
        return self._hunks.get(identifier)

    @override
    def is_any_logged(self) -> bool:
        """Whether there is a record."""
        return bool(self._hunks)

    @override
    def oldest(self) -> datetime | None:
        """Return when the oldest edit was made."""
        return self._oldest

    @override
    def line_hashes(self) -> AbstractSet[str]:
        """Return the hashes of the lines of all records."""
        return {
            line
            for hunk in self._hunks.values()
            for line in hunk.hashes or map(line_hash, (hunk.anchors.context or "").split("\n"))
        }


class Trail:
    """A work tree with its log and what waits."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.state = state_of(root)
        self.store = Store(root)
        repository = open_repository(root)
        assert repository is not None
        self.repository: Repository = repository
        self.head = repository.head()
        self.records = [] if self.head is None else log_of(repository, root, self.head)
        waiting = [*self.store.own, *self.store.foreign]
        self.hunks = Records(self.records, waiting)
        self.committed = CommittedOwners(repository, prefix_of(root), self.hunks)
        self.names = {edit.id: str(edit.members["prompt"]) for edit in waiting}
        self.names |= {edit_id(record): str(record["prompt"]) for record in self.records}

    def close(self) -> None:
        """End what reads the repository."""
        self.repository.close()

    def owners(self, path: str) -> dict[int, Claim]:
        """Return whose the lines of a file on disk are."""
        text = Text.from_bytes((self.root / path).read_bytes())
        head = None if self.head is None else self.committed.known_file(self.head, path)
        owned = owned_text(
            text,
            head,
            self.store.candidates(path, self.records),
            elsewhere=self.lost(path),
        )
        return {
            number: Claim(kind.value, self.names[owner.edit])
            for number, (kind, owner) in enumerate(zip(owned.kinds, owned.owners, strict=True), 1)
            if owner is not None
        }

    def lost(self, path: str) -> LostBlocks:
        """Return what other files than one have lost."""
        blocks = list(self._lost(path))
        names = {block.path for block in blocks}
        files = {name: self.committed.known_file(self.head or "", name) for name in names}
        return LostBlocks(blocks, files)

    def _lost(self, path: str) -> Iterable[PlacedLines]:
        changed = git(self.root, "diff", "--name-only", "--relative", "-z", "HEAD").split("\0")
        for name in changed:
            if self.head is None or not name or name == path or name.startswith(".ai-audit"):
                continue
            file = self.root / name
            now = Text.from_bytes(file.read_bytes() if file.is_file() else b"").lines
            before = self.committed.file(self.head, name).text.lines
            kept = set(came_from(before, now))
            for block in consecutive(n for n in range(len(before)) if n not in kept):
                yield PlacedLines(name, block.start, before[block.start : block.stop])


def write_hunks(committing: Committing) -> None:
    """Write the hunks that the commit being made brings."""
    index = open_commit_index(committing.root, committing.environment)
    assert index is not None
    environment = {**os.environ, **committing.environment}
    root = project_of(index.repository.root)
    store = Store(root)
    head = index.repository.head()
    merged = index.git_dir / "MERGE_HEAD"
    parents = [] if head is None else [head]
    parents += merged.read_text("ascii").split() if merged.is_file() else []
    known = dict.fromkeys(
        line for parent in parents for line in log_lines(index.repository, root, parent)
    )
    staged = git(root, "show", f":./{LOG}", ok=False, environment=environment).splitlines()
    picked = index.git_dir / "CHERRY_PICK_HEAD"
    if picked.is_file():  # it brings its records
        brought = set(log_lines(index.repository, root, picked.read_text("ascii").strip()))
        known |= dict.fromkeys(line for line in staged if line in brought)
    records: list[Members] = [json.loads(line) for line in known]
    found = [
        record
        for file in files_of_commit(index.repository, root, parents, environment)
        for record in hunks(file, store.candidates(file.path, records), store.written)
    ]
    if head is not None:
        found += late(index.repository, store, head, records)
    store.note(found)
    mine = {edit.id for edit in (*store.own, *store.foreign)}
    others = [line for line in staged if edit_id(json.loads(line)) not in mine]
    lines = dict.fromkeys([*known, *others, *(json.dumps(record) for record in found)])
    log = "".join(f"{line}\n" for line in lines)
    if log != "".join(f"{line}\n" for line in staged):
        (root / LOG).parent.mkdir(exist_ok=True)
        (root / LOG).write_text(log, "utf-8")
        index.stage([root / LOG])
    index.repository.close()


def files_of_commit(
    repository: Repository, root: Path, parents: Sequence[str], environment: dict[str, str]
) -> Iterable[FileAtCommit]:
    """Yield the files of a project that a commit adds or changes."""
    prefix, index = prefix_of(root), Path(environment["GIT_INDEX_FILE"])
    options = ("--cached", "--name-only", "--diff-filter=AM", "--no-renames", "-z")
    names = git(root, "diff", *options, environment=environment)
    paths = [
        name
        for name in names.split("\0")
        if name and name.startswith(prefix) and ".ai-audit/" not in name
    ]
    patches = [
        {patch.path: patch for patch in staged_patch(repository, parent, paths, index)}
        for parent in parents
    ]
    for path in paths:
        data = raw(root, "show", f":{path}", environment=environment)
        text = Text.from_bytes(data)
        new = set(range(len(text.lines)))
        replacing: set[int] = set()
        for patch in patches:
            changed = patch[path].hunks if path in patch else []
            new &= {h.new_start + n for h in changed for n in range(len(h.added))}
            if patch is patches[0]:
                replacing = {
                    h.new_start + n for h in changed if h.removed for n in range(len(h.added))
                }
        yield FileAtCommit(path.removeprefix(prefix), text, sha256(data), new, replacing)


def late(
    repository: Repository, store: Store, head: str, records: Sequence[Members]
) -> list[Members]:
    """Return the hunks of edits that were committed without the hook."""
    prefix = prefix_of(store.root)
    logged = logged_lines(records)
    waiting = [edit for edit in store.own if edit.id not in logged]
    found: list[Members] = []
    committed = CommittedOwners(repository, prefix, Records(records, store.own))
    for path in dict.fromkeys(edit.path for edit in waiting):
        edits = [edit for edit in waiting if edit.path == path]
        data = repository.objects.contents(f"{head}:{prefix}{path}")
        if not data:
            continue
        since = min(edit.moment for edit in edits).replace(microsecond=0)
        try:
            blamed = line_origins(repository, prefix + path, head, since=since)
            owners = committed.known_file(head, path).owners
        except HistoryUnavailable:  # a partial clone
            continue
        origins: list[Origin | None] = [
            None if origin is None or owner is not None else origin[:3]
            for origin, owner in zip(blamed, owners, strict=True)
        ]
        candidates = CandidateEdits(edits, snapshots=store.text)
        found += late_hunks(
            HashedText(Text.from_bytes(data).lines),
            origins,
            candidates,
            lambda commit, name: file_at(repository, commit, name, prefix),
        )
    return found


def file_at(repository: Repository, commit: str, name: str, prefix: str) -> FileAtCommit:
    """Return a file of a commit."""
    data = repository.objects.contents(f"{commit}:{name}") or b""
    text, path = Text.from_bytes(data), name.removeprefix(prefix)
    return FileAtCommit(path, text, sha256(data), frozenset(), commit=commit)


def prefix_of(root: Path) -> str:
    """Return a project's folder from the top of the work tree: empty, or ending with a slash."""
    return folders_of(root)[2]


@cache
def folders_of(root: Path) -> tuple[Path, Path, str]:
    """Return git's folder of a work tree, the common one, and the project's folder in it."""
    names = ("--git-dir", "--git-common-dir", "--show-prefix")
    own, common, prefix = git(root, "rev-parse", *names).split("\n")[:3]
    return (root / own).resolve(), (root / common).resolve(), prefix


def state_of(root: Path) -> tuple[Path, str, tuple[tuple[str, int], ...]]:
    """Return what the answers about a work tree depend on, but for the files on disk."""
    own, common, _ = folders_of(root)
    folder = Store(root).folder
    kept = tuple((file.name, file.stat().st_size) for file in sorted(folder.glob("*.jsonl")))
    head = (own / "HEAD").read_text("utf-8")
    branch = common / head.removeprefix("ref: ").strip()
    return root, head + (branch.read_text("utf-8") if branch.is_file() else ""), kept


def project_of(top: Path) -> Path:
    """Return the project of a work tree: its top, or the folder in it that has a trail."""
    trails = [] if (top / LOG).exists() else sorted(top.glob("*/.ai-audit"))
    return trails[0].parent if trails else top


def read_edits(file: Path) -> list[RecordedEdit]:
    """Return the edits of a file."""
    return [edit for edit in map(read_edit, read_lines(file)) if edit is not None]


def read_lines(file: Path) -> list[Members]:
    """Return the objects of a file of JSON lines."""
    lines = file.read_text("utf-8").splitlines() if file.is_file() else []
    return [json.loads(line) for line in lines]


def log_lines(repository: Repository, root: Path, commit: str) -> list[str]:
    """Return the lines of the log of a commit."""
    data = repository.objects.contents(f"{commit}:{prefix_of(root)}{LOG}") or b""
    return data.decode().splitlines()


def log_of(repository: Repository, root: Path, commit: str) -> list[Members]:
    """Return the records of the log of a commit."""
    return [json.loads(line) for line in log_lines(repository, root, commit)]


def raw(
    root: Path, *arguments: str, ok: bool = True, environment: Mapping[str, str] | None = None
) -> bytes:
    """Return what git prints; nothing if it fails and may."""
    done = subprocess.run(
        ["git", *arguments],
        cwd=root,
        env=environment,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        check=False,
    )
    if done.returncode and ok:
        raise AssertionError(f"git {arguments}: {done.stderr.decode('utf-8', 'replace')}")
    return b"" if done.returncode else done.stdout


def git(root: Path, *arguments: str, **how: Any) -> str:
    """Return what git prints, as text."""
    return raw(root, *arguments, **how).decode("utf-8", "surrogateescape")
