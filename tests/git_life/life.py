"""One history from its beginning to the last question, and the list of its kinds."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, TypeAlias

from tests.git_life.beginnings import begin
from tests.git_life.code import LANGUAGES
from tests.git_life.combining import clone
from tests.git_life.history import Form, History
from tests.git_life.judge import Verdicts, judge_file, judge_gate, judge_log
from tests.git_life.lines import Origin
from tests.git_life.subject import Subject
from tests.git_life.work_tree import WorkTree

MakeSubject: TypeAlias = Callable[[dict[str, str]], Subject]
Kind: TypeAlias = Callable[["Life"], None]

_MEMORY: Final = Path("/dev/shm")
"""Where Linux keeps files in memory: thousands of small ones are made and removed."""

KINDS: Final[dict[str, Kind]] = {}
"""All kinds by name; `tests.git_life.kinds` fills it."""


FORMS: Final[dict[str, Form]] = {}
"""What repositories of some kinds are like."""


def kind(plan: Kind) -> Kind:
    """Add a kind of history, named as its function."""
    KINDS[plan.__name__] = plan
    return plan


class Life:
    """A history that is played, and judged now and then.

    Attributes:
        history: Its lines and commits.
        work: The first work tree.
        verdicts: What was counted.
        typed: The identities of a person's lines that resemble an AI's; they are counted apart.
        start: The commit that started the trail.
        asks_before_commits: Whether the tool is asked at each commit, and of each file; else only at
            the end, of those that may have lines of an AI.
    """

    def __init__(self, history: History, *, asks_before_commits: bool) -> None:
        self.history, self.rng = history, history.rng
        self.verdicts = Verdicts()
        self.typed: set[int] = set()
        self.asks_before_commits = asks_before_commits
        self.work = begin(history)
        self.start = self.work.head

    def look(self, work: WorkTree | None = None, place: str = "during") -> None:
        """Judge the files that are not as in HEAD, or all if they are."""
        work = work or self.work
        tree = work.commit_of().tree
        changed = [path for path, file in work.disk.items() if tree.get(path) != file]
        for path in changed or sorted(work.disk):
            judge_file(work, path, place, self.verdicts)

    def commit(self, work: WorkTree | None = None, *options: str, **how: Any) -> str:
        """Commit, with a look before and after."""
        work = work or self.work
        if self.asks_before_commits:
            self.look(work)
            self.check_trail(work, "an edit")
        tree = work.commit_of().tree
        commit = work.commit(*options, **how)
        if self.asks_before_commits:
            for path, file in work.disk.items():
                if tree.get(path) != file:
                    judge_file(work, path, "during", self.verdicts)
        self.check_trail(work, "a commit")
        return commit

    def check_trail(self, work: WorkTree, after: str) -> None:
        """Note what is left in the trail."""
        if status := work.trail_status():
            self.history.happened.left.append(f"{work.path.name} after {after}: {status!r}")

    def _asked(self, work: WorkTree) -> list[str]:
        """Return the files that are judged at the end.

        In a short run those are left out that no AI ever edited, and to which nobody copied.
        """
        touched = self.history.touched
        return [
            path
            for path, file in sorted(work.disk.items())
            if self.asks_before_commits
            or file.number in touched
            or any(line.by_ai or line.origin != Origin.TYPED for line in file.lines)
        ]

    def finish(self) -> None:
        """Judge every file in the checkout and in a fresh clone, and the log."""
        self.work.check()
        for path in self._asked(self.work):
            judge_file(self.work, path, "checkout", self.verdicts, self.typed)
        judge_log(self.work, self.verdicts)
        copy = clone(self.work, "fresh")
        for path in self._asked(copy):
            judge_file(copy, path, "clone", self.verdicts)
        judge_gate(self.work, copy, self.start, self.verdicts)


@dataclass(frozen=True, slots=True)
class Case:
    """One history to be played.

    Attributes:
        kind: A name of `KINDS`.
        seed: Decides everything else; also the language of the code.
    """

    kind: str
    seed: int

    @property
    def language(self) -> str:
        """The language of its code."""
        return LANGUAGES[(self.seed + len(self.kind)) % len(LANGUAGES)]


@contextmanager
def lived(
    case: Case, make_subject: MakeSubject, *, plan: Kind | None = None, asks: bool = True
) -> Iterator[Life]:
    """Play a history, ask at the end, and remove it.

    Args:
        case: Which one.
        make_subject: Makes what is judged.
        plan: What is played in place of the case's kind.
        asks: Whether the tool is asked at commits, too.
    """
    memory = _MEMORY if _MEMORY.is_dir() else None
    with tempfile.TemporaryDirectory(
        prefix="git-life-", dir=memory, ignore_cleanup_errors=True
    ) as folder:
        history = History(
            Path(folder).resolve(),
            make_subject,
            case.language,
            f"{case.kind} {case.seed}",
            form=FORMS.get(case.kind, Form()),
        )
        try:
            life = Life(history, asks_before_commits=asks)
            (plan or KINDS[case.kind])(life)
            life.finish()
            yield life
        finally:
            history.close()
