"""What all clones and work trees of one generated history share: lines, edits, commits."""

from __future__ import annotations

import os
import random
import subprocess
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Final

from tests.git_life.code import Coder, Words
from tests.git_life.lines import (
    PERSON,
    UNKNOWN,
    File,
    Line,
    Lines,
    Origin,
    Tree,
    match_texts,
    texts,
)
from tests.git_life.subject import Subject

if TYPE_CHECKING:
    from tests.git_life.work_tree import WorkTree

_CONFIG: Final = """\
[user]
\tname = Test User
\temail = test@example.org
[init]
\tdefaultBranch = main
[gc]
\tauto = 0
[maintenance]
\tauto = false
[core]
\teditor = true
[advice]
\tdetachedHead = false
[protocol "file"]
\tallow = always
[uploadpack]
\tallowFilter = true
\tallowAnySHA1InWant = true
"""


class Refused(Exception):
    """A command of git failed, which nothing in the history explains."""


@dataclass(frozen=True, slots=True)
class Form:
    """What a repository and its files are like.

    Attributes:
        line_end: Of files on disk; git has LF.
        is_terminated: Whether the last line of a file ends with an end of line.
        folder: The folder of the project within the repository: empty, or ending with a slash.
        object_format: Git's hashes.
        name: Pattern of the names of files.
    """

    line_end: str = "\n"
    is_terminated: bool = True
    folder: str = ""
    object_format: str = "sha1"
    name: str = "{letter}.{extension}"


@dataclass(frozen=True, slots=True)
class Commit:
    """A commit whose lines are known.

    Attributes:
        parents: Their hashes.
        tree: The files, without the trail.
        ever: The identities of all lines of this commit and its ancestors.
        brought: Those that no ancestor has.
    """

    parents: tuple[str, ...]
    tree: Tree
    ever: frozenset[int]
    brought: frozenset[int]


@dataclass(slots=True)
class Happened:
    """What happened to a history that its plan does not say.

    Attributes:
        unknown: Lines that git placed otherwise than the generator.
        refused: Commands that git refused because of the trail.
        left: What a failed or finished command left in the trail of a work tree.
    """

    unknown: int = 0
    refused: list[str] = field(default_factory=list)
    left: list[str] = field(default_factory=list)


class History:
    """Lines, edits and commits of one history; random decisions come from its seed.

    Args:
        root: An empty folder.
        make_subject: Makes what is judged; it is given the environment of all programs, and may change it.
        language: Of its code.
        seed: Decides everything.
        form: What its repository and files are like.
    """

    def __init__(
        self,
        root: Path,
        make_subject: Callable[[dict[str, str]], Subject],
        language: str,
        seed: str,
        *,
        form: Form = Form(),  # frozen
    ) -> None:
        self.root, self.form = root, form
        self.rng = random.Random(seed)
        self.coder = Coder(language, self.rng)
        self.commits: dict[str, Commit] = {}
        self.lines: dict[str, list[Line]] = {}
        """Text -> the lines that had it."""
        self.blames: dict[tuple[str, str], list[tuple[str, str, int]]] = {}
        """What git's blame says of a file in a commit."""
        self.edits: list[str] = []
        self.touched: set[int] = set()
        """The files that an AI edited."""
        self.work_trees: list[WorkTree] = []
        self.happened = Happened()
        self._count = 0
        config = root / "gitconfig"
        config.write_text(_CONFIG, "utf-8")
        self.environment = {
            name: value for name, value in os.environ.items() if not name.startswith("GIT_")
        } | {
            "GIT_CONFIG_GLOBAL": str(config),
            "GIT_CONFIG_NOSYSTEM": "1",
            "GIT_TERMINAL_PROMPT": "0",
            "LC_ALL": "C",
            "HOME": str(root),
            "XDG_CACHE_HOME": str(root / "cache"),
        }
        self.subject = make_subject(self.environment)

    def continue_from(self, other: History) -> None:
        """Know all lines and commits of another history."""
        self.commits |= other.commits
        self.lines = {text: list(lines) for text, lines in other.lines.items()}
        self.coder.used |= other.coder.used
        self._count = other._count

    def number(self) -> int:
        """Return a number that was never returned before."""
        self._count += 1
        return self._count

    def write(
        self, words: Iterable[Words], author: str = PERSON, origin: Origin = Origin.TYPED
    ) -> Lines:
        """Return new lines of an author."""
        return tuple(
            self.keep(Line(self.number(), text, author, ordinary, origin))
            for text, ordinary in words
        )

    def keep(self, line: Line) -> Line:
        """Remember a new line."""
        self.lines.setdefault(line.text, []).append(line)
        return line

    def again(self, lines: Lines, origin: Origin) -> Lines:
        """Return what a person writes, who takes over or types the text of these lines."""
        return tuple(
            self.keep(
                replace(
                    line, number=self.number(), author=PERSON, origin=origin, source=line.author
                )
            )
            for line in lines
        )

    def edit(self) -> str:
        """Return the name of a new edit."""
        self.edits.append(f"edit-{len(self.edits) + 1}")
        return self.edits[-1]

    def adopt(self, expected: Lines, actual: Sequence[str]) -> Lines:
        """Return the lines of a text that git made, which is nearly always the expected one."""
        if texts(expected) == list(actual):
            return expected
        result = []
        for text, line in zip(actual, match_texts(expected, actual), strict=True):
            result.append(line or self._known(text))
        return tuple(result)

    def _known(self, text: str) -> Line:
        """Return the only line that ever had a text, else one whose author is unknown."""
        known = self.lines.get(text, [])
        if len(known) == 1:
            return known[0]
        self.happened.unknown += 1
        return Line(self.number(), text, UNKNOWN, ordinary=True)

    def encode(self, lines: Lines) -> bytes:
        """Return the bytes of a file on disk."""
        text = "".join(line.text + self.form.line_end for line in lines)
        return (text if self.form.is_terminated else text[: -len(self.form.line_end)]).encode()

    @staticmethod
    def decode(data: bytes) -> list[str]:
        """Return the texts of the lines of a file."""
        lines = data.decode().replace("\r\n", "\n").split("\n")
        return lines if lines[-1] else lines[:-1]

    def path(self, name: str) -> str:
        """Return the path of a file of the project, without its extension named so."""
        return self.form.folder + self.form.name.format(letter=name, extension=self.coder.extension)

    def file(self, lines: Lines) -> File:
        """Return a new file."""
        return File(self.number(), lines)

    def git(
        self,
        folder: Path,
        *arguments: str,
        check: bool = True,
        stdin: bytes | None = None,
        environment: Mapping[str, str] | None = None,
    ) -> subprocess.CompletedProcess[bytes]:
        """Run git in a folder.

        Raises:
            Refused: It failed, and `check` is set.
        """
        done = subprocess.run(
            ["git", *arguments],
            cwd=folder,
            env={**self.environment, **(environment or {})},
            input=stdin,
            stdin=subprocess.DEVNULL if stdin is None else None,
            capture_output=True,
            check=False,
        )
        if check and done.returncode:
            message = (done.stdout + done.stderr).decode("utf-8", "replace").strip()
            raise Refused(f"git {' '.join(arguments)}: {message[-600:]}")
        return done

    def close(self) -> None:
        """End what was started."""
        for work in self.work_trees:
            work.close()
        self.subject.close()
