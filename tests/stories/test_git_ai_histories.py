"""Generated histories with git-ai's notes: after rewrites and further edits no sure line is wrong.

Every line carries its author, and notes are written from that. So the truth does not depend on
anything that this package computes.
"""

from __future__ import annotations

import random
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Final

import pytest

from tests.git_ai_notes import CLAUDE, CODEX, attach, note, session_key
from tests.trails import Repository
from vibes_lsp.anchors.text import Text
from vibes_lsp.exchange.import_git_ai import read_git_ai
from vibes_lsp.exchange.import_plan import PlannedRecord
from vibes_lsp.exchange.record_imports import record_imports
from vibes_lsp.model.vocabulary import AssuranceLevel
from vibes_lsp.placing.project_locator import ProjectLocator
from vibes_lsp.recording import Recorder
from vibes_lsp.store.initialise import initialise
from vibes_lsp.trail.trail import Trail

if TYPE_CHECKING:
    from pathlib import Path

FILE: Final = "code.py"
PERSON: Final = ""
AUTHORS: Final = {PERSON: PERSON, "claude": session_key(CLAUDE), "codex": session_key(CODEX)}
REPEATED: Final = ("", "    }", "    return value", "# ---")
"""Lines that several authors write alike: whose copy is whose is not always known."""


@dataclass
class Line:
    """A line with its author, and the commit that introduced it as it is."""

    text: str
    author: str
    commit: int


@dataclass
class History:
    """A file that grows by commits of people and of AIs; `steps` has its state at each."""

    choose: random.Random
    lines: list[Line] = field(default_factory=list)
    steps: list[list[Line]] = field(default_factory=list)
    _next: int = 0

    def edit(self, author: str) -> None:
        """Insert, change or remove lines."""
        number = len(self.steps)
        for _ in range(self.choose.randint(1, 3)):
            place = self.choose.randint(0, len(self.lines))
            kind = self.choose.choice(["insert", "insert", "change", "remove"])
            if kind == "insert":
                new = [self._line(author, number) for _ in range(self.choose.randint(1, 5))]
                self.lines[place:place] = new
            elif kind == "change" and place < len(self.lines):
                self.lines[place] = self._line(author, number)
            elif kind == "remove":
                del self.lines[place : place + self.choose.randint(1, 2)]

    def _line(self, author: str, commit: int) -> Line:
        self._next += 1
        text = f"value_{self._next} = compute({self._next * 7919 % 1000})"
        return Line(
            self.choose.choice(REPEATED) if self.choose.random() < 0.2 else text, author, commit
        )

    def commit(self) -> None:
        self.steps.append(list(self.lines))


def text_of(lines: list[Line]) -> str:
    return "".join(f"{each.text}\n" for each in lines)


def noted(repository: Repository, lines: list[Line], since: int) -> None:
    """Attach the note of HEAD: the AI's lines that the steps from `since` on introduced."""
    entries: list[tuple[str, str]] = []
    for author, key in AUTHORS.items():
        numbers = [
            str(number)
            for number, each in enumerate(lines, 1)
            if author and each.author == author and each.commit >= since
        ]
        if numbers:
            entries.append((key, ",".join(numbers)))
    if entries:
        attach(repository, repository.head(), note(repository.head(), {FILE: entries}))


def build(root: Path, choose: random.Random) -> tuple[Repository, History]:
    """Return a repository with commits of one or two authors each; the last ones may be squashed."""
    repository, history = Repository(root), History(choose)
    count = choose.randint(3, 6)
    squashed = choose.randint(2, count) if choose.random() < 0.5 else 0
    for number in range(count):
        first = ["claude"] if number == 0 else []
        for author in first or choose.sample(list(AUTHORS), choose.randint(1, 2)):
            history.edit(author)
        history.commit()
        repository.write(FILE, text_of(history.lines))
        repository.commit(f"Step {number}")
        noted(repository, history.lines, number)
    if squashed and squashed < count:
        repository.git("reset", "--quiet", "--soft", f"HEAD~{squashed}")
        repository.commit("Squashed")
        noted(repository, history.lines, count - squashed)
    elif choose.random() < 0.5:  # rebase everything but the first commit onto another file's
        repository.git("branch", "work")
        repository.git("reset", "--quiet", "--hard", f"HEAD~{count - 1}")
        repository.write("other.py", "pass\n")
        repository.commit("Another file")
        repository.switch("work")
        repository.git("rebase", "--quiet", "main")
        for number in range(1, count):  # git-ai moves the notes of rewritten commits
            repository.git("checkout", "--quiet", f"work~{count - 1 - number}")
            noted(repository, history.steps[number], number)
        repository.switch("work")
    return repository, history


def _is_repeated(repository: Repository, record: PlannedRecord) -> bool:
    """Whether refused lines repeat others: an AI removed such a line and added it elsewhere."""
    commit = record.place.rpartition(" ")[2]
    lines = repository.git("show", f"{commit}:{FILE}").split("\n")
    assert record.line_start is not None
    assert record.line_end is not None
    return set(lines[record.line_start - 1 : record.line_end]) <= set(REPEATED)


@pytest.mark.parametrize("seed", range(12))
def test_no_sure_line_is_wrong(seed: int, tmp_path: Path) -> None:
    choose = random.Random(seed)  # repeatable, not secret
    repository, history = build(tmp_path / "project", choose)
    initialise(
        repository.path,
        project_name="histories",
        level=AssuranceLevel.MEDIUM,
        extensions=None,
        tool_version="1",
        now=datetime(2026, 2, 3, tzinfo=UTC),
    )
    with Recorder(repository.path) as recorder:
        first = record_imports(recorder, read_git_ai)
        again = record_imports(recorder, read_git_ai)
    assert again.imported == 0
    assert {each.reason for each in first.records} <= {
        "",
        "the commit of the note is not in the history of HEAD",
        "git had the lines there before the edit",
        "the commit did not change these lines",
    }
    unchanged = [each for each in first.records if each.reason.startswith("the commit did not")]
    assert all(_is_repeated(repository, each) for each in unchanged)
    for _ in range(choose.randint(0, 2)):  # people go on
        history.edit(PERSON)
        history.commit()
    repository.write(FILE, text_of(history.lines))
    repository.commit("People go on")
    source = Text(text_of(history.lines))
    trail = Trail(recorder.directory)
    trail.refresh()
    with ProjectLocator(trail) as locator:
        placements = locator.locate(FILE, source)
    claimed = {
        line: each.lineage.first.members["imported_from"]["id"]  # type: ignore[index, call-overload]
        for each in placements
        if each.located.sure
        for start, end in each.owned_ranges
        for line in range(start, end + 1)
    }
    wrong = [
        (line, history.lines[line - 1].text)
        for line in claimed
        if history.lines[line - 1].author == PERSON and history.lines[line - 1].text not in REPEATED
    ]
    assert wrong == []
    ai = [
        line
        for line, each in enumerate(history.lines, 1)
        if each.author and each.text not in REPEATED
    ]
    shown = {
        line
        for each in placements
        for start, end in each.owned_ranges
        for line in range(start, end + 1)
    }
    assert [line for line in ai if line not in shown] == []
