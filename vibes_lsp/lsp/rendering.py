"""Annotations as text for hovers, lenses, line ends and documents; untrusted text is escaped."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from lsprotocol.types import MarkupKind

from vibes_lsp.anchors.location import State
from vibes_lsp.errors import BrokenBlob
from vibes_lsp.exchange.note_overlay import NotedLines
from vibes_lsp.history.agent_trailers import AgentTrailer
from vibes_lsp.index.placements import Placement
from vibes_lsp.lsp.snapshots import DocumentSnapshot
from vibes_lsp.model.ages import describe_age
from vibes_lsp.model.escaping import code_span, single_line
from vibes_lsp.model.members import JsonValue, Members, text, texts
from vibes_lsp.model.vocabulary import Action, Band, ContextType
from vibes_lsp.reports.placement_texts import describe_age_of, describe_editors
from vibes_lsp.reports.placements import describe_location, model_name, review_label
from vibes_lsp.reports.review_queue import needs_review
from vibes_lsp.store.reasoning import reasoning_text

READING: Final = "reading the audit trail …"
"""The answer while a large trail is first read: an empty one would mean that no AI wrote here."""
_SEPARATOR: Final = " · "
_NAME, _PROMPT, _LONG = 60, 400, 200
_MAX_LISTED: Final = 6
_COMMIT_METHODS: Final = {
    "log": " (first commit whose log has the record)",
    "inferred": " (inferred: first commit that touched the file)",
}


@dataclass(frozen=True, slots=True)
class Markup:
    """The markup of a hover: Markdown or plain text."""

    kind: MarkupKind

    @property
    def _is_markdown(self) -> bool:
        return self.kind == MarkupKind.Markdown

    @property
    def line_end(self) -> str:
        """The separator of two lines of a paragraph."""
        return "  \n" if self._is_markdown else "\n"

    @property
    def rule(self) -> str:
        """The separator of two annotations."""
        return "\n\n---\n\n" if self._is_markdown else "\n\n"

    def strong(self, text: str) -> str:
        """Emphasise trusted text."""
        return f"**{text}**" if self._is_markdown else text

    def quote(self, value: object, limit: int) -> str:
        """Write untrusted text on one line, cut to `limit` characters."""
        return code_span(value, limit) if self._is_markdown else single_line(value, limit)


def lens_text(edits: Sequence[tuple[Placement, Members]], now: datetime) -> str:
    """Return the text of a code lens: what starts at its line, how old and risky, what waits.

    Args:
        edits: The annotations that start there, each with its placement as JSON.
        now: The time.
    """
    noun = "AI edit" if len(edits) == 1 else f"{len(edits)} AI edits"
    if any(facts.get("captured") for _, facts in edits):
        noun += " (captured)"
    elif not any(placement.located.is_proven for placement, _ in edits):
        noun += " (claimed)"
    parts = [noun]
    moment = max(placement.lineage.first.moment for placement, _ in edits)
    if any(facts["timestamp"] for _, facts in edits):
        age = describe_age(moment, now)
        parts.append(age if len(edits) == 1 else f"latest {age}")
    found = {facts["band"] for placement, facts in edits if not placement.is_guess}
    bands = [band for band in Band if band in found]  # from low to critical
    if bands:
        parts.append(f"{bands[-1]} risk")
    if len(edits) == 1:
        parts += _lens_state(*edits[0])
    elif waiting := sum(needs_review(placement, facts) for placement, facts in edits):
        parts.append(f"{waiting} not reviewed")
    return _join(parts)


def _lens_state(placement: Placement, facts: Members) -> Iterator[str]:
    """Yield what waits at the lens of one annotation, else its review."""
    if placement.is_pending:
        yield "not recorded yet"
    elif placement.is_guess:
        yield "may be here"
    elif placement.lineage.action == Action.DELETE:
        yield "removed lines"
    else:
        review = review_label(facts)
        if review is not None or needs_review(placement, facts):
            yield review or "not reviewed"


def line_text(placement: Placement, facts: Members, now: datetime) -> str:
    """Return the text for the end of a line: who, when, what was asked.

    It starts with `AI (claimed)` where no line is verified. The prompt comes last, as the window
    may cut it off.
    """
    head = "AI" if placement.located.is_proven else "AI (claimed)"
    age = describe_age_of(facts, now)
    parts = [f"{head}: {_model(facts)}{f', {age}' if age else ''}", *_notable_state(placement)]
    if facts.get("captured"):
        parts.append("captured")
    prompt = facts.get("prompt")
    if isinstance(prompt, str):
        parts.append(f"“{single_line(prompt, 70)}”")
    return _join(parts)


def _notable_state(placement: Placement) -> Iterator[str]:
    """Yield the state of an annotation, unless its lines are as they were written."""
    if placement.is_pending:
        yield "not recorded yet"
    elif placement.located.ambiguous:
        yield "may be elsewhere"
    elif placement.located.state == State.EDITED:
        yield "edited since"
    elif placement.located.state == State.UNVERIFIED:
        yield "not verified"


def state_text(
    snapshot: DocumentSnapshot, placement: Placement, owners: Mapping[int, Placement]
) -> str:
    """Return where an annotation is, and who edited it since, as plain text."""
    return describe_location(
        placement,
        editors=describe_editors(
            placement, owners, lambda each: single_line(snapshot.report.model(each), 40)
        ),
        origin=single_line(placement.moved_from, 60),
    )


def _model(facts: Members) -> str:
    return single_line(model_name(facts), 40)


def _join(parts: list[str]) -> str:
    return _SEPARATOR.join(parts).replace("$(", "$ (")  # which VS Code would draw as an icon


@dataclass(frozen=True, slots=True)
class Description:
    """Describes the annotations of one document.

    Attributes:
        snapshot: The document.
        markup: The markup to use.
        show_prompts: Whether to include prompts.
    """

    snapshot: DocumentSnapshot
    markup: Markup
    show_prompts: bool = True

    def describe(self, placement: Placement, *, owns_line: bool) -> str:
        """Return everything about one annotation.

        Args:
            placement: The annotation.
            owns_line: Whether the line in question belongs to it.
        """
        return self.markup.line_end.join(self._lines(placement, owns_line=owns_line))

    def describe_note(self, note: NotedLines) -> str:
        """Return what a note of git-ai says, which is never verified."""
        quote = self.markup.quote
        head = f"git-ai: {quote(note.tool, _NAME)}{_SEPARATOR}{quote(note.model, _NAME)}"
        source = f"note of commit {quote(note.commit[:12], 12)}, not recorded in this trail"
        return self.markup.line_end.join((head, source))

    def describe_trailer(self, trailer: AgentTrailer) -> str:
        """Return what a commit's trailer says, which is about the commit and not about the line."""
        quote = self.markup.quote
        head = f"{quote(trailer.agent, _NAME)} took part in the commit of this line"
        source = f"trailer of commit {quote(trailer.commit[:12], 12)}, not recorded line by line"
        return self.markup.line_end.join((head, f"{quote(trailer.text, _NAME)}", source))

    def _lines(self, placement: Placement, *, owns_line: bool) -> Iterator[str]:
        record, quote = placement.current, self.markup.quote
        facts = self.snapshot.report.placement(placement)
        when = quote(facts["timestamp"], 24) if facts["timestamp"] else "an unknown time"
        model, tool = self._author(facts["model"]), self._author(facts["tool"])
        yield f"{self._title(placement)} by {model} in {tool}, {when}"
        kind = _kind(placement, owns_line=owns_line)
        yield f"{kind}{describe_location(placement)}{self._commit(facts)}"
        if placement.is_pending:
            yield "pending: accepted, not recorded yet"
        if facts.get("captured"):
            yield (
                "captured, low confidence: an editor saw a completion being accepted; "
                "no tool reported it"
            )
        if facts.get("comparedFiles"):
            yield "no event reported these lines: found by comparing files around a command"
        imported = facts.get("importedFrom")
        if isinstance(imported, dict):
            yield (
                f"imported from {quote(imported.get('format'), _NAME)},"
                f" evidence {quote(imported.get('evidence'), 20)}"
            )
        if placement.moved_from is not None:
            yield f"recorded for {quote(placement.moved_from, _LONG)}"
        if (record.text("environment_hash") or "") not in self.snapshot.trail.trail.manifest:
            yield "context not published: the manifest has no entry for this tool and model"
        if self.show_prompts:
            yield from self._prompt(facts, record.text("prompt_hash"))
        yield from self._decision(self._entry(record.text("decision_hash"), ContextType.DECISION))
        reasoning = self._entry(record.text("reasoning_hash"), ContextType.REASONING)
        yield from self._reasoning(reasoning)
        yield from self._risk(facts)
        yield self._review(facts["review"])
        session = record.text("session_id")
        of_session = f", session {quote(session, 12)}" if session else ""
        level = quote(facts["assuranceLevel"] or "unknown", 10)
        yield f"{level} assurance{of_session}, record {quote(record.id, 12)}"
        if placement.shown.duplicates and not placement.shown.is_placeholder:
            yield f"recorded {1 + len(placement.shown.duplicates)} times"

    def _title(self, placement: Placement) -> str:
        action = self.markup.quote(placement.lineage.action or "edit", 20)
        name = placement.current.text("function_name")
        return f"{action} {self.markup.quote(name, _NAME)}" if name else action

    def _author(self, author: JsonValue) -> str:
        members = author if isinstance(author, dict) else {}
        name, version = text(members, "name") or "unknown", text(members, "version") or "unknown"
        both = name if version in ("unknown", name) else f"{name} {version}"
        return self.markup.quote(both, _NAME)

    def _commit(self, facts: Members) -> str:
        commit, method = facts.get("commitHash"), facts.get("commitMethod")
        if isinstance(commit, str):
            how = _COMMIT_METHODS.get(str(method), "")
            return f"; commit {self.markup.quote(commit[:12], 12)}{how}"
        history = self.snapshot.trail.history
        if not history.is_done:
            return "; commit not looked up yet"
        return "; not committed yet" if history.has_git and not facts.get("pending") else ""

    def _prompt(self, facts: Members, key: str | None) -> Iterator[str]:
        prompt = facts.get("prompt")
        if not isinstance(prompt, str):
            return
        yield f"{self.markup.strong('Prompt:')} {self.markup.quote(prompt, _PROMPT)}"
        files = texts(self._entry(key, ContextType.PROMPT), "prompt_context_files")
        if files:
            listed = ", ".join(self.markup.quote(file, _NAME) for file in files[:_MAX_LISTED])
            more = " …" if len(files) > _MAX_LISTED else ""
            yield f"{self.markup.strong('Files given:')} {listed}{more}"

    def _decision(self, entry: Members) -> Iterator[str]:
        quote = self.markup.quote
        if not entry:
            return
        question = quote(text(entry, "decision_point") or "?", _LONG)
        yield f"{self.markup.strong('Decision:')} {question}"
        options = entry.get("options")
        for option in (options if isinstance(options, list) else [])[:_MAX_LISTED]:
            if isinstance(option, dict):
                mark = "chosen" if text(option, "id") == text(entry, "selected") else "not chosen"
                name = text(option, "description") or text(option, "id") or "?"
                yield f"{mark}: {quote(name, _LONG)}"
        rationale = text(entry, "rationale")
        if rationale:
            yield f"because: {quote(rationale, _LONG)}"

    def _reasoning(self, entry: Members) -> Iterator[str]:
        if not entry:
            return
        head = self.markup.strong("Reasoning:")
        try:
            body = reasoning_text(entry, self.snapshot.trail.trail.directory)
        except BrokenBlob as error:
            yield f"{head} cannot be read: {self.markup.quote(error.message, _LONG)}"
            return
        if body.strip():
            yield f"{head} {self.markup.quote(body, _LONG)}"

    def _risk(self, facts: Members) -> Iterator[str]:
        quote, figures = self.markup.quote, self.snapshot.report.describe_risk(facts)
        if figures is None:
            return
        yield f"{self.markup.strong('PRISM:')} {figures}"
        factors = facts.get("factors")
        for factor in (factors if isinstance(factors, list) else [])[: 2 * _MAX_LISTED]:
            if isinstance(factor, dict):
                signal = quote(text(factor, "signal") or "?", 40)
                value, weight = quote(factor.get("value"), 8), quote(factor.get("weight"), 8)
                reason = text(factor, "reason")
                why = f": {quote(reason, _LONG)}" if reason else ""
                yield f"{signal} {value} x {weight}{why}"

    def _review(self, review: JsonValue) -> str:
        if not isinstance(review, dict):
            return "not reviewed"
        verdict = self.markup.strong(text(review, "verdict") or "reviewed")
        reviewer = text(review, "by")
        by = self.markup.quote(reviewer, _NAME) if reviewer else "an unknown reviewer"
        kind = " (AI)" if review.get("kind") == "ai" else ""
        stale = ", but the lines have changed since" if review.get("stale") else ""
        return f"{verdict} by {by}{kind}{stale}"

    def _entry(self, key: str | None, kind: ContextType) -> Members:
        entry = self.snapshot.trail.trail.manifest.entry(key) if key else None
        return entry if entry is not None and entry.get("type") == kind else {}


def _kind(placement: Placement, *, owns_line: bool) -> str:
    if placement.lineage.is_review:
        return "a review of these lines; "
    if placement.is_history:
        return "history: a later edit supersedes it; "
    if owns_line or not (placement.may_own_lines and placement.is_claim) or placement.is_guess:
        return ""
    if placement.located.sure:
        return "history: a later edit owns this line; "
    return "may be here, but another edit owns this line; "
