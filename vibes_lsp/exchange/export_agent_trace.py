"""Export annotations as agent-trace records: their lines in the commit that has them.

A record refers to the commit of its annotation, because readers of the format find it by the
commit that last changed a line. What was edited before that commit is `mixed`. What is in no
commit yet refers to the file as it is now.
"""

from __future__ import annotations

import re
import uuid
from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Final, Self

from vibes_lsp.agents.events import UNKNOWN
from vibes_lsp.anchors.create_anchors import range_hash_variants
from vibes_lsp.anchors.functions import locate_function
from vibes_lsp.anchors.locate import locate
from vibes_lsp.anchors.location import LocatedRange, State
from vibes_lsp.anchors.text import Text
from vibes_lsp.errors import MalformedJson, UnreadableFile
from vibes_lsp.exchange.agent_trace import FORMAT, OWN_METADATA, VERSION, sha256_of
from vibes_lsp.exchange.committed_versions import CommittedVersions
from vibes_lsp.exchange.import_plan import CONTENT_HASH, ImportEvidence
from vibes_lsp.git.commit_resolution import CommitMethod
from vibes_lsp.git.project_files import read_source
from vibes_lsp.git.repository import open_repository
from vibes_lsp.git.stored_files import StoredFiles
from vibes_lsp.model.canonical_json import canonical_json, parse_object
from vibes_lsp.model.members import JsonValue, Members, mapping, text
from vibes_lsp.model.paths import can_be_in_project, normal_path
from vibes_lsp.model.vocabulary import IMPORTED_FROM, Action, RecordType
from vibes_lsp.placing.project_locator import ProjectLocator
from vibes_lsp.trail.lineage import Lineage
from vibes_lsp.trail.lineage_commits import known_commit

_NAMESPACE: Final = uuid.UUID("5b1c4f0d-4c64-4f53-a1c9-0f5fd5a1a6de")
_DATE: Final = re.compile(r"\d{8}")
_PROVIDERS: Final = (
    ("claude", "anthropic"),
    ("gpt-", "openai"),
    ("codex", "openai"),
    ("o1", "openai"),
    ("o3", "openai"),
    ("o4", "openai"),
    ("gemini", "google"),
    ("qwen", "alibaba"),
    ("deepseek", "deepseek"),
    ("grok", "xai"),
    ("mistral", "mistral"),
    ("codestral", "mistral"),
    ("devstral", "mistral"),
    ("llama", "meta"),
)
"""The provider of a model, as models.dev names it, by the beginning of the model's name."""
_MAX_MODEL_ID: Final = 250


class LeftOut(StrEnum):
    """Why an annotation is not exported.

    Attributes:
        NO_EDIT: It is a deletion or a review, which has no lines.
        HISTORY: Another annotation replaced it.
        CONTRADICTED: Git had its lines before the edit.
        LOST: Its lines are in no version that is known.
        UNVERIFIED: Nothing proves its lines.
    """

    NO_EDIT = "noEdit"
    HISTORY = "history"
    CONTRADICTED = "contradicted"
    LOST = "lost"
    UNVERIFIED = "unverified"


@dataclass(slots=True)
class TraceRecord:
    """A record that is being made.

    Attributes:
        commit: The commit that its ranges are in; None for the files as they are now.
        members: Its members before `files`.
        metadata: Its metadata.
        files: Conversations with their ranges, by path.
    """

    commit: str | None
    members: Members
    metadata: Members
    files: dict[str, list[tuple[Members, list[JsonValue]]]] = field(default_factory=dict)

    def add(self, path: str, conversation: Members, line_range: Members) -> None:
        """Add a range to the conversation with the same members, or to a new one."""
        conversations = self.files.setdefault(path, [])
        for members, ranges in conversations:
            if members == conversation:
                ranges.append(line_range)
                return
        conversations.append((conversation, [line_range]))

    def as_json(self) -> Members:
        """Return the record."""
        files: list[JsonValue] = [
            {
                "path": path,
                "conversations": [
                    {**members, "ranges": ranges} for members, ranges in conversations
                ],
            }
            for path, conversations in self.files.items()
        ]
        metadata: Members = {"metadata": self.metadata} if self.metadata else {}
        return {**self.members, "files": files, **metadata}


@dataclass(slots=True)
class ExportedTraces:
    """Trace records, and what is not among them.

    Attributes:
        records: The records by id, oldest edit first.
        ranges: How many ranges they have.
        left_out: How many annotations are not exported, by reason.
    """

    records: dict[str, TraceRecord] = field(default_factory=dict)
    ranges: int = 0
    left_out: dict[LeftOut, int] = field(default_factory=lambda: dict.fromkeys(LeftOut, 0))

    def lines(self) -> dict[str, bytes]:
        """Return each record as a line of JSON, by id."""
        return {name: canonical_json(record.as_json()) for name, record in self.records.items()}


@dataclass(frozen=True, slots=True)
class _ExportedRange:
    """The lines of an annotation in a version.

    Attributes:
        path: The file in that version, from the top of the work tree.
        start: First line, 1-based.
        end: Last line, inclusive.
        commit: The commit that has the version; None for the file as it is now.
        contributor: `ai`, or `mixed` where a person edited the lines before the commit.
        hashes: The hashes that tools compute of the lines, ours first; none where no text is known.
    """

    path: str
    start: int
    end: int
    commit: str | None
    contributor: str
    hashes: tuple[str, ...] = ()


def export_traces(locator: ProjectLocator) -> ExportedTraces:
    """Return the annotations of a project as trace records, without those that prove nothing."""
    exported = ExportedTraces()
    locator.resolve_commits_in()
    lineages = locator.trail.lineages()
    contradicted = _contradicted(locator)
    with _VersionReader(locator) as reader:
        for lineage in lineages:
            exported_range = _range_of(lineage, contradicted, reader)
            if isinstance(exported_range, LeftOut):
                exported.left_out[exported_range] += 1
            else:
                exported.ranges += 1
                _add(exported, lineage, exported_range, locator)
    return exported


def _contradicted(locator: ProjectLocator) -> frozenset[str]:
    """Return the annotations that git contradicts, by their first record's id."""
    contradicted: set[str] = set()
    for path in locator.annotated_files():
        try:
            source = read_source(locator.trail.directory.project, path)
        except UnreadableFile:
            continue
        contradicted.update(
            placement.lineage.first.id
            for placement in locator.locate(path, source)
            if placement.located.is_contradicted
        )
    return frozenset(contradicted)


class _VersionReader:
    """Reads the version of a file that an annotation is about.

    Attributes:
        prefix: The project's folder in the repository, with a final slash; empty at its top.
    """

    def __init__(self, locator: ProjectLocator) -> None:
        self._project = locator.trail.directory.project
        self._resolved = locator.resolved_commits
        repository = open_repository(self._project) if locator.repository else None
        self._versions = (
            None if repository is None else CommittedVersions(repository, self._project)
        )
        self.prefix = "" if repository is None else repository.prefix_of(self._project)
        self._stored = StoredFiles(self._project)
        self._filters = self._stored.filters(map(normal_path, locator.trail.annotated_paths()))
        self._last: tuple[tuple[str, str | None], Text | None] | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self._versions is not None:
            self._versions.close()

    def commit_of(self, lineage: Lineage) -> str | None:
        """Return the commit of an annotation; None if it is not known for certain."""
        known = known_commit(lineage, self._resolved.get(lineage.first.id))
        if known is None or known.method == CommitMethod.INFERRED or self._versions is None:
            return None
        commit = self._versions.commit(known.commit)
        return None if commit is None else commit.id

    def text(self, path: str, commit: str | None) -> Text | None:
        """Return a file in a commit, or as it is now; None if it is not there."""
        key = path, commit
        if self._last is None or self._last[0] != key:  # annotations of one commit are neighbours
            self._last = key, self._read(path, commit)
        return self._last[1]

    def hashes(self, path: str, commit: str | None, lines: Sequence[str]) -> tuple[str, ...]:
        """Return the hashes of lines of a file; none of a saved text that git does not store."""
        text = self.text(path, commit)
        is_filtered = commit is None and path in self._filters
        if is_filtered and text and self._stored.hiding_filter(path, text) is not None:
            return ()
        return tuple(range_hash_variants(lines))

    def _read(self, path: str, commit: str | None) -> Text | None:
        if commit is None:
            try:
                return read_source(self._project, path)
            except UnreadableFile:
                return None
        content = None
        if self._versions is not None:
            content = self._versions.blob(f"{commit}:{self.prefix}{path}")
        return None if content is None else Text.from_bytes(content)


def _range_of(
    lineage: Lineage, contradicted: frozenset[str], reader: _VersionReader
) -> _ExportedRange | LeftOut:
    if lineage.action in {Action.DELETE, Action.REVIEW, ""}:
        return LeftOut.NO_EDIT
    if lineage.superseded_by:
        return LeftOut.HISTORY
    if lineage.first.id in contradicted:
        return LeftOut.CONTRADICTED
    path = normal_path(lineage.current.text("file_path") or "")
    if not path or not can_be_in_project(path):
        return LeftOut.LOST
    imported = mapping(lineage.first.members, IMPORTED_FROM)
    if _is_unverified_trace(imported):
        return _as_imported(lineage, reader.prefix + path)
    commit = reader.commit_of(lineage)
    source = reader.text(path, commit)
    located = None if source is None else _located(lineage, path, source)
    if source is None or located is None or located.start is None or located.end is None:
        return LeftOut.LOST
    if not located.sure and (located.state is not State.EDITED or located.ambiguous):
        return LeftOut.UNVERIFIED
    lines = source.lines[located.start - 1 : located.end]
    return _ExportedRange(
        reader.prefix + path,
        located.start,
        located.end,
        commit,
        "ai" if located.sure else "mixed",
        reader.hashes(path, commit, lines),
    )


def _is_unverified_trace(imported: Members) -> bool:
    return text(imported, "format") == FORMAT and text(imported, "evidence") == ImportEvidence.NONE


def _as_imported(lineage: Lineage, path: str) -> _ExportedRange | LeftOut:
    """Return the range of an imported record that was never placed in a version, as it was."""
    recorded = lineage.recorded_range
    if recorded is None:
        return LeftOut.UNVERIFIED
    return _ExportedRange(path, recorded.start, recorded.end, None, "ai")


def _located(lineage: Lineage, path: str, source: Text) -> LocatedRange | None:
    if lineage.current.type == RecordType.FUNCTION:
        name = lineage.current.text("function_name")
        if not name:
            return None
        signature = lineage.current.text("function_signature")
        return locate_function(source, path, name, signature, lineage.anchor_hash)
    recorded = lineage.recorded_range
    return None if recorded is None else locate([recorded], source)[0]


def _add(
    exported: ExportedTraces,
    lineage: Lineage,
    exported_range: _ExportedRange,
    locator: ProjectLocator,
) -> None:
    """Add a range to its record: that which it was imported from, or one of its own."""
    imported_from = mapping(lineage.first.members, IMPORTED_FROM)
    imported = imported_from if text(imported_from, "format") == FORMAT else {}
    identifier = text(imported, "id") or str(uuid.uuid5(_NAMESPACE, lineage.first.id))
    record = exported.records.get(identifier)
    # its ranges are in two commits
    if record is not None and record.commit != exported_range.commit:
        identifier = str(uuid.uuid5(_NAMESPACE, f"{identifier} {exported_range.commit}"))
        record = exported.records.get(identifier)
    environment = _entry(locator, lineage, "environment_hash")
    if record is None:
        members = _record(identifier, lineage, exported_range, imported, environment)
        metadata = mapping(imported, "metadata") if imported else _metadata(lineage, locator)
        record = exported.records[identifier] = TraceRecord(
            exported_range.commit, members, metadata
        )
    line_range: Members = {"start_line": exported_range.start, "end_line": exported_range.end}
    digest = _content_hash(exported_range, text(imported, CONTENT_HASH))
    if digest is not None:
        line_range[CONTENT_HASH] = digest
    conversation = _conversation(lineage, exported_range, imported, environment)
    record.add(exported_range.path, conversation, line_range)


def _content_hash(exported_range: _ExportedRange, imported_hash: str | None) -> str | None:
    """Return the hash of a range: as it was imported, unless it is one of other lines."""
    whole = None if imported_hash is None else sha256_of(imported_hash)
    if imported_hash is not None and (
        whole is None or not exported_range.hashes or whole in exported_range.hashes
    ):
        return imported_hash
    return f"sha256:{exported_range.hashes[0]}" if exported_range.hashes else None


def _record(
    identifier: str,
    lineage: Lineage,
    exported_range: _ExportedRange,
    imported: Members,
    environment: Members,
) -> Members:
    """Return the members of a record before its files."""
    vcs = mapping(imported, "vcs")
    if exported_range.commit is not None:
        vcs = {"type": "git", "revision": exported_range.commit}
    tool = mapping(imported, "tool") if imported else _tool(environment)
    return {
        "version": VERSION,
        "id": identifier,
        "timestamp": text(imported, "timestamp") or lineage.first.text("timestamp") or "",
        **({"vcs": vcs} if vcs else {}),
        **({"tool": tool} if tool else {}),
    }


def _conversation(
    lineage: Lineage, exported_range: _ExportedRange, imported: Members, environment: Members
) -> Members:
    """Return the members of a conversation without its ranges."""
    url = text(imported, "url") if imported else _session_urn(lineage)
    model = text(imported, "model_id") if imported else model_id(environment)
    related = imported.get("related")
    return {
        **({"url": url} if url is not None else {}),
        "contributor": {
            "type": exported_range.contributor,
            **({"model_id": model} if model is not None else {}),
        },
        **({"related": related} if related else {}),
    }


def _tool(environment: Members) -> Members:
    names = {"name": text(environment, "tool_name"), "version": text(environment, "tool_version")}
    return {name: value for name, value in names.items() if value not in {None, "", UNKNOWN}}


def model_id(environment: Members) -> str | None:
    """Return the identifier of an environment's model, as models.dev has it; None if unknown."""
    name, version = text(environment, "model_name"), text(environment, "model_version")
    if not name or name == UNKNOWN:
        return None
    dated = f"{name}-{version}" if version and _DATE.fullmatch(version) else name
    provider = next(
        (candidate for start, candidate in _PROVIDERS if name.lower().startswith(start)), None
    )
    whole = dated if provider is None or "/" in dated else f"{provider}/{dated}"
    return whole[:_MAX_MODEL_ID]


def _session_urn(lineage: Lineage) -> str | None:
    """Return a URI of an annotation's session, if its id can be one."""
    session = lineage.first.text("session_id")
    try:
        return None if session is None else uuid.UUID(session).urn
    except ValueError:
        return None


def _metadata(lineage: Lineage, locator: ProjectLocator) -> Members:
    """Return what the format has no place for."""
    prompt = _entry(locator, lineage, "prompt_hash")
    own: Members = {"annotation_id": lineage.first.id, "action": lineage.action}
    for name in ("session_id", "assurance_level", "risk_score"):
        if name in lineage.first.members:
            own[name] = lineage.first.members[name]
    if prompt:
        own["prompt"] = {
            "text": text(prompt, "prompt_text") or "",
            "type": text(prompt, "prompt_type") or "",
        }
    return {OWN_METADATA: own}


def _entry(locator: ProjectLocator, lineage: Lineage, name: str) -> Members:
    key, manifest = lineage.current.text(name), locator.trail.manifest
    return (manifest.entry(key) or {}) if key is not None and key in manifest else {}


def merged_file(before: bytes | None, exported: ExportedTraces) -> tuple[bytes, int]:
    """Return a file with the exported records, and how many of its lines are new or changed.

    Records of other tools stay as they are, byte for byte, and so do those that were imported from
    this file. A record of this program is replaced where it changed.

    Args:
        before: The content of the file; None if there is none.
        exported: The records.

    Raises:
        MalformedJson: A line of the file is not a JSON object.
    """
    new = exported.lines()
    kept: list[bytes] = []
    changed = 0
    for number, line in enumerate((before or b"").split(b"\n"), 1):  # not at a lone \r
        if not line.strip():
            continue
        try:
            record = parse_object(line)
        except MalformedJson as error:
            raise MalformedJson(error.reason, line=number) from None
        replacement = new.pop(text(record, "id") or "", None)
        is_own = OWN_METADATA in mapping(record, "metadata")
        if replacement is not None and is_own and replacement != line.removesuffix(b"\r"):
            changed += 1
            kept.append(replacement)
        else:
            kept.append(line)
    lines = [*kept, *new.values()]
    return b"".join(line + b"\n" for line in lines), changed + len(new)
