"""What other files of the work tree have lost since HEAD: blocks may have moved from there."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from vibes_lsp.anchors.align import came_from
from vibes_lsp.anchors.text import Text
from vibes_lsp.errors import HistoryUnavailable
from vibes_lsp.git.diff import changed_since
from vibes_lsp.placing.committed_lines import CommittedOwners, FileInHead
from vibes_lsp.placing.hash_placement import consecutive
from vibes_lsp.placing.moved_blocks import PlacedLines

ReadText = Callable[[str], Text | None]
"""Returns the text of a file, relative to the project; None if there is none."""


@dataclass(frozen=True, slots=True)
class LostBlocks:
    """Lines of HEAD that files have lost.

    Attributes:
        blocks: The lines.
        files: These files as HEAD has them.
    """

    blocks: Sequence[PlacedLines] = ()
    files: Mapping[str, FileInHead] = field(default_factory=dict)


def lost_lines(
    folder: Path, head: str, committed: CommittedOwners, read: ReadText
) -> Iterator[PlacedLines]:
    """Yield the lines of HEAD that files of the work tree have lost.

    Args:
        folder: The project's folder.
        head: The commit of HEAD.
        committed: Whose its lines are.
        read: Returns a file on disk.
    """
    try:
        changed = changed_since(folder, head)
    except HistoryUnavailable:
        return
    for path in sorted(changed):
        try:
            before = committed.file(head, path).text.lines
        except HistoryUnavailable:
            continue
        if before and not f"/{path}".startswith("/.ai-audit/"):
            now = read(path)
            kept = set(came_from(before, () if now is None else now.lines))
            for block in consecutive(n for n in range(len(before)) if n not in kept):
                yield PlacedLines(path, block.start, before[block.start : block.stop])
