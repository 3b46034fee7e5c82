"""What other files of the work tree have lost since HEAD: blocks may have moved from there."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

from vibes_lsp.anchors.align import came_from
from vibes_lsp.anchors.text import Text
from vibes_lsp.errors import HistoryUnavailable
from vibes_lsp.history.diff import changed_since
from vibes_lsp.history.repository import Repository
from vibes_lsp.placing.committed_lines import CommittedOwners
from vibes_lsp.placing.hash_placement import consecutive
from vibes_lsp.placing.hunk_records import LineOwner
from vibes_lsp.placing.moved_blocks import Place, PlacedLines

ReadText = Callable[[str], Text | None]
"""Returns the text of a file, relative to the project; None if there is none."""


class LostLines:
    """The lines of HEAD that files of the work tree have lost, with their owners.

    Args:
        repository: The repository.
        folder: The project's folder.
        head: The commit of HEAD.
        committed: Whose its lines are.
        read: Returns a file on disk.
    """

    def __init__(
        self,
        repository: Repository,
        folder: Path,
        head: str,
        committed: CommittedOwners,
        read: ReadText,
    ) -> None:
        self._repository, self._folder, self._head = repository, folder, head
        self._committed, self._read = committed, read
        self._blocks: list[PlacedLines] | None = None

    def lost(self, path: str) -> Iterator[PlacedLines]:
        """Yield the lines of HEAD that files other than one have lost."""
        if self._blocks is None:
            self._blocks = list(self._find())
        return (block for block in self._blocks if block.path != path)

    def owner(self, place: Place) -> LineOwner | None:
        """Return the owner of a line of HEAD."""
        path, number = place
        owners = self._committed.owners(self._head, path)
        return owners[number] if number < len(owners) else None

    def _find(self) -> Iterator[PlacedLines]:
        try:
            changed = changed_since(self._repository, self._head, self._folder)
        except HistoryUnavailable:
            return
        for path in sorted(changed):
            before = self._committed.file(self._head, path).text.lines
            if not before or f"/{path}".startswith("/.ai-audit/"):
                continue
            now = self._read(path)
            kept = set(came_from(before, () if now is None else now.lines))
            for block in consecutive(n for n in range(len(before)) if n not in kept):
                yield PlacedLines(path, block.start, before[block.start : block.stop])
