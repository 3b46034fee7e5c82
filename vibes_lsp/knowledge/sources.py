"""Sources and evidence: registered once, without a review, and compared with files (vouch 5.2).

A source is immutable. The path of a file in the project is kept relative to it.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path, PurePosixPath
from typing import Any, Final

from pydantic import BaseModel, ConfigDict

from vibes_lsp.anchors.text import Text
from vibes_lsp.errors import InvalidObject, UnreadableFile, VibesError
from vibes_lsp.git.stored_files import StoredFiles
from vibes_lsp.knowledge.changes import Change, changing
from vibes_lsp.knowledge.citations import file_of_source
from vibes_lsp.knowledge.evidence_lines import parse_locator
from vibes_lsp.knowledge.knowledge_base import MAX_SOURCE, KnowledgeBase
from vibes_lsp.knowledge.objects import Evidence, Kind, Source
from vibes_lsp.model.paths import can_be_in_project, normal_path
from vibes_lsp.store.files import is_inside, read_file

_MEANING: Final = ("source_id", "locator", "quote", "hash", "replaces")
"""What evidence says; evidence with the same id says the same."""

_NO_SOURCES: Final = frozenset({".git", ".vouch"})
"""Folders whose files are no sources: git's may hold secrets, ours prove themselves."""


class InlineEvidence(BaseModel):
    """Evidence that a proposal of a claim brings along, an extension of `kb.propose_claim`.

    Attributes:
        source_id: The source; `path` registers a file instead.
        path: A file of the project.
        locator: The span, such as `L10-L20`.
        quote: The text of the span; taken from the source for lines.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    source_id: str | None = None
    path: str | None = None
    locator: str
    quote: str | None = None


@dataclass(frozen=True, slots=True)
class RegisteredSource:
    """A source that is in the knowledge base.

    Attributes:
        source: The source.
        is_new: Whether it was not there before.
    """

    source: Source
    is_new: bool


@dataclass(frozen=True, slots=True)
class SourceState:
    """How a source compares with its captured bytes and with its file.

    Attributes:
        id: The source.
        title: Its title.
        is_stored: Whether the captured bytes have the hash that is the id.
        file_state: `match`, `drift`, `missing`, or `n/a` for what is no file of the project.
        reason: What is wrong; empty for nothing.
    """

    id: str
    title: str | None
    is_stored: bool
    file_state: str
    reason: str


def register_source(
    knowledge: KnowledgeBase,
    content: bytes,
    *,
    locator: str,
    actor: str,
    now: datetime,
    **members: Any,
) -> RegisteredSource:
    """Capture bytes as a source, unless these bytes are one.

    Args:
        knowledge: The knowledge base.
        content: The bytes.
        locator: Where they are from.
        actor: Who registers them.
        now: When.
        **members: Other members of the source.

    Raises:
        InvalidObject: They are too many, or the source that is there breaks a rule.
        VibesError: The knowledge base cannot be written.
    """
    if len(content) > MAX_SOURCE:
        raise InvalidObject(f"source: {len(content):,} bytes, expected at most {MAX_SOURCE:,}")
    source = source_of(content, locator, now, **members)
    with changing(knowledge, actor, now) as change:
        return store_source(change, source, content)


def source_of(content: bytes, locator: str, now: datetime, **members: Any) -> Source:
    """Return bytes as a source, which is not written; by default its title is the file's name."""
    identifier = hashlib.sha256(content).hexdigest()
    return Source.model_validate(
        {
            "id": identifier,
            "locator": locator,
            "title": PurePosixPath(locator).name,
            "hash": identifier,
            "byte_size": len(content),
            "created_at": now,
            **members,
        }
    )


def store_source(change: Change, source: Source, content: bytes) -> RegisteredSource:
    """Write a source and its bytes unless it is there, as part of a change.

    One that is there gets the metadata that it lacks: what it is, may become known later.

    Raises:
        InvalidObject: The source that is there breaks a rule.
        VibesError: The knowledge base cannot be written.
    """
    stored = change.knowledge.read(Kind.SOURCE, source.id)
    change.write_content(source.id, content)
    if isinstance(stored, Source):
        metadata = {**source.metadata, **stored.metadata}
        if metadata != stored.metadata:
            stored = stored.model_copy(update={"metadata": metadata})
            change.replace(Kind.SOURCE, stored)
    else:
        change.create(Kind.SOURCE, source)
    change.record("source.register", [source.id], {"deduplicated": stored is not None})
    return RegisteredSource(stored if isinstance(stored, Source) else source, is_new=stored is None)


def register_file(
    knowledge: KnowledgeBase,
    path: str,
    *,
    actor: str,
    now: datetime,
    **members: Any,
) -> RegisteredSource:
    """Capture a file of the project as a source; its locator is the path in the project.

    Arguments as for `register_source`.

    Raises:
        InvalidObject: The path leads out of the project.
        UnreadableFile: The file cannot be read.
        VibesError: The knowledge base cannot be written.
    """
    relative, content = _read_project_file(knowledge, path)
    refuse_hidden(knowledge, relative, content)
    return register_source(knowledge, content, locator=relative, actor=actor, now=now, **members)


def refuse_hidden(knowledge: KnowledgeBase, path: str, content: bytes) -> None:
    """Refuse a text that git does not store: a knowledge base is committed in clear.

    Args:
        knowledge: The knowledge base.
        path: The file, relative to the project.
        content: Its text.

    Raises:
        InvalidObject: A filter keeps the text out of git.
    """
    name = StoredFiles(knowledge.project).hiding_filter(path, Text.from_bytes(content))
    if name is not None:
        raise InvalidObject(
            f"{path}: git stores this file through the filter {name}, which hides its text",
            hint="`.vouch/` is committed in clear: cite a file that git stores as it is",
        )


@dataclass(frozen=True, slots=True)
class PlannedEvidence:
    """Evidence that is not written yet.

    Attributes:
        evidence: The evidence.
        source: Its source.
        content: The bytes of a source that may have to be registered; None for one that is there.
    """

    evidence: Evidence
    source: Source
    content: bytes | None


def plan_evidence(
    knowledge: KnowledgeBase, inline: InlineEvidence, now: datetime
) -> PlannedEvidence:
    """Return evidence for a span; nothing is written.

    Raises:
        InvalidObject: There is no such source, or its lines are not the quote.
        VibesError: The knowledge base or the file cannot be read.
    """
    content: bytes | None = None
    locator = inline.locator
    if inline.path is not None:
        relative, content = _read_project_file(knowledge, inline.path)
        refuse_hidden(knowledge, relative, content)
        source = source_of(content, relative, now)
        locator = locator_in(knowledge, source, relative, locator)
    else:
        cited_source = knowledge.read(Kind.SOURCE, inline.source_id or "")
        if not isinstance(cited_source, Source):
            raise InvalidObject("evidence: source_id: no such source; name one, or a path")
        source = cited_source
        _check_named_file(knowledge, source, locator)
    captured = knowledge.content_of(source.id) if content is None else content
    if captured is not None and hashlib.sha256(captured).hexdigest() != source.id:
        raise InvalidObject(
            f"source {source.id[:8]}: its captured bytes have changed",
            hint="register the file again",
        )
    quote = _quote(captured, inline)
    return PlannedEvidence(_evidence(source, locator, quote, now), source, content)


def locator_in(knowledge: KnowledgeBase, source: Source, path: str, locator: str) -> str:
    """Return a locator of lines, with the path if the source is known by another one.

    Files with the same bytes are one source, which has the path of the first.

    Args:
        knowledge: The knowledge base.
        source: The source, registered or not.
        path: The file that is cited, relative to the project.
        locator: The span of it.

    Raises:
        InvalidObject: The locator names another file.
    """
    lines = parse_locator(locator)
    if lines is None or lines.path == path:
        return locator
    if lines.path is not None:
        raise InvalidObject("evidence: locator: names another file than path")
    known = knowledge.read(Kind.SOURCE, source.id)
    stored_source = known if isinstance(known, Source) else source
    is_known_so = file_of_source(knowledge.project, stored_source.members()) == path
    return locator if is_known_so else f"{path}#{locator}"


def _check_named_file(knowledge: KnowledgeBase, source: Source, locator: str) -> None:
    """Refuse a locator that leads from a source to a file with other bytes.

    Raises:
        InvalidObject: It does.
    """
    lines = parse_locator(locator)
    if lines is None or lines.path in {None, file_of_source(knowledge.project, source.members())}:
        return
    content = None
    with suppress(VibesError):
        _, content = _read_project_file(knowledge, lines.path or "")
    if content is None or hashlib.sha256(content).hexdigest() != source.id:
        raise InvalidObject("evidence: locator: names another file than its source")


def create_evidence(change: Change, planned: PlannedEvidence) -> None:
    """Write evidence, and its source if that is new, as part of a change.

    Raises:
        InvalidObject: A file with the id of the evidence says something else.
        VibesError: The knowledge base cannot be written.
    """
    evidence = planned.evidence
    if planned.content is not None:
        if not change.exists(Kind.SOURCE, planned.source.id):
            store_source(change, planned.source, planned.content)
        change.write_content(planned.source.id, planned.content)
    known = change.knowledge.read(Kind.EVIDENCE, evidence.id)
    if known is not None:
        stored_members, members = known.members(), evidence.members()
        if any(stored_members.get(name) != members.get(name) for name in _MEANING):
            raise InvalidObject(
                f"evidence {evidence.id}: its file says something else than these lines",
                hint="find out who wrote the file, and remove it",
            )
    if change.create(Kind.EVIDENCE, planned.evidence):
        details = {"source": planned.source.id}
        change.record("evidence.create", [planned.evidence.id], details)


def plan_lines(
    source: Source, content: bytes, locator: str, now: datetime, *, replaces: str | None = None
) -> PlannedEvidence:
    """Return evidence for lines of a source, which may take the place of older evidence.

    Evidence is immutable, so the new one names the old one.

    Args:
        source: The source, registered or not.
        content: Its bytes.
        locator: The lines.
        now: The time.
        replaces: The older evidence; None if there is none.

    Raises:
        InvalidObject: The source has no such lines.
    """
    quote = _quote(content, InlineEvidence(source_id=source.id, locator=locator)) or ""
    return PlannedEvidence(_evidence(source, locator, quote, now, replaces), source, content)


def _evidence(
    source: Source, locator: str, quote: str | None, now: datetime, replaces: str | None = None
) -> Evidence:
    """Return evidence whose id follows from what it says: the same span is the same evidence."""
    replaced = {} if replaces is None else {"replaces": replaces}
    name = ":".join([source.id, locator, quote or "", *replaced.values()])
    return Evidence.model_validate(
        {
            "id": f"ev-{hashlib.sha256(name.encode()).hexdigest()[:16]}",
            "source_id": source.id,
            "source_type": source.type,
            "locator": locator,
            "quote": quote,
            "hash": None if quote is None else hashlib.sha256(quote.encode()).hexdigest(),
            "created_at": now,
            **replaced,
        }
    )


def quoted_lines(content: bytes, locator: str) -> str | None:
    """Return the lines of a source that a locator names; None for another locator, or beyond."""
    lines = parse_locator(locator)
    if lines is None or lines.counts_bytes:
        return None
    start, end = lines.start, lines.end
    named = Text.from_bytes(content).lines[start - 1 : end]
    text = "\n".join(named).encode("utf-8", "surrogateescape").decode("utf-8", "replace")
    return text if len(named) == end - start + 1 else None


def verify_sources(
    knowledge: KnowledgeBase, identifiers: Sequence[str] | None = None
) -> Iterator[SourceState]:
    """Yield how sources compare with their bytes and files.

    Args:
        knowledge: The knowledge base.
        identifiers: The sources; None for all.
    """
    for identifier in knowledge.ids(Kind.SOURCE) if identifiers is None else identifiers:
        try:
            source = knowledge.read(Kind.SOURCE, identifier)
            state = _state(knowledge, source) if isinstance(source, Source) else None
            reason = "no such source"
        except VibesError as error:
            state, reason = None, error.message
        yield state or SourceState(
            identifier, None, is_stored=False, file_state="n/a", reason=reason
        )


def _state(knowledge: KnowledgeBase, source: Source) -> SourceState:
    content = knowledge.content_of(source.id)
    is_stored = content is not None and hashlib.sha256(content).hexdigest() == source.id
    reason = "" if is_stored else "no captured bytes" if content is None else "its bytes differ"
    state = "n/a"
    if source.type == "file":
        state = _file_state(knowledge, source)
    if not reason and state in ("drift", "missing"):
        reason = "the file has changed" if state == "drift" else "the file is missing"
    return SourceState(source.id, source.title, is_stored, state, reason)


def _file_state(knowledge: KnowledgeBase, source: Source) -> str:
    try:
        relative = _project_path(knowledge, source.locator)
        content = read_file(knowledge.project / relative, limit=MAX_SOURCE)
    except InvalidObject:
        return "n/a"
    except UnreadableFile:
        return "missing"
    if content is None:
        return "missing"
    return "match" if hashlib.sha256(content).hexdigest() == source.id else "drift"


def _project_path(knowledge: KnowledgeBase, path: str) -> str:
    """Return a path relative to the project.

    Raises:
        InvalidObject: It leads out of it.
    """
    project = knowledge.project.resolve()
    file_path = Path(path)
    relative = path
    if file_path.is_absolute():
        try:
            relative = file_path.resolve().relative_to(project).as_posix()
        except (OSError, RuntimeError, ValueError):
            raise InvalidObject("path: leads out of the project") from None
    if not can_be_in_project(relative) or not is_inside(project / relative, project):
        raise InvalidObject("path: leads out of the project")
    named = Path(normal_path(relative))
    resolved = (project / named).resolve().relative_to(project)
    parts = {part.casefold() for part in (*named.parts, *resolved.parts)}
    if parts & _NO_SOURCES:
        raise InvalidObject("path: expected a file outside .git and .vouch")
    return normal_path(relative)


def _read_project_file(knowledge: KnowledgeBase, path: str) -> tuple[str, bytes]:
    """Return the path of a file relative to the project, and its content.

    Raises:
        InvalidObject: The path leads out of the project.
        UnreadableFile: The file cannot be read.
    """
    relative = _project_path(knowledge, path)
    content = read_file(knowledge.project / relative, limit=MAX_SOURCE)
    if content is None:
        raise UnreadableFile(f"{relative} does not exist", hint="expected a file of the project")
    return relative, content


def _quote(content: bytes | None, inline: InlineEvidence) -> str | None:
    """Return the text of a span: the lines that it names, else the quote that came with it."""
    lines = None if content is None else quoted_lines(content, inline.locator)
    named = parse_locator(inline.locator)
    is_of_lines = named is not None and not named.counts_bytes
    if lines is None and content is not None and is_of_lines:
        raise InvalidObject(f"evidence: locator: the source has no lines {inline.locator}")
    if lines is not None and inline.quote is not None and inline.quote.rstrip("\n") != lines:
        raise InvalidObject("evidence: quote: differs from the lines of the source")
    return inline.quote if lines is None else lines
