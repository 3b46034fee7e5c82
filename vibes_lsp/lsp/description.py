"""An annotation as a person reads it in hovers, lenses and line ends. All text from the trail is inert."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from lsprotocol.types import MarkupKind

from vibes_lsp.errors import BrokenBlob
from vibes_lsp.index.placements import Placement
from vibes_lsp.lsp.snapshots import DocumentSnapshot
from vibes_lsp.model.escaping import code_span, single_line
from vibes_lsp.model.members import JsonValue, Members, text, texts
from vibes_lsp.model.vocabulary import ContextType
from vibes_lsp.reports.placements import describe_edit, describe_location, model_name, review_label
from vibes_lsp.store.reasoning import reasoning_text


@dataclass(frozen=True, slots=True)
class Markup:
    """One of the two ways to write a hover."""

    kind: MarkupKind

    @property
    def _marks(self) -> bool:
        return self.kind == MarkupKind.Markdown

    @property
    def line_end(self) -> str:
        """What separates two lines of a paragraph."""
        return "  \n" if self._marks else "\n"

    @property
    def rule(self) -> str:
        """What separates two annotations."""
        return "\n\n---\n\n" if self._marks else "\n\n"

    def strong(self, text: str) -> str:
        """Emphasise words of our own."""
        return f"**{text}**" if self._marks else text

    def quote(self, value: object, limit: int) -> str:
        """Write untrusted text, on one line, cut to `limit` characters."""
        return code_span(value, limit) if self._marks else single_line(value, limit)


READING = "reading the audit trail …"
"""What is said in place of every answer while a large trail is read for the first time: nothing would mean that no AI was here."""

_BETWEEN = " · "


def label(snapshot: DocumentSnapshot, placement: Placement, facts: Members) -> str:
    """Return what a lens says, above the lines: what was done, and all there is to say about where they are now."""
    parts = [_model(facts), single_line(describe_edit(placement), 40), describe_location(placement)]
    if placement.is_pending:
        parts.append("pending")
    return _joined([*parts, *_standing(snapshot, placement, facts)])


def line_text(snapshot: DocumentSnapshot, placement: Placement, facts: Members) -> str:
    """Return what is said at the end of a line: that an AI wrote it, and the prompt last, for that is what the window's edge may cut.

    Where no line is verified, it is only claimed that an AI wrote it.
    """
    head = "AI" if placement.located.is_proven else "AI (claimed)"
    state = "pending" if placement.is_pending else placement.located.state.value
    parts = [
        f"{head}: {_model(facts)}",
        f"{state}, ambiguous" if placement.located.ambiguous else state,
        *_standing(snapshot, placement, facts),
    ]
    prompt = facts.get("prompt")
    return _joined([*parts, f"“{single_line(prompt, 70)}”"] if isinstance(prompt, str) else parts)


def _model(facts: Members) -> str:
    return single_line(model_name(facts), 40)


def _standing(snapshot: DocumentSnapshot, placement: Placement, facts: Members) -> Iterator[str]:
    """Say how far to trust it; what only may be here has no risk here."""
    if facts.get("captured"):
        yield "captured"
    figures = snapshot.report.describe_risk(facts)
    if figures is not None and not placement.is_guess:
        yield f"risk {figures}"
    review = review_label(facts)
    if review is not None:
        yield review


def _joined(parts: list[str]) -> str:
    return _BETWEEN.join(parts).replace("$(", "$ (")  # which VS Code would draw as an icon


_NAME, _PROMPT, _LONG = 60, 400, 200
_MAX_LISTED = 6
_HOW_KNOWN = {
    "log": " (the first whose log has the record)",
    "inferred": " (inferred: the first to touch the file)",
}


@dataclass(frozen=True, slots=True)
class Description:
    """Writes about the annotations of one file.

    Attributes:
        snapshot: The file.
        markup: How to write.
        show_prompts: Whether to say what was asked.
    """

    snapshot: DocumentSnapshot
    markup: Markup
    show_prompts: bool = True

    def of(self, placement: Placement, *, owns: bool) -> str:
        """Return what there is to say about one annotation.

        Args:
            placement: The annotation.
            owns: Whether the line in question belongs to it.
        """
        return self.markup.line_end.join(self._lines(placement, owns=owns))

    def _lines(self, placement: Placement, *, owns: bool) -> Iterator[str]:
        record, quote = placement.current, self.markup.quote
        facts = self.snapshot.report.placement(placement)
        when = quote(facts["timestamp"], 24) if facts["timestamp"] else "an unknown time"
        yield f"{self._title(placement)} by {self._named(facts['model'])} in {self._named(facts['tool'])}, {when}"
        yield f"{_kind(placement, owns=owns)}{describe_location(placement)}{self._commit(facts)}"
        if placement.is_pending:
            yield "pending: accepted, and recorded in a moment"
        if facts.get("captured"):
            yield "captured, low confidence: an editor saw a completion being accepted, and no tool said that it was its own"
        if placement.moved_from is not None:
            yield f"recorded for {quote(placement.moved_from, _LONG)}"
        if (record.text("environment_hash") or "") not in self.snapshot.trail.trail.manifest:
            yield "context not published: the manifest has no entry for this tool and model"
        if self.show_prompts:
            yield from self._prompt(facts, record.text("prompt_hash"))
        yield from self._decision(self._entry(record.text("decision_hash"), ContextType.DECISION))
        yield from self._reasoning(
            self._entry(record.text("reasoning_hash"), ContextType.REASONING)
        )
        yield from self._risk(facts)
        yield self._review(facts["review"])
        session = record.text("session_id")
        of_session = f", session {quote(session, 12)}" if session else ""
        yield f"{quote(facts['assuranceLevel'] or 'unknown', 10)} assurance{of_session}, record {quote(record.id, 12)}"
        if placement.shown.duplicates and not placement.shown.is_placeholder:
            yield f"recorded {1 + len(placement.shown.duplicates)} times"

    def _title(self, placement: Placement) -> str:
        action = placement.lineage.action or "edit"
        name = placement.current.text("function_name")
        return self.markup.quote(action, 20) + (
            f" {self.markup.quote(name, _NAME)}" if name else ""
        )

    def _named(self, author: JsonValue) -> str:
        members = author if isinstance(author, dict) else {}
        name, version = text(members, "name") or "unknown", text(members, "version") or "unknown"
        both = name if version in ("unknown", name) else f"{name} {version}"
        return self.markup.quote(both, _NAME)

    def _commit(self, facts: Members) -> str:
        commit, method = facts.get("commitHash"), facts.get("commitMethod")
        if isinstance(commit, str):
            return f"; commit {self.markup.quote(commit[:12], 12)}" + _HOW_KNOWN.get(
                str(method), ""
            )
        looked = self.snapshot.trail.history
        if not looked.is_done:
            return "; commit not looked up yet"
        return "; not committed yet" if looked.has_git and not facts.get("pending") else ""

    def _prompt(self, facts: Members, key: str | None) -> Iterator[str]:
        prompt = facts.get("prompt")
        if not isinstance(prompt, str):
            return
        yield f"{self.markup.strong('Prompt:')} {self.markup.quote(prompt, _PROMPT)}"
        files = texts(self._entry(key, ContextType.PROMPT), "prompt_context_files")
        if files:
            listed = ", ".join(self.markup.quote(file, _NAME) for file in files[:_MAX_LISTED])
            yield f"{self.markup.strong('Files given:')} {listed}{' …' if len(files) > _MAX_LISTED else ''}"

    def _decision(self, entry: Members) -> Iterator[str]:
        quote = self.markup.quote
        if not entry:
            return
        yield f"{self.markup.strong('Decision:')} {quote(text(entry, 'decision_point') or '?', _LONG)}"
        options = entry.get("options")
        for option in (options if isinstance(options, list) else [])[:_MAX_LISTED]:
            if isinstance(option, dict):
                mark = "chosen" if text(option, "id") == text(entry, "selected") else "not chosen"
                yield f"{mark}: {quote(text(option, 'description') or text(option, 'id') or '?', _LONG)}"
        rationale = text(entry, "rationale")
        if rationale:
            yield f"because: {quote(rationale, _LONG)}"

    def _reasoning(self, entry: Members) -> Iterator[str]:
        if not entry:
            return
        try:
            body = reasoning_text(entry, self.snapshot.trail.trail.directory)
        except BrokenBlob as error:
            yield f"{self.markup.strong('Reasoning:')} cannot be read: {self.markup.quote(error.message, _LONG)}"
            return
        if body.strip():
            yield f"{self.markup.strong('Reasoning:')} {self.markup.quote(body, _LONG)}"

    def _risk(self, facts: Members) -> Iterator[str]:
        quote, figures = self.markup.quote, self.snapshot.report.describe_risk(facts)
        if figures is None:
            return
        yield f"{self.markup.strong('PRISM:')} {figures}"
        factors = facts.get("factors")
        for factor in (factors if isinstance(factors, list) else [])[: 2 * _MAX_LISTED]:
            if isinstance(factor, dict):
                reason = text(factor, "reason")
                told = f": {quote(reason, _LONG)}" if reason else ""
                yield f"{quote(text(factor, 'signal') or '?', 40)} {quote(factor.get('value'), 8)} x {quote(factor.get('weight'), 8)}{told}"

    def _review(self, review: JsonValue) -> str:
        if not isinstance(review, dict):
            return "not reviewed"
        by = self.markup.quote(text(review, "by") or "somebody", _NAME)
        kind = " (AI)" if review.get("kind") == "ai" else ""
        stale = ", but the lines have changed since" if review.get("stale") else ""
        return f"{self.markup.strong(text(review, 'verdict') or 'reviewed')} by {by}{kind}{stale}"

    def _entry(self, key: str | None, kind: ContextType) -> Members:
        entry = self.snapshot.trail.trail.manifest.entry(key) if key else None
        return entry if entry is not None and entry.get("type") == kind else {}


def _kind(placement: Placement, *, owns: bool) -> str:
    if placement.lineage.is_review:
        return "a review of these lines; "
    if placement.is_history:
        return "history, a later edit took its place; "
    if owns or not (placement.may_own_lines and placement.is_claim) or placement.is_guess:
        return ""
    if placement.located.sure:
        return "history of this line, which a later edit owns; "
    return "may be here, but another edit owns this line; "
