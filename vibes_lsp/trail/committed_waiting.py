"""A file of waiting records that git tracks: who made a commit may have written it.

A verdict in it would count as this user's, so it is not read.
"""

from __future__ import annotations

from pathlib import Path

from vibes_lsp.store.audit_dir import AuditDir
from vibes_lsp.store.file_stamps import FileStamp, file_stamp
from vibes_lsp.store.waiting import records_in_journal, waiting_files, waiting_place
from vibes_lsp.store.waiting_lines import Waiting, read_waiting


def committed_waiting(directory: AuditDir) -> Path | None:
    """Return the file of waiting records in a trail's folder, if git tracks it."""
    file = records_in_journal(directory)
    if not file.is_file():
        return None
    from vibes_lsp.git.repository import is_tracked  # noqa: PLC0415  # most trails have none

    return file if is_tracked(file) else None


def read_uncommitted_waiting(directory: AuditDir, *, others: bool = False) -> Waiting:
    """Return what waits, without a file that git tracks.

    Args:
        directory: The trail.
        others: As for `read_waiting`.
    """
    return read_waiting(directory, others=others, committed=committed_waiting(directory))


class UncommittedWaiting:
    """The files of waiting records but for one that git tracks.

    Git is asked again only after its index has changed.
    """

    def __init__(self, directory: AuditDir) -> None:
        self._directory = directory
        self._index: FileStamp | None = None
        self._committed: Path | None = None

    def __call__(self) -> list[Path]:
        """Return them, oldest place first; they may not exist."""
        files, place = waiting_files(self._directory), waiting_place(self._directory)
        if place is None or not records_in_journal(self._directory).is_file():
            return files
        index = file_stamp(place.git / "index")
        if index is None or index != self._index:
            self._index, self._committed = index, committed_waiting(self._directory)
        return [file for file in files if file != self._committed]
