"""How old lines are: what stands unchanged in git since before an edit was not written by that edit (R15)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime

from msgspec.structs import replace

from vibes_lsp.anchors.line_map import LineMap
from vibes_lsp.anchors.located import LineKind, Located, Method, Since, State
from vibes_lsp.anchors.text import Text


@dataclass(frozen=True, slots=True)
class EditTime:
    """When a recorded edit was made, as history has it.

    Attributes:
        moment: What was committed before this time was there before the edit (R14).
        commits: The commits that came with the edit or after it, whatever their clocks say.
        since: From when on commits have to be told apart: the earliest of all these times.
    """

    moment: datetime
    commits: frozenset[str]
    since: datetime

    def is_after(self, since: Since) -> bool:
        """Whether a commit was made before the edit."""
        return since.moment < self.moment and since.commit not in self.commits


@dataclass(frozen=True, slots=True)
class Ages:
    """Since when git has each line of a file.

    Attributes:
        text: The file as the last commit has it.
        lines: For each of its lines the commit that it came with, or a later one that was made before all edits in question.
    """

    text: Text
    lines: Sequence[Since]

    def of(self, text: Text) -> Sequence[Since | None]:
        """Return the same for another text of the file; None for lines that the last commit does not have."""
        if text.content == self.text.content:
            return self.lines
        ages: list[Since | None] = [None] * len(text.lines)
        for line, place in self._kept(text):
            ages[place - 1] = self.lines[line - 1]
        return ages

    def _kept(self, text: Text) -> Iterator[tuple[int, int]]:
        """Give the lines that stand unchanged in another text, each with its place there."""
        lines, old, new = LineMap(self.text, text), self.text.lines, text.lines
        for line in range(1, min(len(old), len(self.lines)) + 1):
            place = lines.kept(line)
            if place is not None and old[line - 1] == new[place - 1]:
                yield line, place


def disproved(located: Located, ages: Sequence[Since | None], edit: EditTime) -> Located:
    """Return a place as history leaves it: all the lines that are claimed there may be older than the edit.

    A place that is sure is proved by its text; `Origin.before_edit` says whether that proves anything.

    Args:
        located: The place.
        ages: Since when git has each line of the text.
        edit: When the edit was made.
    """
    if located.sure or located.is_contradicted or located.start is None or located.end is None:
        return located
    kinds = located.kinds or (LineKind.CLAIMED,) * (located.end - located.start + 1)
    claimed = [
        age
        for age, kind in zip(ages[located.start - 1 : located.end], kinds, strict=False)
        if kind is not LineKind.HUMAN
    ]
    older = [age for age in claimed if age is not None and edit.is_after(age)]
    if not claimed or len(older) < len(claimed):
        return located
    since = max(older, key=lambda age: age.moment)
    return replace(
        located,
        state=State.UNVERIFIED,
        method=Method.OLDER_THAN_EDIT,
        intact=None,
        kinds=(),
        since=since,
    )
