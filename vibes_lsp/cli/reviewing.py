"""The dialogue of `vibes review`: an annotation after the other is shown, and each verdict is recorded as soon as it is given."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Final

from vibes_lsp.cli.finishing import finish
from vibes_lsp.cli.inspecting import place_of, show, show_rest
from vibes_lsp.cli.keyboard import listening, read_line
from vibes_lsp.cli.output import ask, plain, print_line, styled
from vibes_lsp.errors import UnknownId, UnreadableFile
from vibes_lsp.index.places import Places
from vibes_lsp.index.risk import Scorer
from vibes_lsp.model.members import Members
from vibes_lsp.model.vocabulary import Verdict
from vibes_lsp.recording import NotAsShown, Recorder, Reviewing, Shown, WrongArgument
from vibes_lsp.recording.reviewing import git_user
from vibes_lsp.reports.inspection import Inspection, inspect
from vibes_lsp.reports.placements import is_reviewed
from vibes_lsp.reports.queue import is_rejected
from vibes_lsp.risk.policy import Policy

_QUESTION: Final = "[a]pprove [r]eject [s]kip [b]ack, approve all of this [p]rompt or [f]ile, [q]uit [?] "
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
_MAX_LISTED: Final = 40


class Dialogue:
    """Asks about a queue of annotations.

    Args:
        places: Of the project.
        policy: How risk is scored.
        queue: What waits, as placements.
        reviewer: The reviewer's name; git's user if None.

    Raises:
        WrongArgument: There is no name, and git knows none.
    """

    def __init__(self, places: Places, policy: Policy, queue: Sequence[Members], reviewer: str | None) -> None:
        self._places, self._policy, self._queue = places, policy, queue
        self._reviewer = (reviewer or "").strip() or git_user(places.trail.directory.project)
        self._recorder = Recorder(places.trail.directory)
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
        self._places.renew({})
        facts, returned = self._queue[self._number], self._returned
        self._returned = False
        item = self._look(facts)
        if item is None:
            print_line(f"\n{plain(facts['filePath'])}: {plain(facts['annotationId'])[:8]} is no longer there")
        elif returned or not _is_approved(item):
            self._ask(item)
            return
        self._number += 1

    def _look(self, facts: Members) -> Inspection | None:
        scorer = Scorer(self._places.trail, self._policy)
        return inspect(self._places, scorer, str(facts["filePath"]), str(facts["annotationId"]))

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
        others = (facts for facts in self._queue if facts.get(member) == value and facts["annotationId"] != item.facts["annotationId"])
        found = [item, *(each for facts in others if (each := self._look(facts)) is not None and not is_reviewed(each.facts))]
        for each in found[:_MAX_LISTED]:
            styled([(f"  {plain(place_of(each))}", "bold"), (f"  {each.facts['state']}", "dim")])
        if len(found) > _MAX_LISTED:
            print_line(f"  … and {len(found) - _MAX_LISTED:,} more")
        if _key(f"approve all {len(found):,}, of which only this one was shown? [y/n] ") != "y":
            return False
        self._record(found, Verdict.APPROVED)
        return True

    def _record(self, items: Sequence[Inspection], verdict: Verdict, note: str | None = None) -> None:
        """Record a verdict on what was shown, and go on; when that has changed meanwhile, it is shown anew."""
        shown = {str(each.facts["annotationId"]): Shown(each.placement.path, each.digest) for each in items}
        given = Reviewing(verdict, annotation_ids=tuple(shown), note=note or None, reviewer=self._reviewer, shown=shown)
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
