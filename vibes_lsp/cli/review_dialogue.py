"""The dialogue of `vibes review`: show one annotation after the other, and record each verdict at once."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import Final

from vibes_lsp.cli.finishing import finish
from vibes_lsp.cli.keyboard import listening, read_line
from vibes_lsp.cli.output import KIND_MARKS, ask, plain, plain_code, print_line, styled
from vibes_lsp.errors import UnknownId, UnreadableFile
from vibes_lsp.index.live_risk import Scorer
from vibes_lsp.index.project_locator import ProjectLocator
from vibes_lsp.model.members import JsonValue, Members, text
from vibes_lsp.model.vocabulary import ReviewerKind, Verdict
from vibes_lsp.recording import NotAsShown, Recorder, Reviewing, Shown, WrongArgument
from vibes_lsp.recording.reviewing import git_user
from vibes_lsp.reports.find import is_rejected
from vibes_lsp.reports.inspection import Inspection, inspect
from vibes_lsp.reports.placements import is_reviewed
from vibes_lsp.reports.words import review_words, title, whereabouts
from vibes_lsp.risk.policy import Policy

PAGE_LINES: Final = 300
_PAGE_CHARACTERS: Final = 60_000
_LONG, _SHORT, _NAME = 1_000, 300, 60
_MAX_LISTED: Final = 8

_COLOURS: Final = {"critical": "bold red", "high": "red", "medium": "yellow", "low": "green"}


def show(item: Inspection, position: str) -> bool:
    """Print an annotation, its lines last; say whether all of them were printed.

    Args:
        item: The annotation.
        position: Where it stands in the queue, in words.
    """
    facts = item.facts
    print_line()
    head = [(f"{position}  ", "dim"), (f"{plain(place_of(item))}  ", "bold")]
    if item.figures is not None:
        head.append((f"risk {plain(item.figures)}  ", _COLOURS.get(str(facts["band"]), "")))
    styled(
        [*head, (plain(review_words(facts), _SHORT), "bold" if facts["review"] is not None else "")]
    )
    said = [
        _named(facts["model"]),
        _named(facts["tool"]),
        plain(title(item.placement), _NAME),
        whereabouts(item.placement),
    ]
    when = [plain(facts["timestamp"], 24)] if facts["timestamp"] else []
    styled(
        [
            (f"{plain(item.placement.current.id)[:8]} ", "dim"),
            (" · ".join(plain(each) for each in [*said, *when]), ""),
        ]
    )
    for label, content, style in (
        *_reasons(item),
        *_factors(facts.get("factors")),
        *_history(item),
    ):
        styled([(f"{label}: ", "dim"), (content, style)])
    print_line()
    whole = _page(item)
    _print_lines(item, 0, whole)
    left = len(item.lines) - whole
    if left > 0:
        styled(
            [
                (
                    f"… {left:,} of {len(item.lines):,} lines are not shown; v shows them",
                    "bold yellow",
                )
            ]
        )
    return left <= 0


def show_rest(item: Inspection) -> None:
    """Print the lines that `show` left out."""
    _print_lines(item, _page(item), len(item.lines))


def place_of(item: Inspection) -> str:
    """Return file and lines of an annotation; its text is untrusted."""
    return f"{item.facts['filePath']}:{item.facts['lineStart']}-{item.facts['lineEnd']}"


def _page(item: Inspection) -> int:
    """Return how many lines are printed at once."""
    characters = 0
    for number, (line, _) in enumerate(item.lines[:PAGE_LINES]):
        characters += len(line)
        if characters > _PAGE_CHARACTERS:
            return number
    return min(len(item.lines), PAGE_LINES)


def _print_lines(item: Inspection, first: int, stop: int) -> None:
    width = len(str(item.start + len(item.lines)))
    for number in range(first, stop):
        line, kind = item.lines[number]
        mark, style = KIND_MARKS[kind]
        styled([(f"{item.start + number:>{width}} ", "dim"), (f"{mark} {plain_code(line)}", style)])


def _named(author: JsonValue) -> str:
    members = author if isinstance(author, dict) else {}
    return plain(text(members, "name") or "unknown", _NAME)


def _reasons(item: Inspection) -> Iterator[tuple[str, str, str]]:
    prompt = item.facts.get("prompt")
    if isinstance(prompt, str):
        yield "prompt", plain(prompt, _LONG), "italic"
    if item.decision:
        yield "decision", plain(text(item.decision, "decision_point") or "?", _SHORT), ""
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
                    plain(text(option, "description") or text(option, "id") or "?", _SHORT),
                    "",
                )
        rationale = text(item.decision, "rationale")
        if rationale:
            yield "  because", plain(rationale, _SHORT), ""
    if item.reasoning is not None and item.reasoning.strip():
        yield "reasoning", plain(item.reasoning, _LONG), ""


def _factors(factors: JsonValue) -> Iterator[tuple[str, str, str]]:
    for factor in (factors if isinstance(factors, list) else [])[: 3 * _MAX_LISTED]:
        if isinstance(factor, dict):
            reason = text(factor, "reason")
            told = f" ({plain(reason, _SHORT)})" if reason else ""
            value, weight = plain(factor.get("value"), 8), plain(factor.get("weight"), 8)
            yield (
                "  risk",
                f"{plain(text(factor, 'signal') or '?', _NAME)} {value} x {weight}{told}",
                "",
            )


def _history(item: Inspection) -> Iterator[tuple[str, str, str]]:
    for review, still_holds in item.reviews[-_MAX_LISTED:]:
        kind = {ReviewerKind.AI: " (AI)", ReviewerKind.HUMAN: ""}.get(review.kind, " (unknown)")
        when = plain(review.edge.record.text("timestamp") or "?", 24)
        stale = ", of other lines" if still_holds is False else ""
        note = f": {plain(review.note, _SHORT)}" if review.note else ""
        yield (
            "review",
            f"{plain(review.verdict or 'reviewed')} by {plain(review.reviewer or 'somebody', _NAME)}{kind} {when}{stale}{note}",
            "",
        )
    for each in item.earlier[:_MAX_LISTED]:
        first = each.lineage.first.text("timestamp") or "?"
        yield (
            "before it",
            f"{plain(each.current.id)[:8]} {plain(title(each), _NAME)} {plain(first, 24)}",
            "dim",
        )


_QUESTION: Final = (
    "[a]pprove [r]eject [s]kip [b]ack, approve all of this [p]rompt or [f]ile, [q]uit [?] "
)
HELP: Final = (
    "a  approve: the lines are right as they stand; editing them later makes the approval stale",
    "r  reject, with a note for whoever has to mend it",
    "s  skip: nothing is recorded",
    "b  back to the one before; a new verdict on it takes the place of the old one",
    "p  approve all that wait and came of the same prompt, after a list of them",
    "f  approve all that wait in the same file, likewise",
    "v  show the lines that were too many",
    "q  quit; so do Ctrl-C and Ctrl-D. What was answered is recorded already",
)
_SHARED: Final = {"p": ("promptHash", "prompt"), "f": ("filePath", "file")}
_MAX_QUEUED: Final = 40


class Dialogue:
    """Asks about a queue of annotations.

    Args:
        locator: Of the project.
        policy: How risk is scored.
        queue: What waits, as placements.
        reviewer: The reviewer's name; git's user if None.

    Raises:
        WrongArgument: There is no name, and git knows none.
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
        self._number = 0
        self._returned = False
        self._is_whole = False

    def run(self) -> None:
        """Ask until everything was asked, or somebody quits; then say what came of it.

        Raises:
            RefusedWrite: A verdict cannot be recorded; those before it are.
        """
        count = len(self._queue)
        if not count:
            print_line("nothing waits for a review")
            return
        print_line(f"{count:,} to review as {plain(self._reviewer)}; ? explains the keys")
        try:
            while self._number < count:
                self._next()
        except EOFError:
            print_line()
        finally:
            self._close()

    def _close(self) -> None:
        counts = Counter(self._verdicts.values())
        answered = [f"{counts[verdict]:,} {verdict}" for verdict in Verdict]
        print_line(f"\n{', '.join(answered)}, {len(self._queue) - counts.total():,} left")
        finish(self._recorder)

    def _next(self) -> None:
        """Ask about the annotation whose turn it is, as it is now."""
        self._locator.refresh({})
        facts, returned = self._queue[self._number], self._returned
        self._returned = False
        item = self._look(facts)
        if item is None:
            print_line(
                f"\n{plain(facts['filePath'])}: {plain(facts['annotationId'])[:8]} is no longer there"
            )
        elif returned or not _is_approved(item):
            self._ask(item)
            return
        self._number += 1

    def _look(self, facts: Members) -> Inspection | None:
        scorer = Scorer(self._locator.trail, self._policy)
        return inspect(self._locator, scorer, str(facts["filePath"]), str(facts["annotationId"]))

    def _ask(self, item: Inspection) -> None:
        """Show an annotation and ask until there is an answer that leads on."""
        self._is_whole = show(item, f"{self._number + 1} of {len(self._queue)}")
        answers: Mapping[str, Callable[[], bool]] = {
            "a": partial(self._approve, item),
            "r": partial(self._reject, item),
            "s": self._skip,
            "b": self._back,
            "p": partial(self._approve_all, item, "p"),
            "f": partial(self._approve_all, item, "f"),
            "v": partial(self._view, item),
            "q": _quit,
        }
        while not answers.get(_key(_QUESTION), _explain)():
            pass

    def _approve(self, item: Inspection) -> bool:
        if not self._is_whole:
            print_line("not all of its lines were shown; v shows them")
            return False
        self._record([item], Verdict.APPROVED)
        return True

    def _reject(self, item: Inspection) -> bool:
        note = _note()
        if note is None:
            return False
        self._record([item], Verdict.REJECTED, note)
        return True

    def _skip(self) -> bool:
        self._number += 1
        return True

    def _back(self) -> bool:
        if self._number == 0:
            print_line("this is the first one")
            return False
        self._number -= 1
        self._returned = True
        return True

    def _view(self, item: Inspection) -> bool:
        show_rest(item)
        self._is_whole = True
        return False

    def _approve_all(self, item: Inspection, key: str) -> bool:
        """Approve what waits and shares a prompt or a file, once that was confirmed; say whether it was."""
        member, name = _SHARED[key]
        value = item.facts.get(member)
        if value is None:
            print_line(f"it has no {name}")
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
                if (each := self._look(facts)) is not None and not is_reviewed(each.facts)
            ),
        ]
        for each in found[:_MAX_QUEUED]:
            styled([(f"  {plain(place_of(each))}", "bold"), (f"  {each.facts['state']}", "dim")])
        if len(found) > _MAX_QUEUED:
            print_line(f"  … and {len(found) - _MAX_LISTED:,} more")
        if _key(f"approve all {len(found):,}, of which only this one was shown? [y/n] ") != "y":
            return False
        self._record(found, Verdict.APPROVED)
        return True

    def _record(
        self, items: Sequence[Inspection], verdict: Verdict, note: str | None = None
    ) -> None:
        """Record a verdict on what was shown, and go on; when that has changed meanwhile, it is shown anew."""
        shown = {
            str(each.facts["annotationId"]): Shown(each.placement.path, each.digest)
            for each in items
        }
        given = Reviewing(
            verdict,
            annotation_ids=tuple(shown),
            note=note or None,
            reviewer=self._reviewer,
            shown=shown,
        )
        try:
            self._recorder.review(given)
        except (NotAsShown, UnknownId, UnreadableFile, WrongArgument) as error:
            print_line(f"not recorded: {plain(error.message)}")
            self._returned = True
            return
        self._verdicts.update(dict.fromkeys(shown, verdict))
        self._number += 1


def _is_approved(item: Inspection) -> bool:
    """Whether somebody has approved it since the queue was made."""
    return is_reviewed(item.facts) and not is_rejected(item.facts)


def _quit() -> bool:
    raise EOFError


def _explain() -> bool:
    for line in HELP:
        print_line(line)
    return False


def _key(question: str) -> str:
    """Ask a question, and return the key that answers it."""
    with listening() as wait:
        ask(question)
        key = wait().lower()
        print_line(key)
    return key


def _note() -> str | None:
    """Ask for a note; None when the reviewer thinks better of it."""
    ask("why? (Enter: no note, Ctrl-D: back) ")
    try:
        return read_line()
    except EOFError:
        print_line()
        return None
