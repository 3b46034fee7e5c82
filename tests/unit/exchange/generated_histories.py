"""Generate git histories in which every line has a known author, with the edits of agents.

Agents, a person and a formatter change files in turn; a history is then left as it is, rebased or
squashed. Each line is an object: it keeps its identity as long as nobody rewrites it.
"""

from __future__ import annotations

import itertools
import random
import re
import subprocess
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

from tests.trails import Repository
from vibes_lsp.agents.events import DiffHunk, FileEdit, PatchChunk
from vibes_lsp.exchange.commit_search import DatedEdit

START = datetime(2026, 9, 1, 9, 0, 0, tzinfo=UTC)
COMMON = ("", "", "}", "    return None", "    else:", "        pass", "import os", "    try:")
"""Lines that occur often, written by an AI or a person."""
_IDS = itertools.count()


@dataclass(frozen=True)
class Line:
    """A line with those who may be called its author: numbers of edits, or -1 for the person."""

    text: str
    authors: frozenset[int]
    id: int = field(default_factory=lambda: next(_IDS))


@dataclass
class Commit:
    """The files at a commit."""

    files: dict[str, list[Line]]
    authored: datetime
    committed: datetime


@dataclass
class History:
    """A history and the edits of its agents."""

    commits: list[Commit] = field(default_factory=list)
    edits: list[DatedEdit] = field(default_factory=list)


class Generator:
    """Makes one history from a seed."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.history = History()
        self.files: dict[str, list[Line]] = {}
        self.now = START
        self.words = itertools.count()
        self.saved: dict[str, list[Line]] = {}

    def run(self, steps: int = 30) -> History:
        """Return the history."""
        for number in range(self.random.randint(1, 3)):
            self.files[f"file{number}.py"] = self.new_lines(self.random.randint(3, 25), -1)
        self.commit()
        for _ in range(steps):
            self.now += timedelta(seconds=self.random.choice((1, 30, 600, 7200)))
            step = self.random.choices(
                (
                    self.agent_edits,
                    self.agent_creates,
                    self.person_edits,
                    self.person_copies,
                    self.person_reverts,
                    self.format,
                    self.rename,
                    self.commit,
                ),
                (12, 2, 5, 2, 1, 1, 1, 7),
            )[0]
            step()
        self.commit()
        rewrite = self.random.choice((None, None, self.rebase, self.squash))
        if rewrite is not None:
            rewrite()
        return self.history

    def new_line(self, author: int) -> Line:
        if self.random.random() < 0.3:
            return Line(self.random.choice(COMMON), frozenset({author}))
        indent = "    " * self.random.randint(0, 2)
        words = [f"{self.random.choice('abcdef')}{next(self.words)}" for _ in range(2)]
        text = self.random.choice(("{} = call({})", "{}('{}', 1)", "if {} == {}:", "{}.{}(x, y)"))
        return Line(indent + text.format(*words), frozenset({author}))

    def new_lines(self, count: int, author: int) -> list[Line]:
        return [self.new_line(author) for _ in range(count)]

    def some_file(self) -> str | None:
        return self.random.choice(sorted(self.files)) if self.files else None

    def some_range(self, lines: Sequence[Line]) -> tuple[int, int]:
        start = self.random.randint(0, len(lines))
        return start, min(len(lines), start + self.random.choice((0, 0, 1, 1, 2, 4)))

    def agent_edits(self) -> None:
        path = self.some_file()
        if path is None:
            return
        before = self.files[path]
        number = len(self.history.edits)
        start, end = self.some_range(before)
        new = self.new_lines(self.random.choice((0, 1, 1, 2, 3, 6)), number)
        if start < end and self.random.random() < 0.4:  # a part of what was there is kept
            kept = before[start : self.random.randint(start + 1, end)]
            place = self.random.randint(0, len(new))
            new = [*new[:place], *kept, *new[place:]]
        after = replaced(before, start, end, new)
        if [line.text for line in after] == [line.text for line in before] or not after:
            return
        edit = self.edit_of(before, after, start, end, len(new))
        if edit is None:
            return
        self.files[path] = after
        self.history.edits.append(DatedEdit(path, self.now, edit))

    def edit_of(
        self, before: list[Line], after: list[Line], start: int, end: int, count: int
    ) -> FileEdit | None:
        """Return the edit as one of the agents would report it."""
        old, new = _text(before), _text(after)
        kind = self.random.choice(("original", "written", "diff", "replaced", "patch", "blind"))
        if kind == "written":
            return FileEdit("", before=old, after=new)
        if kind == "blind" and self.random.random() < 0.3:
            return FileEdit("", after=new)
        if kind == "diff":
            return FileEdit("", hunks=(_hunk(before, after, (start, end, count)),))
        first, last = start, end
        while (part := _text(before[first:last])) == "" or old.count(part) != 1:
            if first == 0 and last == len(before):
                return None
            first, last = max(0, first - 1), min(len(before), last + 1)
        if kind == "patch":
            if [line.text for line in before[first:last]] == ["" for _ in before[first:last]]:
                return None
            hunk = _hunk(before, after, (start, end, count), (first, last))
            return FileEdit("", chunks=(PatchChunk((), hunk.lines),))
        written = _text(after[first : last + count - (end - start)])
        return FileEdit("", before=old if kind == "original" else None, old=part, new=written)

    def agent_creates(self) -> None:
        path = f"new{len(self.history.edits)}.py"
        number = len(self.history.edits)
        self.files[path] = self.new_lines(self.random.randint(1, 12), number)
        edit = FileEdit("", creates=True, after=_text(self.files[path]))
        self.history.edits.append(DatedEdit(path, self.now, edit))

    def person_edits(self) -> None:
        path = self.some_file()
        if path is not None:
            lines = self.files[path]
            start, end = self.some_range(lines)
            new = self.new_lines(self.random.choice((0, 0, 1, 2, 4)), -1)
            self.files[path] = replaced(lines, start, end, new) or self.new_lines(1, -1)

    def person_copies(self) -> None:
        """Type lines again that are somewhere else, perhaps in place of them."""
        path = self.some_file()
        if path is not None:
            lines = self.files[path]
            start = self.random.randint(0, len(lines) - 1)
            end = min(len(lines), start + self.random.randint(1, 4))
            place = self.random.choice([*range(start + 1), *range(end, len(lines) + 1)])
            copied = [Line(line.text, frozenset({-1}) | line.authors) for line in lines[start:end]]
            if self.random.random() < 0.5:
                copied = [Line(line.text, frozenset({-1})) for line in copied]
                self.files[path] = replaced(lines, place, place, copied)
            else:  # moved: those who wrote them first may be called their authors
                rest = [None if start <= at < end else line for at, line in enumerate(lines)]
                moved = [*rest[:place], *copied, *rest[place:]]
                self.files[path] = [line for line in moved if line is not None]

    def person_reverts(self) -> None:
        path = self.some_file()
        if path in self.saved:
            self.files[path] = list(self.saved[path])

    def format(self) -> None:
        """Change quotes and indentation, and wrap calls: the author of a line stays."""
        path = self.some_file()
        if path is None:
            return
        style = self.random.choice(("quotes", "indent", "wrap"))
        formatted: list[Line] = []
        for line in self.files[path]:
            if style == "wrap" and (found := re.fullmatch(r"(\s*)(.*\()(\w.*)\)", line.text)):
                pieces = (found[1] + found[2], f"{found[1]}    {found[3]},", f"{found[1]})")
                formatted += [Line(piece, line.authors) for piece in pieces]
            elif style == "indent" and line.text.startswith("    "):
                formatted.append(replace(line, text=line.text.replace("    ", "  ")))
            elif style == "quotes":
                formatted.append(replace(line, text=line.text.replace("'", '"')))
            else:
                formatted.append(line)
        self.files[path] = formatted

    def rename(self) -> None:
        path = self.some_file()
        if path is not None:
            self.files[f"moved{next(self.words)}.py"] = self.files.pop(path)

    def commit(self) -> None:
        files = {path: list(lines) for path, lines in self.files.items()}
        if self.saved and self.random.random() < 0.2:  # only one file
            path = self.some_file()
            files = {**self.saved, **({path: files[path]} if path else {})}
            files = {name: lines for name, lines in files.items() if name in self.files}
        if {name: _text(lines) for name, lines in files.items()} != {
            name: _text(lines) for name, lines in self.saved.items()
        }:
            self.saved = files
            self.now += timedelta(seconds=1)
            self.history.commits.append(Commit(dict(files), self.now, self.now))

    def rebase(self) -> None:
        """Move all commits but the first onto a new one, which may change one of the files."""
        first, *rest = self.history.commits
        self.now += timedelta(days=1)
        top = self.new_lines(2, -1)
        path = self.random.choice(sorted(first.files))
        base = {**first.files, "other.py": self.new_lines(3, -1)}
        if self.random.random() < 0.5:
            base[path] = [*top, *first.files[path]]
        moved = [Commit(base, self.now, self.now)]
        for commit in rest:
            files = {**commit.files, "other.py": base["other.py"]}
            if path in files and base[path] is not first.files[path]:
                files[path] = [*top, *files[path]]
            moved.append(Commit(files, commit.authored, self.now + timedelta(seconds=5)))
        self.history.commits = [first, *moved]

    def squash(self) -> None:
        """Leave the last commit of each group only, with the time of the first or the last."""
        first, *rest = self.history.commits
        kept = [first]
        while rest:
            count = self.random.randint(1, 4)
            group, rest = rest[:count], rest[count:]
            self.now += timedelta(seconds=5)
            authored = self.random.choice((group[0], group[-1])).authored
            kept.append(Commit(group[-1].files, authored, self.now))
        self.history.commits = kept


def replaced(before: Sequence[Line], start: int, end: int, new: Sequence[Line]) -> list[Line]:
    """Return lines of which some are replaced.

    Nobody can tell which one of equal lines next to each other is new, or whether a line was kept
    or written again as it was. So these get the authors of both.
    """
    after = [*before[:start], *new, *before[end:]]
    window = range(max(0, start - len(new)), min(len(after), start + 2 * len(new)))
    authors: dict[str, frozenset[int]] = {}
    for line in (*before[start:end], *(after[at] for at in window)):
        authors[line.text] = authors.get(line.text, frozenset()) | line.authors
    written = {line.text for line in new}
    for at in window:
        if after[at].text in written and after[at].authors != authors[after[at].text]:
            after[at] = Line(after[at].text, authors[after[at].text])
    return after


def write_repository(history: History, folder: Path) -> list[str]:
    """Write the commits to a new repository; return their hashes."""
    Repository(folder)
    parts: list[bytes] = []
    for number, commit in enumerate(history.commits, 1):
        times = [
            f"{int(moment.timestamp())} +0000" for moment in (commit.authored, commit.committed)
        ]
        parts.append(
            f"commit refs/heads/main\nmark :{number}\nauthor A <a@example.org> {times[0]}\n"
            f"committer A <a@example.org> {times[1]}\ndata 1\nx\ndeleteall\n".encode()
        )
        for path, lines in commit.files.items():
            data = _text(lines).encode()
            parts.append(f"M 100644 inline {path}\ndata {len(data)}\n".encode() + data + b"\n")
    run = ("git", "-C", str(folder))
    marks = folder / ".git" / "marks"
    subprocess.run(
        [*run, "fast-import", "--quiet", f"--export-marks={marks}"],
        input=b"".join(parts),
        check=True,
    )
    subprocess.run([*run, "reset", "-q", "--hard"], check=True)
    named = dict(line.split() for line in marks.read_text().splitlines())
    return [named[f":{number}"] for number in range(1, len(history.commits) + 1)]


def known_lines(
    history: History, commits: Sequence[str]
) -> Iterator[tuple[str, str, int, Line, bool]]:
    """Yield each line of each commit: commit, path, number, line, whether it is new there."""
    for number, commit in enumerate(history.commits):
        older = (
            {line.id for lines in history.commits[number - 1].files.values() for line in lines}
            if number
            else set()
        )
        for path, lines in commit.files.items():
            for place, line in enumerate(lines, 1):
                yield commits[number], path, place, line, line.id not in older


def _text(lines: Sequence[Line]) -> str:
    return "".join(f"{line.text}\n" for line in lines)


def _hunk(
    before: Sequence[Line],
    after: Sequence[Line],
    place: tuple[int, int, int],
    context: tuple[int, int] | None = None,
) -> DiffHunk:
    """Return the hunk for replacing lines: the first one, the end, and how many replace them."""
    start, end, count = place
    first, last = context or (max(0, start - 1), min(len(before), end + 1))
    lines = [
        *((" ", line.text) for line in before[first:start]),
        *(("-", line.text) for line in before[start:end]),
        *(("+", line.text) for line in after[start : start + count]),
        *((" ", line.text) for line in before[end:last]),
    ]
    return DiffHunk(first + 1, tuple(lines))
