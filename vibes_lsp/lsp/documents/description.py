"""Annotations as longer texts: a summary for hovers, all details for documents.

Untrusted text is escaped. A summary has what a reader asks first; ids, versions, the full time and
the arithmetic behind a score are details.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from vibes_lsp.errors import BrokenBlob
from vibes_lsp.exchange.note_overlay import LineNote
from vibes_lsp.git.agent_trailers import AgentTrailer
from vibes_lsp.git.objects import Commit
from vibes_lsp.lsp.documents.rendering import SEPARATOR, Markup
from vibes_lsp.lsp.state.snapshots import DocumentSnapshot, owns_line
from vibes_lsp.model.ages import describe_age
from vibes_lsp.model.members import JsonValue, Members, objects, text, texts
from vibes_lsp.model.timestamps import parse_timestamp
from vibes_lsp.model.vocabulary import ContextType
from vibes_lsp.placing.placements import Placement
from vibes_lsp.reports.placement_texts import describe_age_of
from vibes_lsp.reports.placements import describe_location, main_reasons
from vibes_lsp.reports.record_text import is_selected
from vibes_lsp.store.reasoning import reasoning_text

_NAME, _REASON, _LONG, _ID = 60, 100, 200, 80
_PROMPT, _PROMPT_LINES = 400, 8
_MAX_LISTED: Final = 6
_COMMIT_METHODS: Final = {
    "log": "first commit whose log has the record",
    "inferred": "inferred: first commit that touched the file",
}


@dataclass(frozen=True, slots=True)
class Description:
    """Describes the annotations of one document.

    Attributes:
        snapshot: The document.
        markup: The markup to use.
        now: The time.
        show_prompts: Whether to include prompts.
    """

    snapshot: DocumentSnapshot
    markup: Markup
    now: datetime
    show_prompts: bool = True

    def summarise(self, placement: Placement, line: int) -> str:
        """Return what a reader asks first: who, when, what was asked, what is true, what waits.

        Args:
            placement: The annotation.
            line: The line in question, 1-based.
        """
        return self.markup.paragraph_end.join(self._summary(placement, line))

    def mention(
        self, placement: Placement, line: int | None = None, *, with_prompt: bool = True
    ) -> str:
        """Return the author, the state and the prompt; arguments as for `summarise`."""
        facts = self.snapshot.report.placement(placement, with_prompts=self.show_prompts)
        lines = [self._author(placement, facts), self._state(placement, line)]
        prompt = facts.get("prompt")
        if with_prompt and isinstance(prompt, str) and prompt.strip():
            lines.append(self.markup.sentence(prompt, _LONG))
        return self.markup.line_end.join(lines)

    def detail(self, placement: Placement) -> str:
        """Return everything about an annotation that is not in `mention`."""
        return self.markup.line_end.join(self._details(placement))

    def describe_note(self, note: LineNote) -> str:
        """Return what a note of git-ai says, which is never verified."""
        name = self.markup.name
        head = f"git-ai: {name(note.tool, _NAME)}{SEPARATOR}{name(note.model, _NAME)}"
        source = f"note of commit {self._short(note.commit)}, not recorded in this trail"
        return self.markup.line_end.join((head, source))

    def describe_trailer(self, trailer: AgentTrailer) -> str:
        """Return what a commit's trailer says, which is about the commit and not about the line."""
        head = f"{self.markup.name(trailer.agent, _NAME)} took part in the commit of this line"
        source = f"trailer of commit {self._short(trailer.commit)}, not recorded line by line"
        trailer_text = self.markup.quote(trailer.text, _NAME)
        return self.markup.line_end.join((head, trailer_text, source))

    def describe_commit(self, commit: Commit) -> str:
        """Return who committed a line that no record names."""
        age = describe_age(commit.moment, self.now)
        author = self.markup.name(commit.author, _NAME)
        return f"this line: {author}, {age}, commit {self._short(commit.id)}"

    def _summary(self, placement: Placement, line: int) -> Iterator[str]:
        facts = self.snapshot.report.placement(placement, with_prompts=self.show_prompts)
        yield self._author(placement, facts)
        prompt = facts.get("prompt")
        if isinstance(prompt, str):
            quoted = self.markup.quotation(prompt, _PROMPT, _PROMPT_LINES)
            yield quoted or "The prompt is empty."
        state = [self._state(placement, line), *self._sources(placement, facts)]
        if not placement.is_history and not placement.lineage.is_review:
            state.append(self._review(facts["review"]))
        yield SEPARATOR.join(state)
        yield from self._risk(placement, facts)
        yield from self._commit(facts)
        record = placement.current
        decision = self._entry(record.text("decision_hash"), ContextType.DECISION)
        if decision:
            yield self._decision(decision)
        reasoning = self._reasoning(record.text("reasoning_hash"))
        if reasoning is not None:
            yield reasoning

    def _author(self, placement: Placement, facts: Members) -> str:
        """Return model, tool and age, and the function that was recorded."""
        model, tool = (_name_of(facts[member]) for member in ("model", "tool"))
        who = self.markup.name(model, _NAME) if model else "unknown model"
        parts = [
            self.markup.strong(who) if not who.startswith("`") else who,
            self.markup.name(tool, _NAME) if tool else "unknown tool",
            describe_age_of(facts, self.now) or "at an unknown time",
        ]
        name = placement.current.text("function_name")
        if name:
            parts.append(f"function {self.markup.quote(name, _NAME)}")
        return SEPARATOR.join(parts)

    def _state(self, placement: Placement, line: int | None = None) -> str:
        where = describe_location(placement, origin=self.markup.quote(placement.moved_from, _LONG))
        return f"{_role_at(self.snapshot, placement, line)}{where}"

    def _sources(self, placement: Placement, facts: Members) -> Iterator[str]:
        """Yield why the record may be worth less than others."""
        if placement.is_pending:
            yield "pending: accepted, not recorded yet"
        if facts.get("captured"):
            yield (
                "captured, low confidence: an editor saw a completion being accepted; "
                "no tool reported it"
            )
        if facts.get("comparedFiles"):
            yield "no event reported these lines: the file came into being while a command ran"
        imported = facts.get("importedFrom")
        if isinstance(imported, dict):
            yield (
                f"imported from {self.markup.name(imported.get('format'), _NAME)},"
                f" evidence {self.markup.name(imported.get('evidence'), 20)}"
            )
        key = placement.current.text("environment_hash") or ""
        if key not in self.snapshot.trail.trail.manifest:
            yield "context not published: the manifest has no entry for this tool and model"

    def _risk(self, placement: Placement, facts: Members) -> Iterator[str]:
        figures = None if placement.is_guess else self.snapshot.report.describe_risk(facts)
        if figures is None:
            return
        reasons = [
            self.markup.words(reason, _REASON) for reason in main_reasons(facts, with_review=False)
        ]
        why = f": {'; '.join(reasons)}" if reasons else ""
        yield f"{self.markup.strong('Risk')} {figures}{why}"

    def _commit(self, facts: Members) -> Iterator[str]:
        commit = facts.get("commitHash")
        if isinstance(commit, str):
            subject = self.snapshot.subject(commit)
            title = f" {self.markup.sentence(subject, _REASON)}" if subject else ""
            yield f"Commit {self._short(commit)}{title}"
            return
        history = self.snapshot.trail.history
        if history.is_done and history.has_git and not facts.get("pending"):
            yield "Not committed yet"

    def _decision(self, entry: Members) -> str:
        """Return a decision on one line: the question, what was chosen and what was not."""
        question = self.markup.sentence(text(entry, "decision_point") or "?", _LONG)
        chosen: list[str] = []
        others: list[str] = []
        for is_chosen, name in _options(entry):
            (chosen if is_chosen else others).append(self.markup.sentence(name, _REASON))
        decision = f"{self.markup.strong('Decision:')} {question}: {' and '.join(chosen) or '?'}"
        return f"{decision}, not {', '.join(others)}" if others else decision

    def _review(self, review: JsonValue) -> str:
        if not isinstance(review, dict):
            return "not reviewed"
        verdict = self.markup.strong(text(review, "verdict") or "reviewed")
        reviewer = text(review, "by")
        by = self.markup.name(reviewer, _NAME) if reviewer else "an unknown reviewer"
        kind = " (AI)" if review.get("kind") == "ai" else ""
        moment = parse_timestamp(text(review, "at") or "")
        age = "" if moment is None else f" {describe_age(moment, self.now)}"
        stale = ", but the lines have changed since" if review.get("stale") else ""
        return f"{verdict} by {by}{kind}{age}{stale}"

    def _reasoning(self, key: str | None) -> str | None:
        entry = self._entry(key, ContextType.REASONING)
        if not entry:
            return None
        head = self.markup.strong("Reasoning:")
        try:
            body = reasoning_text(entry, self.snapshot.trail.trail.directory)
        except BrokenBlob as error:
            return f"{head} cannot be read: {self.markup.quote(error.message, _LONG)}"
        return f"{head} {self.markup.sentence(body, _LONG)}" if body.strip() else None

    def _details(self, placement: Placement) -> Iterator[str]:
        record, quote = placement.current, self.markup.quote
        facts = self.snapshot.report.placement(placement, with_prompts=self.show_prompts)
        yield from self._sources(placement, facts)
        action = quote(placement.lineage.action or "edit", 20)
        when = quote(facts["timestamp"], 40) if facts["timestamp"] else "at an unknown time"
        versions = f"{self._versioned(facts['model'])} in {self._versioned(facts['tool'])}"
        yield f"{action} by {versions}, {when}"
        yield self._whole_commit(facts)
        prompt_entry = self._entry(record.text("prompt_hash"), ContextType.PROMPT)
        files = texts(prompt_entry, "prompt_context_files")
        if files and self.show_prompts:
            listed = ", ".join(quote(file, _NAME) for file in files[:_MAX_LISTED])
            more = " …" if len(files) > _MAX_LISTED else ""
            yield f"{self.markup.strong('Files given:')} {listed}{more}"
        yield from self._whole_decision(
            self._entry(record.text("decision_hash"), ContextType.DECISION)
        )
        reasoning = self._reasoning(record.text("reasoning_hash"))
        if reasoning is not None:
            yield reasoning
        yield from self._factors(facts)
        yield self._review(facts["review"])
        session = record.text("session_id")
        of_session = f", session {quote(session, _ID)}" if session else ""
        level = quote(facts["assuranceLevel"] or "unknown", 10)
        yield f"{level} assurance{of_session}, record {quote(record.id, _ID)}"
        if placement.shown.duplicates and not placement.shown.is_placeholder:
            yield f"recorded {1 + len(placement.shown.duplicates)} times"

    def _versioned(self, author: JsonValue) -> str:
        members = author if isinstance(author, dict) else {}
        name, version = text(members, "name") or "unknown", text(members, "version") or "unknown"
        both = name if version in ("unknown", name) else f"{name} {version}"
        return self.markup.quote(both, _NAME)

    def _whole_commit(self, facts: Members) -> str:
        commit, method = facts.get("commitHash"), facts.get("commitMethod")
        if isinstance(commit, str):
            how = _COMMIT_METHODS.get(str(method))
            subject = self.snapshot.subject(commit)
            title = f" {self.markup.sentence(subject, _LONG)}" if subject else ""
            return f"commit {self.markup.quote(commit, _ID)}{title}{f' ({how})' if how else ''}"
        history = self.snapshot.trail.history
        if not history.is_done:
            return "commit not looked up yet"
        return "not committed yet" if history.has_git else "no git repository"

    def _whole_decision(self, entry: Members) -> Iterator[str]:
        quote = self.markup.quote
        if not entry:
            return
        question = quote(text(entry, "decision_point") or "?", _LONG)
        yield f"{self.markup.strong('Decision:')} {question}"
        for is_chosen, name in _options(entry):
            yield f"{'chosen' if is_chosen else 'not chosen'}: {quote(name, _LONG)}"
        rationale = text(entry, "rationale")
        if rationale:
            yield f"because: {quote(rationale, _LONG)}"

    def _factors(self, facts: Members) -> Iterator[str]:
        """Yield the score and the arithmetic behind it."""
        quote, figures = self.markup.quote, self.snapshot.report.describe_risk(facts)
        if figures is None:
            return
        yield f"{self.markup.strong('PRISM:')} {figures}"
        for factor in objects(facts.get("factors"))[: 2 * _MAX_LISTED]:
            signal = quote(text(factor, "signal") or "?", 40)
            value, weight = quote(factor.get("value"), 8), quote(factor.get("weight"), 8)
            reason = text(factor, "reason")
            why = f": {quote(reason, _LONG)}" if reason else ""
            yield f"{signal} {value} x {weight}{why}"

    def _short(self, commit: str) -> str:
        return self.markup.quote(commit[:8], 8)

    def _entry(self, key: str | None, kind: ContextType) -> Members:
        entry = self.snapshot.trail.trail.manifest.entry(key) if key else None
        return entry if entry is not None and entry.get("type") == kind else {}


def _name_of(author: JsonValue) -> str | None:
    name = text(author, "name") if isinstance(author, dict) else None
    return None if name is None or name == "unknown" or not name.strip() else name


def _options(decision: Members) -> Iterator[tuple[bool, str]]:
    """Yield the options of a decision: whether it was chosen, and its name."""
    for option in objects(decision.get("options"))[:_MAX_LISTED]:
        name = text(option, "description") or text(option, "id") or "?"
        yield is_selected(decision, option), name


def _role_at(snapshot: DocumentSnapshot, placement: Placement, line: int | None) -> str:
    """Return what an annotation is to a line, as the start of a sentence; empty if it wrote it."""
    if placement.lineage.is_review:
        return "a review of these lines; "
    if placement.is_history:
        return "history: a later edit supersedes it; "
    if line is None or owns_line(placement, line):
        return ""
    if not (placement.may_own_lines and placement.is_claim) or placement.is_guess:
        return ""
    owners = (candidate for candidate in snapshot.placements_at(line) if owns_line(candidate, line))
    owner = next(owners, None)
    if owner is None:
        return "not recorded: a line inside this edit; "
    if placement.located.sure and owner.lineage.rank > placement.lineage.rank:
        return "history: a later edit owns this line; "
    return "may be here, but another edit owns this line; "
