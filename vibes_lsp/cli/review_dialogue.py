"""The dialogue of `vibes review`: shows annotations one by one and records each verdict at once."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Final

from vibes_lsp.cli.code import code_lines
from vibes_lsp.cli.editor import open_in_editor
from vibes_lsp.cli.keyboard import key_reader, read_line
from vibes_lsp.cli.output import (
    BAND_STYLES,
    KIND_MARKS,
    escape,
    escape_code,
    print_line,
    print_question,
    print_styled,
    print_text,
    terminal_width,
)
from vibes_lsp.cli.project import finish_recording, now
from vibes_lsp.errors import UnknownId, UnreadableFile, VibesError
from vibes_lsp.index.live_risk import Scorer
from vibes_lsp.index.project_locator import ProjectLocator
from vibes_lsp.model.ages import describe_age
from vibes_lsp.model.members import JsonValue, Members, text
from vibes_lsp.model.vocabulary import ReviewerKind, Verdict
from vibes_lsp.recording import NotAsShown, Recorder, RecordReview, Shown, WrongArgument
from vibes_lsp.recording.reviews import git_user
from vibes_lsp.reports.placements import (
    describe_edit,
    describe_location,
    describe_review,
    is_reviewed,
    main_reasons,
)
from vibes_lsp.reports.review_queue import Inspection, inspect_annotation, is_rejected
from vibes_lsp.risk.policy import Policy

if TYPE_CHECKING:
    from rich.text import Text

PAGE_LINES: Final = 300
_PAGE_CHARACTERS: Final = 60_000
_MAX_LONG_TEXT: Final = 1_000
_MAX_SHORT_TEXT: Final = 300
_MAX_NAME: Final = 60
_MAX_LINE: Final = 500
_MAX_REMOVED: Final = 40
"""Removed lines that are shown in one place."""
_MAX_LISTED: Final = 8


def print_annotation(item: Inspection, position: str) -> bool:
    """Print an annotation, its code first; return whether all lines were printed.

    Args:
        item: The annotation.
        position: Its position in the queue, as text.
    """
    facts = item.facts
    print_line()
    name = facts.get("functionName")
    head = [(f"{position}  ", "dim"), (escape(place_of(item)), "bold")]
    if isinstance(name, str):
        head.append((f" {escape(name, _MAX_NAME)}", "bold"))
    print_styled(head)
    before, after = item.context
    _print_context(item, item.start - len(before), before)
    shown = _page_length(item)
    _print_lines(item, 0, shown)
    left = len(item.lines) - shown
    if left > 0:
        print_styled(
            [
                (
                    f"… {left:,} of {len(item.lines):,} lines not shown; press v to show them",
                    "bold yellow",
                )
            ]
        )
    else:
        _print_removed(item, item.start + len(item.lines))
        _print_context(item, item.start + len(item.lines), after)
    print_line()
    _print_summary(item)
    return left <= 0


def _print_summary(item: Inspection) -> None:
    """Print who wrote the lines, the main reasons of their risk, the prompt and the review."""
    facts = item.facts
    parts = [
        _named(facts["model"]),
        _named(facts["tool"]),
        escape(describe_edit(item.placement), _MAX_NAME),
        describe_location(item.placement),
        describe_age(item.placement.lineage.first.moment, now()),
    ]
    print_styled(
        [
            (f"{escape(item.placement.current.id)[:8]} ", "dim"),
            (" · ".join(escape(each) for each in parts), ""),
        ]
    )
    if item.risk is not None:
        reasons = "; ".join(escape(each, _MAX_SHORT_TEXT) for each in main_reasons(facts))
        style = BAND_STYLES.get(str(facts["band"]), "")
        parts_of_risk = [("risk: ", "dim"), (escape(item.risk), style)]
        print_styled([*parts_of_risk, (f": {reasons}" if reasons else "", "")])
    prompt = facts.get("prompt")
    if isinstance(prompt, str):
        print_styled([("prompt: ", "dim"), (escape(prompt, _MAX_LONG_TEXT), "italic")])
    if facts["review"] is not None:
        review = escape(describe_review(facts), _MAX_SHORT_TEXT)
        print_styled([("review: ", "dim"), (review, "bold")])


def print_details(item: Inspection) -> None:
    """Print what `print_annotation` leaves out: decision, reasoning, risk, reviews and edits."""
    when = item.facts["timestamp"]
    print_styled(
        [
            ("recorded: ", "dim"),
            (f"{escape(when or '?', 24)}, {escape(item.placement.current.id)}", ""),
        ]
    )
    for label, content, style in (
        *_reasons(item),
        *_factors(item.facts.get("factors")),
        *_history(item),
    ):
        print_styled([(f"{label}: ", "dim"), (content, style)])


def print_remaining_lines(item: Inspection) -> None:
    """Print the lines that `print_annotation` left out."""
    _print_lines(item, _page_length(item), len(item.lines))


def place_of(item: Inspection) -> str:
    """Return file and lines of an annotation, not escaped."""
    return f"{item.facts['filePath']}:{item.facts['lineStart']}-{item.facts['lineEnd']}"


def _page_length(item: Inspection) -> int:
    """Return how many lines are printed at once."""
    characters = 0
    for number, (line, _) in enumerate(item.lines[:PAGE_LINES]):
        characters += len(line)
        if characters > _PAGE_CHARACTERS:
            return number
    return min(len(item.lines), PAGE_LINES)


def _print_lines(item: Inspection, first: int, stop: int) -> None:
    code = code_lines(str(item.facts["filePath"]), [line for line, _ in item.lines[first:stop]])
    for number, line in zip(range(first, stop), code, strict=True):
        _print_removed(item, item.start + number)
        _print_code(item, item.start + number, KIND_MARKS[item.lines[number][1]], line)


def _print_removed(item: Inspection, place: int) -> None:
    """Print the lines that were before a line and are gone."""
    from rich.text import Text  # noqa: PLC0415

    removed = item.removed.get(place, ())
    for line in removed[:_MAX_REMOVED]:
        text = Text(f"{'':{_digits(item)}} - {escape_code(line, _MAX_LINE)}", "red")
        print_text(text, width=terminal_width())
    if len(removed) > _MAX_REMOVED:
        print_styled([(f"… {len(removed) - _MAX_REMOVED:,} more removed lines", "red")])


def _print_context(item: Inspection, start: int, lines: Sequence[str]) -> None:
    code = code_lines(str(item.facts["filePath"]), lines)
    for number, line in enumerate(code, start):
        _print_code(item, number, KIND_MARKS["human"], line)


def _print_code(item: Inspection, number: int, marked: tuple[str, str], code: Text) -> None:
    from rich.text import Text  # noqa: PLC0415

    mark, style = marked
    print_text(Text.assemble((f"{number:>{_digits(item)}} ", "dim"), (f"{mark} ", style), code))


def _digits(item: Inspection) -> int:
    return len(str(item.start + len(item.lines) + len(item.context[1])))


def _named(author: JsonValue) -> str:
    members = author if isinstance(author, dict) else {}
    return escape(text(members, "name") or "unknown", _MAX_NAME)


def _reasons(item: Inspection) -> Iterator[tuple[str, str, str]]:
    if item.decision:
        yield "decision", escape(text(item.decision, "decision_point") or "?", _MAX_SHORT_TEXT), ""
        options = item.decision.get("options")
        for option in (options if isinstance(options, list) else [])[:_MAX_LISTED]:
            if isinstance(option, dict):
                mark = (
                    "  chosen"
                    if text(option, "id") == text(item.decision, "selected")
                    else "  not chosen"
                )
                yield (
                    mark,
                    escape(
                        text(option, "description") or text(option, "id") or "?", _MAX_SHORT_TEXT
                    ),
                    "",
                )
        rationale = text(item.decision, "rationale")
        if rationale:
            yield "  because", escape(rationale, _MAX_SHORT_TEXT), ""
    if item.reasoning is not None and item.reasoning.strip():
        yield "reasoning", escape(item.reasoning, _MAX_LONG_TEXT), ""


def _factors(factors: JsonValue) -> Iterator[tuple[str, str, str]]:
    for factor in (factors if isinstance(factors, list) else [])[: 3 * _MAX_LISTED]:
        if isinstance(factor, dict):
            reason = text(factor, "reason")
            explanation = f" ({escape(reason, _MAX_SHORT_TEXT)})" if reason else ""
            signal = escape(text(factor, "signal") or "?", _MAX_NAME)
            value, weight = escape(factor.get("value"), 8), escape(factor.get("weight"), 8)
            yield "  risk", f"{signal} {value} x {weight}{explanation}", ""


def _history(item: Inspection) -> Iterator[tuple[str, str, str]]:
    for review, still_holds in item.reviews[-_MAX_LISTED:]:
        kind = {ReviewerKind.AI: " (AI)", ReviewerKind.HUMAN: ""}.get(review.kind, " (unknown)")
        verdict = escape(review.verdict or "reviewed")
        by = f"{escape(review.reviewer or 'unknown', _MAX_NAME)}{kind}"
        when = escape(review.edge.record.text("timestamp") or "?", 24)
        stale = ", stale" if still_holds is False else ""
        note = f": {escape(review.note, _MAX_SHORT_TEXT)}" if review.note else ""
        yield "review", f"{verdict} by {by} {when}{stale}{note}", ""
    for each in item.earlier[:_MAX_LISTED]:
        edit = f"{escape(each.current.id)[:8]} {escape(describe_edit(each), _MAX_NAME)}"
        when = escape(each.lineage.first.text("timestamp") or "?", 24)
        yield "earlier", f"{edit} {when}", "dim"


_QUESTION: Final = "[a]pprove [r]eject [s]kip [b]ack [e]dit, all of [p]rompt or [f]ile, [q]uit [?] "
HELP: Final = (
    "a  approve these lines; editing them later makes the approval stale",
    "r  reject, with a note on what to fix",
    "s  skip; nothing is recorded",
    "b  back to the previous annotation; a new verdict replaces the old one",
    "p  approve all in the queue from the same prompt, after a list and a confirmation",
    "f  approve all in the queue in the same file, likewise",
    "v  show the remaining lines of a long range",
    "e  open the file in the editor that VISUAL or EDITOR names; then the lines are shown again",
    "q  quit (also Ctrl-C and Ctrl-D); verdicts given so far are recorded",
)
_GROUPS: Final = {"p": ("promptHash", "prompt"), "f": ("filePath", "file")}
_MAX_CONFIRMED: Final = 40
"""Maximum number of annotations listed before an approval of all."""


class ReviewDialogue:
    """Asks for a verdict on each annotation of a queue.

    Args:
        locator: The project's locator.
        policy: How risk is scored.
        queue: The review queue, as placements.
        reviewer: The reviewer's name; `user.name` of git if None.

    Raises:
        WrongArgument: No name is given, and git has no `user.name`.
    """

    def __init__(
        self,
        locator: ProjectLocator,
        policy: Policy,
        queue: Sequence[Members],
        reviewer: str | None,
    ) -> None:
        self._locator, self._policy, self._queue = locator, policy, queue
        self._reviewer = (reviewer or "").strip() or git_user(locator.trail.directory.project)
        self._recorder = Recorder(locator.trail.directory)
        self._verdicts: dict[object, Verdict] = {}
        self._position = 0
        self._repeat = False  # ask about an annotation that has a verdict
        self._all_lines_shown = False

    def run(self) -> None:
        """Ask about each annotation until the user quits, then print the verdict counts.

        Raises:
            RefusedWrite: A verdict cannot be recorded; earlier ones are.
        """
        count = len(self._queue)
        if not count:
            print_line("nothing to review")
            return
        print_line(f"{count:,} to review as {escape(self._reviewer)}; press ? for help")
        try:
            while self._position < count:
                self._next()
        except EOFError:
            print_line()
        finally:
            self._close()

    def _close(self) -> None:
        counts = Counter(self._verdicts.values())
        verdicts = [f"{counts[verdict]:,} {verdict}" for verdict in Verdict]
        print_line(f"\n{', '.join(verdicts)}, {len(self._queue) - counts.total():,} left")
        finish_recording(self._recorder)

    def _next(self) -> None:
        """Ask about the next annotation, located again in the current files."""
        self._locator.refresh({})
        facts, repeat = self._queue[self._position], self._repeat
        self._repeat = False
        item = self._inspect(facts)
        if item is None:
            place = f"{escape(facts['filePath'])}: {escape(facts['annotationId'])[:8]}"
            print_line(f"\n{place} not found any more")
        elif repeat or not _is_approved(item):
            self._ask(item)
            return
        self._position += 1

    def _inspect(self, facts: Members) -> Inspection | None:
        scorer = Scorer(self._locator.trail, self._policy)
        return inspect_annotation(
            self._locator, scorer, str(facts["filePath"]), str(facts["annotationId"])
        )

    def _ask(self, item: Inspection) -> None:
        """Show an annotation and ask until an answer ends the question."""
        self._all_lines_shown = print_annotation(
            item, f"{self._position + 1} of {len(self._queue)}"
        )
        # an action returns whether to go on to the next annotation
        actions: Mapping[str, Callable[[], bool]] = {
            "a": partial(self._approve, item),
            "r": partial(self._reject, item),
            "s": self._skip,
            "b": self._back,
            "p": partial(self._approve_all, item, "p"),
            "f": partial(self._approve_all, item, "f"),
            "v": partial(self._view, item),
            "e": partial(self._edit, item),
            "q": _quit,
        }
        while not actions.get(_ask_key(_QUESTION), partial(_explain, item))():
            pass

    def _approve(self, item: Inspection) -> bool:
        if not self._all_lines_shown:
            print_line("not all lines were shown; press v to show them")
            return False
        self._record([item], Verdict.APPROVED)
        return True

    def _reject(self, item: Inspection) -> bool:
        note = _ask_note()
        if note is None:
            return False
        self._record([item], Verdict.REJECTED, note)
        return True

    def _skip(self) -> bool:
        self._position += 1
        return True

    def _back(self) -> bool:
        if self._position == 0:
            print_line("this is the first annotation")
            return False
        self._position -= 1
        self._repeat = True
        return True

    def _view(self, item: Inspection) -> bool:
        print_remaining_lines(item)
        self._all_lines_shown = True
        return False

    def _edit(self, item: Inspection) -> bool:
        """Open the file in the user's editor; then show the annotation as it is."""
        path = self._locator.trail.directory.project / str(item.facts["filePath"])
        try:
            open_in_editor(path, item.start)
        except VibesError as error:
            print_line(escape(error.message))
            return False
        self._repeat = True
        return True

    def _approve_all(self, item: Inspection, key: str) -> bool:
        """Approve the queued annotations of the same prompt or file, after a confirmation."""
        member, name = _GROUPS[key]
        value = item.facts.get(member)
        if value is None:
            print_line(f"this annotation has no {name}")
            return False
        others = (
            facts
            for facts in self._queue
            if facts.get(member) == value and facts["annotationId"] != item.facts["annotationId"]
        )
        found = [
            item,
            *(
                each
                for facts in others
                if (each := self._inspect(facts)) is not None and not is_reviewed(each.facts)
            ),
        ]
        for each in found[:_MAX_CONFIRMED]:
            print_styled(
                [(f"  {escape(place_of(each))}", "bold"), (f"  {each.facts['state']}", "dim")]
            )
        if len(found) > _MAX_CONFIRMED:
            print_line(f"  … and {len(found) - _MAX_CONFIRMED:,} more")
        question = f"approve all {len(found):,}? Only this one was shown. [y/n] "
        if _ask_key(question) != "y":
            return False
        self._record(found, Verdict.APPROVED)
        return True

    def _record(
        self, items: Sequence[Inspection], verdict: Verdict, note: str | None = None
    ) -> None:
        """Record a verdict on what was shown; if that has changed since, show it again instead."""
        shown = {
            str(each.facts["annotationId"]): Shown(each.placement.path, each.digest)
            for each in items
        }
        request = RecordReview(
            verdict=verdict,
            annotation_ids=tuple(shown),
            note=note or None,
            reviewer=self._reviewer,
            shown=shown,
        )
        try:
            self._recorder.execute(request)
        except (NotAsShown, UnknownId, UnreadableFile, WrongArgument) as error:
            print_line(f"not recorded: {escape(error.message)}")
            self._repeat = True
            return
        self._verdicts.update(dict.fromkeys(shown, verdict))
        self._position += 1


def _is_approved(item: Inspection) -> bool:
    """Return whether it was approved since the queue was made."""
    return is_reviewed(item.facts) and not is_rejected(item.facts)


def _quit() -> bool:
    raise EOFError


def _explain(item: Inspection) -> bool:
    """Print the details of an annotation and what each key does."""
    print_line()
    print_details(item)
    print_line()
    for line in HELP:
        print_styled([(line, "")], indent=3)
    return False


def _ask_key(question: str) -> str:
    """Ask a question and return the pressed key."""
    with key_reader() as read_key:
        print_question(question)
        key = read_key().lower()
        print_line(key)
    return key


def _ask_note() -> str | None:
    """Ask for a note; None when the reviewer cancels."""
    print_question("note (Enter: none, Ctrl-D: back): ")
    try:
        return read_line()
    except EOFError:
        print_line()
        return None
