"""A place is contradicted if all lines claimed there are older, and nothing proves it."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from vibes_lsp.anchors.history_mapping import EditTime, LineAges, apply_line_ages
from vibes_lsp.anchors.location import DatedCommit, LineKind, LocatedRange, Method, State
from vibes_lsp.anchors.text import Text

OLD = DatedCommit("01d" * 8, datetime(2026, 1, 1, tzinfo=UTC))
NEW = DatedCommit("ae3" * 8, datetime(2026, 3, 1, tzinfo=UTC))
OWN = DatedCommit("0c1" * 8, datetime(2026, 1, 2, tzinfo=UTC))
EDIT = EditTime(datetime(2026, 2, 1, tzinfo=UTC), frozenset([OWN.commit]), OWN.moment)
COMMITTED = LineAges(Text("old\nold, too\nnew\nits own\n"), (OLD, OLD, NEW, OWN))
A, H, E = LineKind.AI, LineKind.HUMAN, LineKind.EDITED


def unsure(start: int, end: int, kinds: tuple[LineKind, ...] = ()) -> LocatedRange:
    return LocatedRange(start, end, State.UNVERIFIED, Method.HISTORY, 0.6, kinds=kinds)


@pytest.mark.parametrize(
    ("located", "text", "is_older"),
    [
        (unsure(1, 2), COMMITTED.text.content, True),
        (unsure(2, 3), COMMITTED.text.content, False),
        (unsure(4, 4), COMMITTED.text.content, False),
        (unsure(2, 3, (A, H)), COMMITTED.text.content, True),
        (unsure(2, 3, (A, E)), COMMITTED.text.content, False),
        (unsure(1, 1, (H,)), COMMITTED.text.content, False),
        (unsure(3, 4), "# above\n\nold\nold, too\n", True),
        (unsure(3, 4), "# above\n\nold\n  old, too\n", False),
        (LocatedRange(1, 2, State.EDITED, Method.FUZZY, 0.4), COMMITTED.text.content, True),
        (LocatedRange(1, 2, State.EXACT, Method.ANCHOR_HASH, 0.99), COMMITTED.text.content, False),
        (
            LocatedRange(1, 2, State.EXACT, Method.ANCHOR_HASH, 0.5, ambiguous=True),
            COMMITTED.text.content,
            True,
        ),
        (LocatedRange(None, None, State.LOST, Method.CONTEXT, 0.0), COMMITTED.text.content, False),
    ],
    ids=[
        "older",
        "one newer",
        "its own commit",
        "a person's are not claimed",
        "edited ones are",
        "nothing claimed",
        "moved, not committed",
        "indented again",
        "a guess",
        "proved",
        "at one of several places",
        "lost",
    ],
)
def test_older_lines_contradict_a_place(located: LocatedRange, text: str, is_older: bool) -> None:
    found = apply_line_ages(located, COMMITTED.of(Text(text)), EDIT)
    assert (found != located, found.is_contradicted) == (is_older, is_older)
    if is_older:
        assert (found.state, found.method, found.older_commit) == (
            State.UNVERIFIED,
            Method.OLDER_THAN_EDIT,
            OLD,
        )
        assert (found.start, found.end) == (located.start, located.end)
