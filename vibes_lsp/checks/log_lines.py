"""Compare the lines of two versions of a log without keeping either: a log may exceed memory."""

from __future__ import annotations

import hashlib
import secrets
from collections.abc import Callable, Iterable, Iterator
from functools import cached_property
from itertools import islice, takewhile
from typing import Final

from vibes_lsp.errors import UnreadableFile
from vibes_lsp.git.repository import Repository
from vibes_lsp.store.audit_dir import LOG_NAME, AuditDir
from vibes_lsp.store.bounded_lines import bounded_lines
from vibes_lsp.store.files import open_file

_SECRET: Final = secrets.token_bytes(16)


class LineSet:
    """Some lines, of which only hashes are kept.

    A line is known by a hash with a secret of this process, so that no log can be made to have two
    lines with one hash.

    Args:
        lines: The lines.
    """

    def __init__(self, lines: Iterable[bytes]) -> None:
        self._keys = frozenset(map(_digest, lines))

    def __len__(self) -> int:
        """Return how many lines there are."""
        return len(self._keys)

    def __contains__(self, line: bytes) -> bool:
        return _digest(line) in self._keys


def _digest(line: bytes) -> bytes:
    return hashlib.blake2b(line, digest_size=16, key=_SECRET).digest()


class LinesOnDisk:
    """The lines of the log on disk, without line ends, which a checkout may have converted.

    Args:
        directory: The audit directory.
    """

    def __init__(self, directory: AuditDir) -> None:
        self._directory = directory

    def __iter__(self) -> Iterator[bytes]:
        """Yield the lines as `bounded_lines` has them; none if the log cannot be read."""
        try:
            with open_file(self._directory.log) as file:
                yield from map(_without_end, bounded_lines(file))
        except (OSError, UnreadableFile):
            return

    @cached_property
    def _set(self) -> LineSet:
        return LineSet(self)

    def __contains__(self, line: bytes) -> bool:
        return line in self._set

    def missing(self, lines: Iterable[bytes]) -> Iterator[tuple[int, bytes]]:
        """Yield those of some lines that are not on disk, numbered; blank ones are left out.

        As a log grows at its end, lines are first compared with those at the same place.
        """
        own = iter(self)
        is_same_so_far = True
        for number, line in enumerate(lines, 1):
            is_same_so_far = is_same_so_far and line == next(own, None)
            if not is_same_so_far and line.strip() and line not in self:
                yield number, line

    def not_in(self, lines: Callable[[], Iterable[bytes]]) -> frozenset[int]:
        """Return the 1-based numbers of the lines that another log lacks; blank ones are left out.

        Args:
            lines: Reads the other log, twice if this one goes on differently.
        """
        same = sum(1 for _ in takewhile(_is_equal, zip(self, lines(), strict=False)))
        differing = LineSet(islice(self, same, None))
        shared = LineSet(line for line in lines() if line in differing) if differing else differing
        return frozenset(
            number
            for number, line in enumerate(islice(self, same, None), same + 1)
            if line.strip() and line not in shared
        )


def _is_equal(pair: tuple[bytes, bytes]) -> bool:
    return pair[0] == pair[1]


def lines_at(directory: AuditDir, repository: Repository, commit: str) -> Iterator[bytes]:
    """Yield the lines of the log as a commit has it; none if it has no log.

    Raises:
        HistoryUnavailable: Git fails.
    """
    name = f"{directory.path.name}/{LOG_NAME}"
    return map(_without_end, repository.read_lines_below(commit, directory.project, name))


def has_log(repository: Repository, directory: AuditDir, commit: str) -> bool:
    """Whether a commit has a log; a link on disk is not followed."""
    name = f"{directory.path.name}/{LOG_NAME}"
    return repository.has_file_below(commit, directory.project, name)


def _without_end(line: bytes) -> bytes:
    return line.removesuffix(b"\n").rstrip(b"\r")
