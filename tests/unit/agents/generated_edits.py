"""Generated edits with their truth: the lines that each one writes.

An edit writes only lines that stand nowhere else, so its truth holds in every later text. What
surrounds them is hostile: repeated lines, mixed line ends, byte-order marks, separators that are
no line ends, and lines that look like parts of a diff or patch.
"""

from __future__ import annotations

import difflib
import itertools
import re
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    import random
    from collections.abc import Iterator, Sequence

FOLDER: Final = "/home/someone/project"
WORDS: Final = (
    "",
    "}",
    "    return None",
    "x = 1",
    "x = 1",
    "x = 1 ",
    "\tend",
    "für = 'ß'",
    "# 変更 🙂👩‍💻",
    "cafe\u0301 = 1",
    "next\x85line",
    "line\u2028separator\u2029s",
    "form\x0cfeed\x0b\x1c",
    "a\rb",
    "non\u00a0breaking",
    "+added",
    "-removed",
    "--- a/file",
    "@@ -1,2 +1,2 @@",
    "*** End Patch",
    "*** Update File: other.py",
    "\\ No newline at end of file",
    "```",
    '"quoted" \\n',
)
_marks: Iterator[int] = itertools.count()


@dataclass(frozen=True)
class Form:
    """How a file is stored, and how agents show it.

    Attributes:
        newlines: The line ends, in turn.
        bom: Whether it starts with a byte-order mark.
        shown_newline: The line end in payloads.
        shows_bom: Whether payloads show the mark.
    """

    newlines: tuple[str, ...] = ("\n",)
    bom: bool = False
    shown_newline: str = "\n"
    shows_bom: bool = False


@dataclass(frozen=True)
class GeneratedEdit:
    """An edit of one file.

    Attributes:
        path: The file, relative to the project.
        before: Its lines before; None for a new file.
        after: Its lines after; None if it was deleted.
        written: The lines that the edit wrote; they stand nowhere else.
        hunks: What was replaced: start in the text before, old lines, new lines.
        replaced: Old and new text of a tool that replaces a text.
        ends: Whether the last line has a line end, before and after.
        form: How the file is stored and shown.
        moved_from: Its earlier path.
    """

    path: str
    before: list[str] | None
    after: list[str] | None
    written: frozenset[str]
    hunks: tuple[tuple[int, list[str], list[str]], ...] = ()
    replaced: tuple[str, str] = ("", "")
    ends: tuple[bool, bool] = (True, True)
    form: Form = field(default_factory=Form)
    moved_from: str | None = None

    @property
    def old(self) -> str:
        """The whole text before, as payloads show it."""
        return self._shown(self.before or [], ends=self.ends[0])

    @property
    def new(self) -> str:
        """The whole text after, as payloads show it."""
        return self._shown(self.after or [], ends=self.ends[1])

    @property
    def saved(self) -> str | None:
        """The file after the edit; None if it was deleted."""
        if self.after is None:
            return None
        ends = itertools.cycle(self.form.newlines)
        text = "".join(f"{line}{next(ends)}" for line in self.after)
        if not self.ends[1] and self.after:
            text = text.removesuffix("\n").removesuffix("\r")
        return ("\ufeff" if self.form.bom else "") + text

    @property
    def diff(self) -> str:
        """A unified diff as JavaScript's `diff` writes it."""
        lines = list(
            difflib.unified_diff(
                _keeping_ends(join(self.before or [], ends=self.ends[0])),
                _keeping_ends(join(self.after or [], ends=self.ends[1])),
                "a",
                "b",
                n=4,
            )
        )
        shown = [
            each if each.endswith("\n") else f"{each}\n\\ No newline at end of file\n"
            for each in lines
        ]
        return f"Index: {self.path}\n{'=' * 67}\n{''.join(shown)}"

    def patch(self, context: int = 2) -> list[str]:
        """Return the lines of an `apply_patch` patch for this file."""
        if self.after is None:
            return [f"*** Delete File: {self.path}"]
        if self.before is None:
            return [f"*** Add File: {self.path}", *(f"+{line}" for line in self.after)]
        shown = [f"*** Update File: {self.moved_from or self.path}"]
        if self.moved_from is not None:
            shown.append(f"*** Move to: {self.path}")
        end = 0
        for number, (start, old, new) in enumerate(self.hunks):
            following = (
                self.hunks[number + 1][0] if number + 1 < len(self.hunks) else len(self.before)
            )
            first = last = start
            for wider in range(context, len(self.before) + 1):  # the first place must be this one
                first = max(end, start - wider)
                last = min(following, start + len(old) + wider)
                if _first_place(self.before, self.before[first:last], end) == first:
                    break
            shown.append("@@")
            shown += [f" {line}" for line in self.before[first:start]]
            shown += [f"-{line}" for line in old] + [f"+{line}" for line in new]
            shown += [f" {line}" for line in self.before[start + len(old) : last]]
            end = last
        return shown

    def _shown(self, lines: Sequence[str], *, ends: bool) -> str:
        text = join(lines, ends=ends).replace("\n", self.form.shown_newline)
        return f"\ufeff{text}" if self.form.bom and self.form.shows_bom else text


def _first_place(lines: Sequence[str], block: Sequence[str], start: int) -> int:
    places = range(start, len(lines) - len(block) + 1)
    return next((at for at in places if lines[at : at + len(block)] == block), -1)


def join(lines: Sequence[str], *, ends: bool = True) -> str:
    """Return lines as a text."""
    return "\n".join(lines) + ("\n" if ends and lines else "")


def _keeping_ends(text: str) -> list[str]:
    return re.findall(r"[^\n]*\n|[^\n]+", text)


def fresh(rng: random.Random) -> str:
    """Return a line that stands nowhere else."""
    head = rng.choice(["", "  ", "\t", "+", "-", "*** ", "@@ "])
    name = rng.choice(["値", "e\u0301", "v\x85", "🙂"])
    return f"{head}{name}_{next(_marks)}_"


def new_form(rng: random.Random) -> Form:
    """Return how a file is stored and shown."""
    newlines = rng.choice([("\n",), ("\n",), ("\r\n",), ("\n", "\r\n", "\n"), ("\r\n", "\n")])
    shown = rng.choice(["\n", "\r\n"]) if newlines == ("\r\n",) else "\n"
    return Form(newlines, rng.random() < 0.1, shown, rng.random() < 0.5)


def new_lines(rng: random.Random, least: int = 0) -> list[str]:
    """Return the lines of a file, most of them repeated."""
    few = rng.sample(WORDS, 5)
    lines = [
        rng.choice([*few, *WORDS, f"def f{number}(a_{number}):"])
        for number in range(rng.randint(least, 40))
    ]
    if lines:
        lines[-1] = lines[-1] or "end"  # an empty line without an end is none
    return lines


def create(rng: random.Random, path: str = "src/new.py") -> GeneratedEdit:
    """Return a new file, which may be empty."""
    lines = [fresh(rng) for _ in range(rng.choice([0, 1, 1, 2, 5, 20]))]
    return GeneratedEdit(
        path,
        None,
        lines,
        frozenset(lines),
        replaced=("", join(lines)),
        ends=(True, rng.random() < 0.8),
        form=new_form(rng),
    )


def replace_once(rng: random.Random, first: GeneratedEdit | None = None) -> GeneratedEdit:
    """Return an edit that replaces a text that occurs once: whole lines, or a part of one.

    Args:
        rng: Random numbers.
        first: The edit before it of the same file.
    """
    if first is None or first.after is None:
        path, form, before, ends = (
            "src/app.py",
            new_form(rng),
            new_lines(rng, 1),
            rng.random() < 0.7,
        )
    else:
        path, form, before, ends = first.path, first.form, first.after, first.ends[1]
    if before and rng.random() < 0.3 and (edit := _within_line(rng, path, form, before, ends)):
        return edit
    start = rng.randint(0, len(before))
    old = before[start : start + rng.choice([0, 0, 1, 1, 2, 3])]
    new = [fresh(rng) for _ in range(rng.randint(1, 4))]
    after = [*before[:start], *new, *before[start + len(old) :]]
    window = only_window(before, start, len(old), ends=ends)
    if window is None:
        return replace_once(rng)
    low, high = window
    # A window that ends the file may also add or remove its last line end.
    ends_after = rng.random() < 0.8 if high == len(before) else ends
    shown_old = join(before[low:high], ends=ends or high < len(before))
    shown_new = join(
        [*before[low:start], *new, *before[start + len(old) : high]],
        ends=ends_after if high == len(before) else True,
    )
    return GeneratedEdit(
        path,
        before,
        after,
        frozenset(new),
        ((start, old, new),),
        _in_form((shown_old, shown_new), form, at_start=low == 0),
        (ends, ends_after),
        form,
    )


def only_window(
    before: Sequence[str], start: int, length: int, *, ends: bool
) -> tuple[int, int] | None:
    """Return the lines to show so that the old text occurs once; None if there are none."""
    whole = join(before, ends=ends)
    low, high = start, start + length
    while True:
        shown = join(before[low:high], ends=ends or high < len(before))
        if low < high and occurrences(shown, whole) == 1:
            return low, high
        if (low, high) == (0, len(before)):
            return None
        low, high = max(0, low - 1), min(len(before), high + 1)


def _within_line(
    rng: random.Random, path: str, form: Form, before: list[str], ends: bool
) -> GeneratedEdit | None:
    whole = join(before, ends=ends)
    places = [n for n, line in enumerate(before) if re.match(r"def f\d+\(", line)]
    if not places:
        return None
    place = rng.choice(places)
    old = re.findall(r"a_\d+\):", before[place])
    if not old or occurrences(old[0], whole) != 1:
        return None
    new = f"b_{next(_marks)}_):"
    line = before[place].replace(old[0], new)
    after = [*before[:place], line, *before[place + 1 :]]
    hunk = (place, [before[place]], [line])
    return GeneratedEdit(
        path, before, after, frozenset({line}), (hunk,), (old[0], new), (ends, ends), form
    )


def replace_all(rng: random.Random) -> GeneratedEdit:
    """Return an edit that replaces a line wherever it stands."""
    old, new = "total = total + 1", fresh(rng)
    before = new_lines(rng, 1)
    for _ in range(rng.randint(2, 5)):
        before.insert(rng.randint(0, len(before)), old)
    after = [new if line == old else line for line in before]
    hunks = tuple((n, [old], [new]) for n, line in enumerate(before) if line == old)
    return GeneratedEdit(
        "src/app.py", before, after, frozenset({new}), hunks, (old, new), form=new_form(rng)
    )


def rewrite(rng: random.Random, path: str = "src/app.py") -> GeneratedEdit:
    """Return an edit with several hunks, none or all lines; also of and to an empty file."""
    before = new_lines(rng)
    after: list[str] = []
    hunks: list[tuple[int, list[str], list[str]]] = []
    rate = rng.choice([0.05, 0.2, 1.0])
    place = 0
    while place <= len(before):
        if rng.random() < rate:
            old = before[place : place + rng.choice([0, 0, 1, 2, 3])]
            new = [fresh(rng) for _ in range(rng.choice([0, 1, 1, 2, 4]))]
            hunks.append((place, old, new))
            after += new
            place += len(old)
        after += before[place : place + 1]
        place += 1
    written = frozenset(line for _, _, new in hunks for line in new)
    ends = (rng.random() < 0.6, rng.random() < 0.6)
    if after and not after[-1]:
        ends = (ends[0], True)  # an empty line without an end is none
    return GeneratedEdit(path, before, after, written, tuple(hunks), ends=ends, form=new_form(rng))


def patched(rng: random.Random, path: str = "src/app.py") -> GeneratedEdit:
    """Return an edit as patches describe it: with old lines, and a line end after the last."""
    before = new_lines(rng, 4)
    after = list(before)
    hunks: list[tuple[int, list[str], list[str]]] = []
    end = 0
    for _ in range(rng.randint(1, 3)):
        if end + 1 >= len(before):
            break
        start = rng.randint(end, len(before) - 1)
        old = before[start : start + rng.choice([0, 1, 1, 2])]
        hunks.append((start, old, [fresh(rng) for _ in range(rng.randint(1, 3))]))
        end = start + len(old) + 1
    for start, old, new in reversed(hunks):
        after[start : start + len(old)] = new
    written = frozenset(line for _, _, new in hunks for line in new)
    return GeneratedEdit(
        path,
        before,
        after,
        written,
        tuple(hunks),
        ends=(rng.random() < 0.8, True),
        form=replace(new_form(rng), bom=False),
    )


def moved(rng: random.Random) -> GeneratedEdit:
    """Return a patch that also moves its file."""
    return replace(patched(rng, "src/moved.py"), moved_from="src/app.py")


def delete(rng: random.Random) -> GeneratedEdit:
    """Return the deletion of a file."""
    return GeneratedEdit("src/old.py", new_lines(rng, 1), None, frozenset())


def _in_form(texts: tuple[str, str], form: Form, *, at_start: bool) -> tuple[str, str]:
    mark = "\ufeff" if at_start and form.bom and form.shows_bom else ""
    old, new = (f"{mark}{text}".replace("\n", form.shown_newline) for text in texts)
    return old, new


def occurrences(part: str, text: str) -> int:
    """Return how often a part occurs, overlaps included."""
    return sum(text.startswith(part, at) for at in range(len(text))) if part else 0
