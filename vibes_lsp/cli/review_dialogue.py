"""The dialogue of `vibes review`: shows annotations one by one and records each verdict at once."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Final

import click

from vibes_lsp.cli.annotation_text import (
    print_annotation,
    print_details,
    print_remaining_lines,
)
from vibes_lsp.cli.keyboard import key_reader, read_line
from vibes_lsp.cli.output import escape, print_line, print_question, print_styled
from vibes_lsp.cli.project import finish_recording
from vibes_lsp.errors import UnknownId, UnreadableFile, VibesError
from vibes_lsp.model.members import Members
from vibes_lsp.model.vocabulary import Verdict
from vibes_lsp.placing.live_risk import Scorer
from vibes_lsp.placing.project_locator import ProjectLocator
from vibes_lsp.recording import NotAsShown, Recorder, RecordReview, Shown, WrongArgument
from vibes_lsp.recording.reviews import git_user
from vibes_lsp.reports.placements import is_reviewed
from vibes_lsp.reports.review_queue import Inspection, inspect_annotation, is_rejected
from vibes_lsp.risk.policy import Policy
from vibes_lsp.store.waiting import VERDICTS_WAIT, place_of_waiting

_QUESTION: Final = "[a]pprove [r]eject [s]kip [b]ack [e]dit [q]uit [?] "
HELP: Final = (
    "a  approve these lines; editing them later makes the approval stale",
    "r  reject, with a note on what to fix",
    "s  skip; nothing is recorded",
    "b  back to the previous annotation; a new verdict replaces the old one",
    "v  show the remaining lines of a long range",
    "e  open the file in the editor that VISUAL or EDITOR names; then the lines are shown again",
    "q  quit (also Ctrl-C and Ctrl-D); verdicts given so far are recorded",
)
_WITH_LINES: Final = ("emacs", "emacsclient", "kak", "micro", "nano", "nvim", "vi", "vim")
"""Editors that take the line as `+LINE`; others open the file at its beginning."""


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
        if counts.total() and place_of_waiting(self._recorder.directory) is not None:
            print_line(VERDICTS_WAIT)

    def _next(self) -> None:
        """Ask about the next annotation, located again in the current files."""
        self._locator.refresh({})
        facts, repeat = self._queue[self._position], self._repeat
        self._repeat = False
        inspection = self._inspect(facts)
        if inspection is None:
            place = f"{escape(facts['filePath'])}: {escape(facts['annotationId'])[:8]}"
            print_line(f"\n{place} not found any more")
        elif repeat or not _is_approved(inspection):
            self._ask(inspection)
            return
        self._position += 1

    def _inspect(self, facts: Members) -> Inspection | None:
        scorer = Scorer(self._locator.trail, self._policy)
        return inspect_annotation(
            self._locator, scorer, str(facts["filePath"]), str(facts["annotationId"])
        )

    def _ask(self, inspection: Inspection) -> None:
        """Show an annotation and ask until an answer ends the question."""
        self._all_lines_shown = print_annotation(
            inspection, f"{self._position + 1} of {len(self._queue)}"
        )
        # an action returns whether to go on to the next annotation
        actions: Mapping[str, Callable[[], bool]] = {
            "a": partial(self._approve, inspection),
            "r": partial(self._reject, inspection),
            "s": self._skip,
            "b": self._back,
            "v": partial(self._view, inspection),
            "e": partial(self._edit, inspection),
            "q": _quit,
        }
        while not actions.get(_ask_key(_QUESTION), partial(_explain, inspection))():
            pass

    def _approve(self, inspection: Inspection) -> bool:
        if not self._all_lines_shown:
            print_line("not all lines were shown; press v to show them")
            return False
        self._record(inspection, Verdict.APPROVED)
        return True

    def _reject(self, inspection: Inspection) -> bool:
        note = _ask_note()
        if note is None:
            return False
        self._record(inspection, Verdict.REJECTED, note)
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

    def _view(self, inspection: Inspection) -> bool:
        print_remaining_lines(inspection)
        self._all_lines_shown = True
        return False

    def _edit(self, inspection: Inspection) -> bool:
        """Open the file in the user's editor; then show the annotation as it is."""
        path = self._locator.trail.directory.project / str(inspection.facts["filePath"])
        try:
            _open_in_editor(path, inspection.start)
        except VibesError as error:
            print_line(escape(error.message))
            return False
        self._repeat = True
        return True

    def _record(self, inspection: Inspection, verdict: Verdict, note: str | None = None) -> None:
        """Record a verdict on what was shown; if that has changed since, show it again instead."""
        identifier = str(inspection.facts["annotationId"])
        request = RecordReview(
            verdict=verdict,
            annotation_ids=(identifier,),
            note=note or None,
            reviewer=self._reviewer,
            shown={identifier: Shown(inspection.placement.path, inspection.digest)},
        )
        try:
            self._recorder.execute(request)
        except (NotAsShown, UnknownId, UnreadableFile, WrongArgument) as error:
            print_line(f"not recorded: {escape(error.message)}")
            self._repeat = True
            return
        self._verdicts[identifier] = verdict
        self._position += 1


def _is_approved(inspection: Inspection) -> bool:
    """Return whether it was approved since the queue was made."""
    return is_reviewed(inspection.facts) and not is_rejected(inspection.facts)


def _quit() -> bool:
    raise EOFError


def _explain(inspection: Inspection) -> bool:
    """Print the details of an annotation and what each key does."""
    print_line()
    print_details(inspection)
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


def _open_in_editor(path: Path, line: int) -> None:
    """Open a file in the program that `VISUAL` or `EDITOR` names, and wait for its end.

    Args:
        path: The file, absolute.
        line: Its line to begin at, 1-based.

    Raises:
        VibesError: No program is named, or it fails.
    """
    editor = (os.environ.get("VISUAL") or os.environ.get("EDITOR") or "").strip()
    if not editor:
        raise VibesError("no editor: set the environment variable EDITOR")
    program = Path(editor.split()[0]).name.removesuffix(".exe")
    command = f"{editor} +{line}" if program in _WITH_LINES else editor
    try:
        click.edit(editor=command, filename=str(path))
    except click.ClickException as error:
        raise VibesError(f"cannot edit {path}: {error.format_message()}") from None
    except ValueError as error:
        raise VibesError(f"invalid EDITOR {editor!r}: {error}") from None
