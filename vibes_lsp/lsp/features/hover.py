"""Hover: a summary of the owner of a line, then the other annotations there, then claims.

A line that no annotation owns shows what git-ai's notes say, else which agent the trailers of its
commit name, labelled as such.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from heapq import nsmallest
from itertools import islice
from time import monotonic, time
from typing import Final, TypeAlias, cast

from lsprotocol import types

from vibes_lsp.anchors.location import State
from vibes_lsp.errors import VibesError
from vibes_lsp.exchange.note_overlay import NotedLines
from vibes_lsp.history.agent_trailers import AgentTrailer
from vibes_lsp.index.placements import Placement
from vibes_lsp.lsp.attestation_file import hover_in_attestation
from vibes_lsp.lsp.attestations import AttestationState
from vibes_lsp.lsp.audit_files import audit_position
from vibes_lsp.lsp.config_file import hover_in_config
from vibes_lsp.lsp.conversion import range_of_lines
from vibes_lsp.lsp.description import Description, role_at
from vibes_lsp.lsp.encoded_answers import EncodedResult, encode_result
from vibes_lsp.lsp.knowledge_navigation import knowledge_hover
from vibes_lsp.lsp.knowledge_texts import hover_text
from vibes_lsp.lsp.placed_evidence import DocumentKnowledge
from vibes_lsp.lsp.projects import StillReading
from vibes_lsp.lsp.record_description import describe_reference
from vibes_lsp.lsp.rendering import READING, Markup
from vibes_lsp.lsp.server import Server
from vibes_lsp.lsp.snapshots import DocumentSnapshot, owns_line
from vibes_lsp.model.escaping import code_block
from vibes_lsp.model.members import Members, integer, mapping, text
from vibes_lsp.verify.tiers import ATTESTATION_NAMES

_MAX_ANNOTATIONS: Final = 5
_KIND: Final = "hover"
_MAX_TEXTS: Final = 1000
"""Hovers of a document that are kept, of at most some kilobytes each."""
_MAX_LINES: Final = 5000
"""Lines of a document of which the hover is known."""
_PAUSE: Final = 1e-3
"""Seconds between two steps, each of which takes a tenth of it."""
_REST: Final = 0.02
"""Seconds without a hover before a step: a client that asks often waits for none of them."""
_LINES_PER_STEP: Final = 20
"""Lines of a step that builds no text, because they all have one."""
_LineKey: TypeAlias = tuple[object, ...]
_Texts: TypeAlias = "dict[_LineKey, tuple[_Contents, EncodedResult]]"
"""Hovers by what they are about, which is kept because the key has identities of its objects."""
_MINUTE: Final = 60
"""Seconds for which a text stays as it is: it says how old an annotation is."""


def register(server: Server) -> None:
    """Answer `textDocument/hover`."""
    direct_hover = partial(_direct_hover, server, _BuildAhead())
    server.protocol.direct_answers[types.TEXT_DOCUMENT_HOVER] = direct_hover

    @server.feature(types.TEXT_DOCUMENT_HOVER)
    async def hover(ls: Server, params: types.HoverParams) -> types.Hover | None:
        if not ls.settings.hover:
            return None
        knowledge = await ls.knowledge.about(params.text_document.uri)
        found = await _provenance_hover(ls, params)
        if knowledge is None:
            return found
        markup = Markup(_markup_kind(ls))
        found = _with_claims(ls, markup, found, knowledge, params.position.line + 1)
        return found or await knowledge_hover(ls, knowledge.uri, params.position, markup)


def _direct_hover(ls: Server, ahead: _BuildAhead, params: Members) -> EncodedResult | None:
    """Answer about an open document without knowledge base, from bytes if it was asked before."""
    uri, line = (
        text(mapping(params, "textDocument"), "uri"),
        integer(mapping(params, "position"), "line"),
    )
    if uri is None or line is None or not (ls.settings.hover and ls.can_answer_directly(uri)):
        return None
    snapshot = ls.projects.snapshot(uri)
    if snapshot is None or snapshot.version is None:
        return None
    variant = ls.settings, int(time()) // _MINUTE
    hovers = ls.encoded.get(
        _KIND,
        snapshot,
        variant,
        lambda: _EncodedHovers(ls, snapshot, ahead, ls.encoded.last(_KIND, uri, variant)),
    )
    ahead.postpone()
    return hovers.at(line)


class _BuildAhead:
    """Builds texts of hovers before they are asked for, in short steps while none is asked for.

    The document that was asked about last comes first.
    """

    def __init__(self) -> None:
        self._waiting: list[_EncodedHovers] = []
        self._asked = 0.0  # when

    def add(self, hovers: _EncodedHovers) -> None:
        """Build these texts first, and no longer those of former versions."""
        is_running = bool(self._waiting)
        self._waiting = [*(each for each in self._waiting if each.is_current), hovers]
        if not is_running:
            self._continue_after(_REST)

    def postpone(self) -> None:
        """Build nothing now: a hover is asked for."""
        self._asked = monotonic()

    def _continue_after(self, seconds: float) -> None:
        asyncio.get_running_loop().call_later(seconds, self._continue)

    def _continue(self) -> None:
        rest = self._asked + _REST - monotonic()
        if rest > 0:
            self._continue_after(rest)
            return
        hovers = self._waiting.pop()
        try:
            if hovers.is_current and hovers.build_next():
                self._waiting.append(hovers)
        finally:
            if self._waiting:
                self._continue_after(_PAUSE)


class _EncodedHovers:
    """The hovers of one version of a document as JSON, each text built once.

    To build a text takes three times as long as to answer with it. So after the first question the
    texts of the nearest annotations are built as well. A change of the document or of its
    annotations ends that. Where annotations were only added, the texts about others are kept.

    Args:
        ls: The server.
        snapshot: The document, which is open.
        ahead: Has the texts built.
        before: Those of the version before.
    """

    def __init__(
        self,
        ls: Server,
        snapshot: DocumentSnapshot,
        ahead: _BuildAhead,
        before: _EncodedHovers | None,
    ) -> None:
        self._ls = ls
        self.snapshot = snapshot
        self._ahead = ahead
        self._by_line: dict[int, EncodedResult] = {}
        self.texts: _Texts = {}
        self._texts_of_edited: _Texts = {}  # which depend on who owns the edited lines
        if before is not None and snapshot.continues(before.snapshot):
            self.texts = before.texts
        self._built = 0  # texts
        self._lines_ahead: Iterator[int] | None = None  # of which the texts are built next

    def at(self, line: int) -> EncodedResult:
        """Return the hover at a line, 0-based."""
        found = self._by_line.get(line)
        if found is None:
            found = self._build(line)
            if self._lines_ahead is None:
                self._lines_ahead = islice(self._lines_near(line), _MAX_LINES)
                self._ahead.add(self)
        return found

    def _build(self, line: int) -> EncodedResult:
        contents = _contents_at(self.snapshot, line + 1, shows_notes=self._ls.settings.notes)
        is_edited = any(each.located.state == State.EDITED for each in contents.placements)
        texts = self._texts_of_edited if is_edited else self.texts
        _, found = texts.get(contents.key, (contents, None))
        if found is None:
            self._built += 1
            hover = _hover(_description(self._ls, self.snapshot), contents)
            found = encode_result(None if hover is None else _as_json(hover))
            if any(_has_blob(each, self.snapshot) for each in contents.placements):
                return found
            texts[contents.key] = contents, found
            if len(texts) > _MAX_TEXTS:
                del texts[next(iter(texts))]
        if len(self._by_line) < _MAX_LINES:
            self._by_line[line] = found
        return found

    def _lines_near(self, line: int) -> Iterator[int]:
        """Yield the lines of the annotations that begin nearest to a line."""
        ranges = (
            range(each.located.start - 1, each.located.end or each.located.start)
            for each in self.snapshot.placements
            if each.located.start is not None
        )
        for near in nsmallest(_MAX_TEXTS, ranges, key=lambda each: abs(each.start - line)):
            yield from near

    @property
    def is_current(self) -> bool:
        """Whether answers are still about this version."""
        uri, document = self.snapshot.uri, self._ls.documents.get(self.snapshot.uri)
        return (
            document is not None
            and document.version == self.snapshot.version
            and self._ls.encoded.is_last(_KIND, uri, self)
            and not self._ls.has_shut_down
        )

    def build_next(self) -> bool:
        """Build the next text; return whether there may be more."""
        built = self._built
        for _ in range(_LINES_PER_STEP):
            line = next(self._lines_ahead or iter(()), None)
            if line is None:
                return False
            if line not in self._by_line:
                try:
                    self._build(line)
                except VibesError:  # the next question meets the same error, and reports it
                    return False
            if self._built > built:
                break
        return True


def _has_blob(placement: Placement, snapshot: DocumentSnapshot) -> bool:
    """Whether a text of an annotation is in a file of its own, which may be written later."""
    key = placement.current.text("reasoning_hash")
    entry = snapshot.trail.trail.manifest.entry(key) if key else None
    return entry is not None and "blob_path" in entry


def _as_json(hover: types.Hover) -> Members:
    """Return a hover of ours as JSON; all of ours have markup."""
    contents = cast("types.MarkupContent", hover.contents)
    result: Members = {"contents": {"kind": contents.kind.value, "value": contents.value}}
    if hover.range is not None:
        result["range"] = {
            name: {"line": place.line, "character": place.character}
            for name, place in (("start", hover.range.start), ("end", hover.range.end))
        }
    return result


def _description(ls: Server, snapshot: DocumentSnapshot) -> Description:
    markup = Markup(_markup_kind(ls))
    return Description(snapshot, markup, datetime.now(UTC), ls.settings.show_prompts)


def _hover_at(
    ls: Server, snapshot: DocumentSnapshot, line: int, *, shows_notes: bool
) -> types.Hover | None:
    """Return the hover at a line, 1-based."""
    contents = _contents_at(snapshot, line, shows_notes=shows_notes)
    return _hover(_description(ls, snapshot), contents)


async def _provenance_hover(ls: Server, params: types.HoverParams) -> types.Hover | None:
    uri, line = params.text_document.uri, params.position.line + 1

    def answer() -> types.Hover | None:
        snapshot = ls.projects.snapshot(uri)
        if snapshot is None:
            return _audit_hover(ls, uri, params.position)
        return _hover_at(ls, snapshot, line, shows_notes=ls.settings.notes)

    with suppress(StillReading):
        return answer()
    excerpt = await ls.excerpts.snapshot(uri)
    if excerpt is not None:
        return _still_reading(_hover_at(ls, excerpt, line, shows_notes=False))
    try:
        return answer()
    except StillReading:
        return _still_reading(None)


def _still_reading(found: types.Hover | None) -> types.Hover:
    """Return a hover that says that reviews and other records may be missing from it."""
    if found is None or not isinstance(found.contents, types.MarkupContent):
        return types.Hover(types.MarkupContent(types.MarkupKind.PlainText, READING))
    markup = Markup(found.contents.kind)
    value = f"{found.contents.value}{markup.paragraph_end}{READING}"
    return types.Hover(types.MarkupContent(markup.kind, value), found.range)


def _with_claims(
    ls: Server,
    markup: Markup,
    found: types.Hover | None,
    knowledge: DocumentKnowledge,
    line: int,
) -> types.Hover | None:
    """Return a hover with the claims and proposals whose evidence is on a line below it."""
    placed = knowledge.at(line, line)
    if not placed:
        return found
    contents = None if found is None else found.contents
    before = [contents.value] if isinstance(contents, types.MarkupContent) else []
    count = ls.projects.ai_lines_of(knowledge.uri)
    claims = hover_text(knowledge, placed, markup, datetime.now(UTC), count)
    start, end = placed[0].located.start or line, placed[0].located.end or line
    evidence = range_of_lines(start, end)
    value = markup.rule.join([*before, *claims])
    place = evidence if found is None else found.range
    return types.Hover(types.MarkupContent(markup.kind, value), place)


def _audit_hover(ls: Server, uri: str, position: types.Position) -> types.Hover | None:
    """Return what an id or a member is, else the report on the attestation."""
    markup = Markup(_markup_kind(ls))
    about = ls.attestation_about(uri)
    if about is not None and about[1] in ATTESTATION_NAMES:
        found = hover_in_attestation(ls, uri, position, markup, about[0])
        return found or _attestation_report(about[0], markup)
    member = hover_in_config(ls, uri, position, markup)
    if member is not None:
        return member
    place = audit_position(ls, uri, position)
    value = None if place is None else describe_reference(ls, place, markup)
    if place is not None and value is not None:
        return types.Hover(types.MarkupContent(markup.kind, value), place.range)
    return (
        _attestation_report(about[0], markup) if about is not None and not position.line else None
    )


def _attestation_report(state: AttestationState, markup: Markup) -> types.Hover:
    report = state.report(datetime.now(UTC))
    is_markdown = markup.kind is types.MarkupKind.Markdown
    value = code_block(report.splitlines(), "text") if is_markdown else report
    return types.Hover(types.MarkupContent(markup.kind, value))


def _markup_kind(ls: Server) -> types.MarkupKind:
    """Return Markdown if the client declares it, else plain text."""
    document = ls.client_capabilities.text_document
    hover = document.hover if document is not None else None
    formats = hover.content_format if hover is not None else None
    is_markdown = formats is not None and types.MarkupKind.Markdown in formats
    return types.MarkupKind.Markdown if is_markdown else types.MarkupKind.PlainText


def _note_hover(description: Description, note: NotedLines) -> types.Hover:
    content = types.MarkupContent(description.markup.kind, description.describe_note(note))
    return types.Hover(content, range_of_lines(note.start, note.end))


def _trailer_hover(description: Description, trailer: AgentTrailer, line: int) -> types.Hover:
    content = types.MarkupContent(description.markup.kind, description.describe_trailer(trailer))
    return types.Hover(content, types.Range(types.Position(line - 1, 0), types.Position(line, 0)))


@dataclass(frozen=True, slots=True)
class _Contents:
    """What a hover at a line is about.

    Attributes:
        line: The line, 1-based.
        placements: Its owners, then the other annotations, the newest first.
        note: What git-ai's notes say about the line, if it has no owner.
        trailer: The agent that the line's commit names, if there is nothing else.
    """

    line: int
    placements: Sequence[Placement]
    note: NotedLines | None = None
    trailer: AgentTrailer | None = None

    @property
    def key(self) -> _LineKey:
        """Lines of one document with equal keys have equal hovers."""
        roles = [(id(each), role_at(each, self.line)) for each in self.placements]
        return self.note, self.trailer, self.line if self.trailer else None, *roles


def _contents_at(snapshot: DocumentSnapshot, line: int, *, shows_notes: bool) -> _Contents:
    """Return what a hover at a line, 1-based, is about."""
    placements = snapshot.placements_at(line)
    owners = [each for each in placements if owns_line(each, line)]
    note = None if owners or not shows_notes else snapshot.note_at(line)
    if not placements:
        trailer = snapshot.trailer_at(line) if shows_notes and note is None else None
        return _Contents(line, (), note, trailer)
    others = [each for each in placements if each not in owners]
    others.sort(key=lambda each: each.lineage.rank, reverse=True)
    return _Contents(line, owners + others, note)


def _hover(description: Description, contents: _Contents) -> types.Hover | None:
    line, ordered, note = contents.line, contents.placements, contents.note
    if not ordered:
        if note is not None:
            return _note_hover(description, note)
        trailer = contents.trailer
        return None if trailer is None else _trailer_hover(description, trailer, line)
    parts = [
        description.summarise(ordered[0], line),
        *(description.mention(each, line) for each in ordered[1:_MAX_ANNOTATIONS]),
    ]
    if len(ordered) > _MAX_ANNOTATIONS:
        parts.append(f"… and {len(ordered) - _MAX_ANNOTATIONS} earlier")
    if note is not None:
        parts.append(description.describe_note(note))
    first = ordered[0].located
    content = types.MarkupContent(description.markup.kind, description.markup.rule.join(parts))
    start, end = types.Position((first.start or line) - 1, 0), types.Position(first.end or line, 0)
    return types.Hover(content, types.Range(start, end))
