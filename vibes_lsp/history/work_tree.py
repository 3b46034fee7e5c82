"""The index as it was at one moment: which files differ from it later, and their text then.

Clean files need no copy of their own: the index has their `stat` and names their blobs.
"""

from __future__ import annotations

import hashlib
import os
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from vibes_lsp.errors import HistoryUnavailable, UnreadableFile
from vibes_lsp.history.diff import differing_from_index
from vibes_lsp.history.git import run_git
from vibes_lsp.history.objects import GitObjects
from vibes_lsp.history.repository import Repository
from vibes_lsp.store.files import open_file, regular_file_stamp

_FILTERS: Final = ("filter", "working-tree-encoding", "ident")
"""Attributes that make the text of a file another one than that of its blob."""
_NO_VALUES: Final = frozenset({b"unspecified", b"unset"})


@dataclass(frozen=True, slots=True)
class IndexCopy:
    """A copy of git's index.

    Attributes:
        data: Its bytes; empty where there is no index yet.
        written: Its modification time in nanoseconds.
    """

    data: bytes
    written: int

    def differing(self, folder: Path) -> frozenset[str]:
        """Return the files in a folder whose `stat` differs, and new ones that are not ignored.

        Raises:
            HistoryUnavailable: Git fails.
        """
        with self._on_disk() as index:
            return differing_from_index(folder, index)

    def blobs(self, folder: Path, names: Sequence[str]) -> dict[str, str]:
        """Return the blobs of files in a folder; a file without one was not in the index.

        A file that a filter may have changed has an empty name of a blob.

        Raises:
            HistoryUnavailable: Git fails.
        """
        if not names:
            return {}
        patterns = [f":(literal){name}" for name in names]
        with self._on_disk() as index:
            listed = run_git(folder, "ls-files", "-z", "--stage", "--", *patterns, index=index)
        found: dict[str, str] = {}
        for line in listed.split(b"\0")[:-1]:
            metadata, _, name = line.partition(b"\t")
            found[os.fsdecode(name)] = metadata.split(b" ")[1].decode("ascii")
        return found | dict.fromkeys(_filtered(folder, list(found)), "")

    @contextmanager
    def _on_disk(self) -> Iterator[Path]:
        with tempfile.TemporaryDirectory(prefix="vibes-index-") as folder:
            path = Path(folder, "index")
            if self.data:
                path.write_bytes(self.data)
                os.utime(path, ns=(self.written, self.written))
            yield path


def copy_index(repository: Repository, limit: int) -> IndexCopy | None:
    """Return a copy of a repository's index; None if it is larger than a limit.

    Raises:
        HistoryUnavailable: Git fails.
    """
    path = repository.index_file()
    try:
        if regular_file_stamp(path) is None:
            return IndexCopy(b"", 0)
        with open_file(path) as file:
            data, written = file.read(limit + 1), os.fstat(file.fileno()).st_mtime_ns
    except UnreadableFile as error:
        raise HistoryUnavailable(f"the index cannot be read: {error.message}") from error
    return None if len(data) > limit else IndexCopy(data, written)


def has_content(objects: GitObjects, data: bytes) -> bool:
    """Return whether a repository has a content, as it is or with Unix line ends."""
    return any(
        objects.contents(digest(b"blob %d\0" % len(each) + each).hexdigest()) is not None
        for each in {data, data.replace(b"\r\n", b"\n")}
        for digest in (hashlib.sha1, hashlib.sha256)
    )


def _filtered(folder: Path, names: Sequence[str]) -> list[str]:
    if not names:
        return []
    fields = run_git(folder, "check-attr", "-z", *_FILTERS, "--", *names).split(b"\0")
    return [
        os.fsdecode(name)
        for name, value in zip(fields[0::3], fields[2::3], strict=False)
        if value not in _NO_VALUES
    ]
