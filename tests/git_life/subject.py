"""What is judged: a tool that records edits and says whose lines are."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple, Protocol


class Claim(NamedTuple):
    """What a tool says of a line.

    Attributes:
        kind: `ai` for verified; `edited`, `claimed` or `human`.
        edit: The name of the edit that the line belongs to; empty if none.
    """

    kind: str
    edit: str


@dataclass(frozen=True, slots=True)
class Edit:
    """An edit of an AI, right after it.

    Attributes:
        name: What the AI was asked, by which the tool's records are recognised.
        path: The file, relative to the repository.
        before: The bytes of the file before; None if there was no file.
        after: The bytes of the file now.
        ranges: First and last line of what it wrote, from 1.
    """

    name: str
    path: str
    before: bytes | None
    after: bytes
    ranges: Sequence[tuple[int, int]]


class Subject(Protocol):
    """A tool that records edits and says whose lines are."""

    def init(self, root: Path) -> None:
        """Start a trail in a repository, and install the hook."""

    def join(self, root: Path) -> None:
        """Install the hook in a clone or a new work tree of a repository that has a trail."""

    def record(self, root: Path, edit: Edit) -> None:
        """Record an edit."""

    def owners(self, root: Path, path: str) -> Mapping[int, Claim]:
        """Return what the tool says of each line of a file on disk, from 1."""

    def unreviewed(self, root: Path, base: str) -> set[tuple[str, int]] | None:
        """Return path and number of the AI lines that the gate asks to review; None without a gate."""

    def settle(self, root: Path) -> None:
        """Resolve conflicts of the trail, as its user would."""

    def close(self) -> None:
        """End what was started."""
