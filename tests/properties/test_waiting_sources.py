"""Whatever happens to the log and to what waits, readers see both as a new reader does (R29)."""

from __future__ import annotations

import json
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from hypothesis import given
from hypothesis import strategies as st

from tests.trails import annotation_id
from vibes_lsp.model.canonical_json import canonical_json
from vibes_lsp.trail.log_index import LogIndex
from vibes_lsp.trail.rows import LogLineKind

if TYPE_CHECKING:
    from collections.abc import Callable


def line(number: int) -> bytes:
    record: dict[str, object] = {"type": "line", "file_path": f"f{number}.py", "note": "n" * number}
    return canonical_json({**record, "annotation_id": annotation_id(record)}) + b"\n"  # type: ignore[dict-item]


ENTRY = b'{"%s":{"type":"prompt"}}\n' % (b"a" * 64)
HEAD = b'{"head":"%s"}\n' % (b"b" * 40)
FILES = ("log", "waiting", "within")
STEPS = st.lists(
    st.tuples(
        st.sampled_from(["append", "replace", "remove", "truncate"]),
        st.sampled_from(FILES),
        st.lists(st.integers(0, 8), max_size=4),
    ),
    min_size=1,
    max_size=8,
)


def change(folder: Path, step: str, name: str, numbers: list[int]) -> None:
    file = folder / name
    data = b"".join(map(line, numbers))
    if name != "log":
        data = HEAD + ENTRY + data
    if step == "append":
        with file.open("ab") as stream:
            stream.write(data)
    elif step == "replace":
        (folder / "new").write_bytes(data)
        (folder / "new").replace(file)
    elif step == "remove":
        file.unlink(missing_ok=True)
    elif file.exists():
        file.write_bytes(file.read_bytes()[: len(data)])


def open_index(folder: Path) -> LogIndex:
    waiting: Callable[[], list[Path]] = lambda: [folder / name for name in FILES[1:]]  # noqa: E731
    return LogIndex(folder / "log", waiting)


def content(index: LogIndex) -> list[tuple[int, str, str, bool]]:
    lines = sorted(index.lines_of(LogLineKind.LINE))
    return [
        (each.line, each.id, json.dumps(each.members, sort_keys=True), each.is_waiting)
        for each in index.records(lines)
    ]


@given(STEPS)
def test_a_follower_has_what_a_new_reader_has(steps: list[tuple[str, str, list[int]]]) -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        index = open_index(folder)
        for step in steps:
            change(folder, *step)
            index.refresh()
            fresh = open_index(folder)
            fresh.refresh()
            assert content(index) == content(fresh)


@given(STEPS)
def test_a_record_that_waits_and_is_logged_is_one(steps: list[tuple[str, str, list[int]]]) -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for step in steps:
            change(folder, *step)
        index = open_index(folder)
        index.refresh()
        found = content(index)
        logged = {identifier for _, identifier, _, is_waiting in found if not is_waiting}
        waiting = [identifier for _, identifier, _, is_waiting in found if is_waiting]
        assert len(waiting) == len(set(waiting))
        assert logged.isdisjoint(waiting)
