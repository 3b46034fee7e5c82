"""A git repository as it was at each commit of its main line."""

from __future__ import annotations

import subprocess
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import IO, Final

from benchmarks.locating.linemaps import DEAD, Change, Hunk, parse_hunk, parse_patch
from benchmarks.locating.repository import SOURCES, Repository, Version
from benchmarks.locating.truth import doubts_of

ALGORITHMS: Final = ("histogram", "myers")
_DIFF: Final = (
    "-w",
    "-U0",
    "--full-index",
    "--text",
    "--no-ext-diff",
    "--no-textconv",
    "--no-color",
    "--indent-heuristic",
)
_KEPT_BLOBS: Final = 500
_SAME: Final = Change(())


@dataclass(frozen=True, slots=True)
class Touch:
    """What a commit did to a file: deleted it without `new`, created it without `old`."""

    old: Version | None
    new: Version | None


@dataclass
class _Commit:
    name: str
    departing: dict[str, Touch] = field(default_factory=dict)
    arriving: dict[str, Touch] = field(default_factory=dict)


class History(Repository):
    """The first-parent history of HEAD, the oldest commit first."""

    def __init__(self, repository: Path, newest: int = 5000) -> None:
        super().__init__(repository)
        self._changes: dict[str, dict[tuple[str, str], Change]] = {}
        self._commits: list[_Commit] = []
        for algorithm in ALGORITHMS:
            with self._stream(algorithm, newest) as lines:
                self._commits, self._changes[algorithm] = _parse_log(lines)
        self._known_keys: dict[str, list[bytes]] = {}

    def __len__(self) -> int:
        return len(self._commits)

    def commit(self, number: int) -> str:
        """Return the full name of a commit."""
        return self._commits[number].name

    def files(self, number: int) -> list[Version]:
        """Return the source files of a commit, by path."""
        return self.sources(self.commit(number))

    def follow(self, version: Version, start: int, end: int) -> list[Version] | None:
        """Return the versions of a file from one commit to a later one, following renames.

        None if it was deleted.
        """
        versions = [version]
        for commit in self._commits[start + 1 : end + 1]:
            touch = commit.departing.get(versions[-1].path)
            if touch is None:
                continue
            if touch.new is None:
                return None
            versions.append(touch.new)
        return versions

    def changes(self, versions: Sequence[Version], algorithm: str) -> list[Change]:
        """Return the line changes of each step between versions, by one of git's algorithms."""
        known = self._changes[algorithm]
        steps = pairwise(versions)
        return [known.get((old.blob, new.blob), _SAME) for old, new in steps]

    def doubts(self, versions: Sequence[Version], length: int) -> dict[int, set[int]]:
        """Return where else lines of the first version may be in the last: diffs are not unique."""
        steps = zip(self.changes(versions, ALGORITHMS[0]), pairwise(versions), strict=True)
        return doubts_of(
            ((change, self._keys(old.blob), self._keys(new.blob)) for change, (old, new) in steps),
            length,
        )

    def last_written(self, version: Version, number: int) -> tuple[str, list[tuple[int, int]]]:
        """Return the last commit to a file up to a given one, and the runs of lines it added."""
        for commit in reversed(self._commits[: number + 1]):
            touch = commit.arriving.get(version.path)
            if touch is not None:
                old = "0" * len(version.blob) if touch.old is None else touch.old.blob
                added = self._changes[ALGORITHMS[0]].get((old, version.blob), _SAME).added
                return commit.name, added
        return "", []

    def moment(self, commit: str) -> str | None:
        """Return when a commit was made; None for a merge."""
        told = self.run("show", "--no-patch", "--format=%cI %P", commit).decode()
        moment, *parents = told.split()
        return moment if len(parents) < 2 else None

    def direct(self, old: str, new: str) -> Change:
        """Return the change from one blob to another, in one step."""
        patch = self.run("diff", *_DIFF, "--histogram", old, new)
        return Change(parse_patch(iter(patch.split(b"\n"))))

    def blamed(self, version: Version, start: int, end: int, length: int) -> list[int]:
        """Return the line map by `git blame --reverse`: the last commit and line number of each."""
        last = self.commit(end)
        told = self.run(
            "blame",
            "--reverse",
            "-w",
            "--first-parent",
            "-s",
            "--porcelain",
            f"{self.commit(start)}..{last}",
            "--",
            version.path,
        )
        lines = [DEAD] * (length + 1)
        for line in told.split(b"\n"):
            name, _, numbers = line.partition(b" ")
            if name.decode("latin-1") == last:
                there, here = numbers.split(b" ")[:2]
                lines[int(here)] = int(there)
        return lines

    def _keys(self, blob: str) -> list[bytes]:
        """Return the lines of a blob without white space."""
        if blob not in self._known_keys:
            if len(self._known_keys) > _KEPT_BLOBS:
                self._known_keys.clear()
            self._known_keys[blob] = [
                b"".join(line.split()) for line in self.content(blob).split(b"\n")
            ]
        return self._known_keys[blob]

    def _stream(self, algorithm: str, newest: int) -> _Lines:
        """Return the log of the main line: the files and line changes of each commit."""
        order = ("--first-parent", "--reverse", f"--max-count={newest}", "--format=commit %H")
        shown = ("--raw", "--no-abbrev", "-p", "-M", "-l0", f"--diff-algorithm={algorithm}", *_DIFF)
        return _Lines(
            self.start(
                "log", *order, *shown, "HEAD", "--", *(f"*.{extension}" for extension in SOURCES)
            )
        )


class _Lines:
    """The lines that a process prints, as it prints them."""

    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        self._process = process

    def __enter__(self) -> IO[bytes]:
        told = self._process.stdout
        assert told is not None
        return told

    def __exit__(self, *_: object) -> None:
        self._process.communicate()
        assert self._process.returncode == 0, self._process.args


def _parse_log(lines: IO[bytes]) -> tuple[list[_Commit], dict[tuple[str, str], Change]]:
    """Return the commits, and the changes by the blobs before and after."""
    commits: list[_Commit] = []
    changes: dict[tuple[str, str], Change] = {}
    hunks: list[Hunk] = []
    blobs = ("", "")
    for line in lines:
        if line.startswith(b"@@ -"):
            hunks.append(parse_hunk(line, lines))
        elif line.startswith(b"index "):
            changes[blobs] = Change(hunks)
            hunks = []
            old, _, new = line.split()[1].decode().partition("..")
            blobs = (old, new)
        elif line.startswith(b":"):
            _note_touch(commits[-1], line)
        elif line.startswith(b"commit "):
            commits.append(_Commit(line.split()[1].decode()))
    changes[blobs] = Change(hunks)
    return commits, changes


def _note_touch(commit: _Commit, line: bytes) -> None:
    """Add a raw diff line: modes, blobs, kind of change, and one path or two."""
    about, *paths = line.decode("utf-8", "surrogateescape").rstrip("\n").split("\t")
    old_mode, new_mode, old_blob, new_blob, _ = about[1:].split(" ")
    old = Version(paths[0], old_blob) if old_mode.startswith("100") else None
    new = Version(paths[-1], new_blob) if new_mode.startswith("100") else None
    touch = Touch(old, new)
    if old is not None:
        commit.departing[old.path] = touch
    if new is not None:
        commit.arriving[new.path] = touch
