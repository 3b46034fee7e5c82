"""Placements that follow new records equal those of a file that is placed again."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Final

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from tests.trails import TrailWriter
from vibes_lsp.anchors.location import OriginalText
from vibes_lsp.anchors.text import Text
from vibes_lsp.index.file_history import NO_HISTORY, FileHistory
from vibes_lsp.index.locate_annotations import locate_annotations
from vibes_lsp.index.placed_file import PlacedFile
from vibes_lsp.placing.placements import Placement
from vibes_lsp.store.audit_dir import AuditDir
from vibes_lsp.trail.lineage import Lineage
from vibes_lsp.trail.trail import Trail

BLOCK: Final = (
    "def function_{0}():\n    value = compute({0})\n    if not value:\n        return\n\n"
)
NOW: Final = "".join(map(BLOCK.format, (0, 1, 2, 1, 3)))
"""The text that annotations are placed in; one block has a copy."""
BEFORE: Final = {
    "same": NOW,
    "shifted": f"import os\nimport sys\n\n{NOW}",
    "other": "".join(map(BLOCK.format, (2, 0, 4, 3))),
    "gone": "".join(f"gone_{number} = {number}\n" for number in range(9)),
}
ACTIONS: Final = ("create", "modify", "delete", "review")

Annotation = tuple[str, str, str, int, int]
Step = Sequence[Annotation | tuple[str, int, int]]

recorded = st.tuples(
    st.sampled_from(("line", "line", "line", "bare", "nowhere", "function", "moved in")),
    st.sampled_from(("same", "same", "same", "shifted", "other", "gone")),
    st.sampled_from(ACTIONS),
    st.integers(1, 25),
    st.integers(0, 8),
)
edges = st.tuples(st.sampled_from(("covers", "commit", "review")), st.integers(0), st.integers(0))
batches = st.lists(st.lists(recorded | edges, min_size=1, max_size=3), max_size=5)


EARLY: Final = "2020-02-03T10:00:00.000Z"
LOST: Final = ("line", "gone", "create", 1, 3)
WHOLE: Final = ("line", "same", "create", 1, 30)


class Recording:
    """A trail that grows, and the ids of its annotations."""

    def __init__(self, root: Path) -> None:
        self._writer = TrailWriter(root)
        self._writer.config()
        self._writer.environment()
        self._ids: list[str] = []
        self.directory = AuditDir(root / ".ai-audit")

    def append(self, batch: Step) -> None:
        for each in batch:
            if len(each) == 5:
                self._ids.append(self._annotate(*each))
            elif self._ids:
                self._connect(*each)

    def _annotate(self, kind: str, version: str, action: str, start: int, more: int) -> str:
        text = BEFORE[version]
        start = min(start, text.count("\n"))
        end = min(start + more, text.count("\n"))
        path = "b.py" if kind == "moved in" else "a.py"
        if kind == "function":
            return self._writer.function(path, f"function_{more % 5}", text=text, action=action)
        if kind == "nowhere":
            return self._writer.line(path, 0, 0, action=action, timestamp=EARLY)
        return self._writer.line(
            path, start, end, text=None if kind == "bare" else text, action=action
        )

    def _connect(self, reason: str, source: int, target: int) -> None:
        newer, older = self._ids[source % len(self._ids)], self._ids[target % len(self._ids)]
        if reason == "review":
            self._writer.review(older)
        elif newer != older:
            self._writer.edge(
                "supersedes", newer, older, target_type="annotation", metadata={"reason": reason}
            )

    def trail(self) -> Trail:
        trail = Trail(self.directory)
        trail.refresh()
        return trail


def place(trail: Trail, text: Text, history: FileHistory) -> tuple[Placement, ...]:
    return tuple(locate_annotations(trail, "a.py", text, history))


def lineages(trail: Trail, history: FileHistory) -> list[Lineage]:
    return [each for name in ("a.py", *history.former_paths) for each in trail.lineages_in(name)]


def placed_file(trail: Trail, text: Text, history: FileHistory) -> PlacedFile:
    placements = place(trail, text, history)
    return PlacedFile("a.py", text, history, lineages(trail, history), placements)


@given(
    batches,
    st.sampled_from((NOW, BEFORE["shifted"], BEFORE["other"])),
    st.sampled_from((NO_HISTORY, FileHistory(former_paths=("b.py",)))),
)
@example(
    [[("line", "same", "create", 1, 8)], [("line", "same", "modify", 3, 2), ("covers", 1, 0)]],
    NOW,
    NO_HISTORY,
)
@example([[LOST, WHOLE], [("line", "same", "modify", 3, 2), ("covers", 2, 1)]], NOW, NO_HISTORY)
@example([[LOST, WHOLE], [("line", "same", "modify", 3, 2), ("covers", 2, 0)]], NOW, NO_HISTORY)
@example([[LOST], [WHOLE]], NOW, NO_HISTORY)
@example(
    [
        [("line", "same", "create", 1, 1)],
        [("line", "same", "create", 1, 2), ("line", "same", "create", 1, 0), ("covers", 0, 1)],
        [("covers", 2, 0)],
    ],
    NOW,
    NO_HISTORY,
)
@example(
    [
        [("line", "same", "create", 1, 1), ("line", "same", "create", 1, 1), ("covers", 0, 1)],
        [("covers", 1, 0)],
    ],
    NOW,
    NO_HISTORY,
)
@example([[WHOLE], [("nowhere", "same", "create", 1, 0)]], NOW, NO_HISTORY)
@example([[("bare", "same", "modify", 1, 0)], [("bare", "same", "modify", 1, 0)]], NOW, NO_HISTORY)
@example(
    [
        [
            ("line", "same", "create", 3, 3),
            ("line", "same", "create", 2, 5),
            ("line", "same", "create", 4, 1),
        ],
        [("line", "same", "create", 20, 1), ("covers", 3, 2)],
    ],
    NOW,
    NO_HISTORY,
)
def test_placements_that_follow_records_are_those_of_a_file_placed_again(
    written: list[Step], content: str, history: FileHistory
) -> None:
    text = Text(content)
    with tempfile.TemporaryDirectory() as folder:
        recording = Recording(Path(folder))
        running = recording.trail()
        file = placed_file(running, text, history)
        for batch in written:
            recording.append(batch)
            running.refresh()
            if file.update(lineages(running, history)) is None:
                file = placed_file(running, text, history)
            fresh = place(recording.trail(), text, history)
            assert file.placements == fresh
            for line in range(1, len(text.lines) + 1):
                here = [
                    each
                    for each in fresh
                    if each.located.start is not None
                    and each.located.start <= line <= (each.located.end or 0)
                ]
                assert file.by_line.at(line) == here


class TestWhatFollows:
    """Most records of agents and editors need no second look at the other annotations."""

    @pytest.fixture
    def recording(self, tmp_path: Path) -> Recording:
        recording = Recording(tmp_path)
        recording.append([("line", "shifted", "create", 4, 3), ("line", "other", "create", 1, 4)])
        return recording

    @pytest.mark.parametrize(
        "batch",
        [
            [("line", "same", "modify", 6, 2)],
            [("line", "same", "modify", 6, 2), ("covers", 2, 0)],
            [("covers", 1, 0)],
            [("review", 0, 0)],
            [("line", "same", "review", 2, 1)],
            [("function", "same", "create", 1, 2)],
            [("line", "same", "create", 1, 1), ("line", "same", "create", 7, 1)],
            [("line", "same", "create", 6, 4), ("line", "same", "create", 16, 4)],
        ],
        ids=[
            "edit",
            "edit that covers",
            "edge",
            "review edge",
            "review",
            "function",
            "two edits",
            "two edits of equal text",
        ],
    )
    def test_a_record_of_this_text(self, recording: Recording, batch: Step) -> None:
        trail = recording.trail()
        file = placed_file(trail, Text(NOW), NO_HISTORY)
        recording.append(batch)
        trail.refresh()
        assert file.update(trail.lineages_in("a.py")) is not None

    @pytest.mark.parametrize(
        "batch",
        [
            [("line", "other", "modify", 6, 2)],
            [("bare", "same", "modify", 6, 2)],
            [("line", "same", "create", 1, 40)],
            [("line", "shifted", "create", 4, 3)],
            [("line", "same", "create", 1, 3)],
            [("commit", 1, 0)],
        ],
        ids=[
            "another text",
            "no anchors",
            "whole file",
            "equal record",
            "text of an earlier one",
            "one edit",
        ],
    )
    def test_a_record_that_may_concern_others(self, recording: Recording, batch: Step) -> None:
        trail = recording.trail()
        file = placed_file(trail, Text(NOW), NO_HISTORY)
        before = file.placements
        recording.append(batch)
        trail.refresh()
        assert file.update(trail.lineages_in("a.py")) is None
        assert file.placements is before

    def test_a_record_that_history_knows(self, recording: Recording) -> None:
        trail = recording.trail()
        recording.append([("line", "same", "modify", 6, 2)])
        trail_now = recording.trail()
        newest = trail_now.lineages_in("a.py")[-1].first.id
        history = FileHistory(original_texts={newest: OriginalText(Text(NOW), 6, 8)})
        file = placed_file(trail, Text(NOW), history)
        trail.refresh()
        assert file.update(trail.lineages_in("a.py")) is None

    def test_many_records_are_found_by_their_lines(self, recording: Recording) -> None:
        trail = recording.trail()
        file = placed_file(trail, Text(NOW), NO_HISTORY)
        for number in range(40):
            start, more = 1 + number % 20, 1 + number % 3
            recording.append([("line", "same", ACTIONS[number % 2], start, more)])
            trail.refresh()
            if file.update(trail.lineages_in("a.py")) is None:
                file = placed_file(trail, Text(NOW), NO_HISTORY)
            assert file.by_line.at(start) == placed_file(trail, Text(NOW), NO_HISTORY).by_line.at(
                start
            )
