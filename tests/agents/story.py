"""The session that every agent is made to have, and what the trail must have of it afterwards.

The script's own truth is written down here by hand: files, lines, commands and reads. It takes
nothing from the code that records.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import astuple, dataclass, replace
from difflib import SequenceMatcher
from typing import Final, TypeAlias

INVENTORY: Final = """STOCK = {}


def add(item, count):
    check(item)
    STOCK[item] = count
    return count


def remove(item, count):
    check(item)
    STOCK[item] -= count
    return count


def check(item):
    if not item:
        raise ValueError(item)


def report():
    return list(STOCK)
"""
START: Final = {
    "inventory.py": INVENTORY,
    "notes.md": "alpha\nbeta\ngamma\n",
    "todo.md": "first\nlast",  # without a newline at the end
    "src/__init__.py": "",  # some tools create no folders
}
"""The files before the session."""

FIRST: Final = "Make the inventory stricter."
SECOND: Final = "Sort the report, and note it."
DELEGATED: Final = "Write the file delegated.md."


@dataclass(frozen=True, slots=True)
class Read:
    """Read a file."""

    file: str


@dataclass(frozen=True, slots=True)
class Create:
    """Create a file."""

    file: str
    text: str


@dataclass(frozen=True, slots=True)
class Replace:
    """Replace text in a file.

    Attributes:
        file: The file.
        old: The text, which occurs once, or everywhere.
        new: What replaces it.
        before: The whole text before.
        everywhere: Whether all occurrences are replaced.
    """

    file: str
    old: str
    new: str
    before: str
    everywhere: bool = False

    @property
    def after(self) -> str:
        """The whole text after."""
        return self.before.replace(self.old, self.new)

    def changed_lines(self) -> list[tuple[int, list[str], list[str]]]:
        """Return index, old lines and new lines of each change, without the line ends."""
        old, new = self.before.splitlines(), self.after.splitlines()
        return [
            (i, old[i:j], new[k:m])
            for tag, i, j, k, m in SequenceMatcher(None, old, new, autojunk=False).get_opcodes()
            if tag != "equal"
        ]


@dataclass(frozen=True, slots=True)
class Shell:
    """Run a shell command."""

    command: str


@dataclass(frozen=True, slots=True)
class Delegate:
    """Start a subagent, and wait for it."""

    prompt: str


Step: TypeAlias = Read | Create | Replace | Shell | Delegate
Steps: TypeAlias = Sequence[Sequence[Step]]
"""The steps of each answer of the model; those of one answer are made at once."""


def reasoning_of(at_once: Sequence[Step]) -> str:
    """Return what the model thinks before steps: it names their file or command."""
    return f"I decide on {astuple(at_once[0])[0]!r}."


_PRICES: Final = "PRICES = {}\n\n\ndef price(item):\n    return PRICES[item]\n"
_RETURN: Final = "    STOCK[item] -= count\n    return count\n"
"""The line `return count` is there twice."""
_CHECK: Final = "def check(item):\n    if not item:\n        raise ValueError(item)\n"
_STRICT_CHECK: Final = "def check(item: str):\n    if not item:\n        raise KeyError(item)\n"
"""The line between the two that change stays."""


def _steps() -> tuple[dict[str, Steps], dict[str, str]]:
    """Return the steps after each prompt, and the files at the end."""
    files = dict(START)

    def replace(file: str, old: str, new: str, *, everywhere: bool = False) -> Replace:
        step = Replace(file, old, new, files[file], everywhere)
        assert step.before.count(old) == 1 or everywhere
        files[file] = step.after
        return step

    def create(file: str, text: str) -> Create:
        files[file] = text
        return Create(file, text)

    first: Steps = [
        [Read("inventory.py"), Read("notes.md"), Read("todo.md")],
        [create("src/prices.py", _PRICES)],
        [
            replace(
                "inventory.py", "    check(item)\n", "    check(item.strip())\n", everywhere=True
            )
        ],
        [replace("inventory.py", _RETURN, _RETURN.replace("return count", "return STOCK[item]"))],
        [replace("inventory.py", _CHECK, _STRICT_CHECK)],
        [
            # The first moves the line of the second.
            replace("inventory.py", "STOCK = {}\n", "STOCK = {}\nLIMIT = 100\n"),
            replace("inventory.py", "return list(STOCK)\n", "return sorted(STOCK)\n"),
        ],
        [replace("notes.md", "beta\n", "beta one\nbeta two\n")],
        [replace("todo.md", "last", "last\nadded")],
        [Replace("notes.md", "no such line\n", "never\n", files["notes.md"])],
        [Shell(WRITING_COMMAND)],
        [Shell(FAILING_COMMAND)],
        [Delegate(DELEGATED)],
    ]
    files["notes.md"] += "by a shell\n"
    delegated: Steps = [[create("delegated.md", "by the subagent\n")]]
    second: Steps = [
        [create("report.md", "sorted\n")],
        [Read("inventory.py")],
        [replace("inventory.py", "sorted(STOCK)", "sorted(STOCK, key=str)")],
    ]
    return {FIRST: first, DELEGATED: delegated, SECOND: second}, files


WRITING_COMMAND: Final = "echo 'by a shell' >> notes.md && cat todo.md"
CHANGED_BY_COMMAND: Final = "notes.md"
FAILING_COMMAND: Final = "echo to-stderr >&2; exit 3"
STEPS, END = _steps()
"""The steps that follow each prompt, and the files afterwards."""


@dataclass(frozen=True, slots=True, order=True)
class Lines:
    """Lines that an edit wrote, numbered as they were right after it; added ones are created."""

    file: str
    start: int
    end: int
    action: str
    prompt: str


EDITED: Final = [
    Lines("delegated.md", 1, 1, "create", DELEGATED),
    Lines("inventory.py", 2, 2, "create", FIRST),
    Lines("inventory.py", 5, 5, "modify", FIRST),
    Lines("inventory.py", 11, 11, "modify", FIRST),
    Lines("inventory.py", 13, 13, "modify", FIRST),
    Lines("inventory.py", 16, 16, "modify", FIRST),
    Lines("inventory.py", 18, 18, "modify", FIRST),
    Lines("inventory.py", 23, 23, "modify", FIRST),
    Lines("inventory.py", 23, 23, "modify", SECOND),
    Lines("notes.md", 2, 3, "modify", FIRST),
    Lines("report.md", 1, 1, "create", SECOND),
    Lines("src/prices.py", 1, 5, "create", FIRST),
    Lines("todo.md", 3, 3, "create", FIRST),
]
"""All lines that the session writes."""
MOVED: Final = {
    replace(lines, start=lines.start + 1, end=lines.end + 1): lines
    for lines in EDITED
    if (lines.file, lines.prompt) == ("inventory.py", FIRST) and 2 < lines.start < 20
}
"""Where the line that a later call adds at the top moves the lines of earlier calls.

Payloads without the whole text are placed in the file, which may have the later edit already.
"""
SECOND_OF_TWO: Final = Lines("inventory.py", 11, 11, "modify", FIRST)
"""What a tool that cannot replace all occurrences writes by its second call.

Its new text is there twice then, and the call of such a tool says nothing else.
"""
BY_SUBAGENT: Final = frozenset(lines for lines in EDITED if lines.prompt == DELEGATED)
"""What the subagent writes."""
AT_ONCE: Final = frozenset(
    {
        Lines("inventory.py", 2, 2, "create", FIRST),
        Lines("inventory.py", 23, 23, "modify", FIRST),
    }
)
"""What the two calls of one answer write."""
COMMANDS: Final = {WRITING_COMMAND: 0, FAILING_COMMAND: 3}
"""The shell commands with their exit codes."""
READS: Final = ("inventory.py", "notes.md", "todo.md")
"""The files that are read after the first prompt."""
