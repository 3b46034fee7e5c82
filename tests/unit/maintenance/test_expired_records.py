"""What no commit needed for 30 days is dropped (R29)."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

import pytest

from tests.stories.workspace import Workspace
from tests.unit.store.empty_trail import prompt, session
from vibes_lsp.maintenance.expired_records import drop_expired
from vibes_lsp.store.audit_dir import AuditDir
from vibes_lsp.store.waiting import records_in_journal, register_hook, waiting_place
from vibes_lsp.store.waiting_lines import read_waiting
from vibes_lsp.store.writer import AuditWriter

if TYPE_CHECKING:
    from pathlib import Path

    from vibes_lsp.model.members import Members

NOW = datetime(2026, 6, 30, tzinfo=UTC)


@pytest.fixture
def directory(tmp_path: Path) -> AuditDir:
    work = Workspace(tmp_path / "work")
    work.init()
    found = AuditDir(work.path / ".ai-audit")
    place = waiting_place(found)
    assert place is not None
    register_hook(place, work.hooks() / "pre-commit")
    return found


def edit(days: int, path: str, line: str, **members: object) -> Members:
    moment = (NOW - timedelta(days=days)).isoformat().replace("+00:00", "Z")
    record: Members = {
        "type": "line",
        "file_path": path,
        "line_start": 1,
        "line_end": 1,
        "anchor_context": line,
        "timestamp": moment,
    }
    return {**record, **members}  # type: ignore[dict-item]


def test_old_edits_are_dropped_with_their_entries(directory: AuditDir) -> None:
    writer = AuditWriter(directory)
    old, recent = writer.entries([prompt("old"), prompt("recent")])
    (directory.project / "stands.py").write_text("value_that_stands = 1234\n", "utf-8")
    ids = writer.append(
        [
            edit(40, "gone.py", "value_that_is_gone = 1234", prompt_hash=old),
            edit(40, "stands.py", "value_that_stands = 1234"),
            edit(20, "gone.py", "value_of_late = 1234", prompt_hash=recent),
        ]
    )
    assert drop_expired(directory, NOW) == 1
    waiting = read_waiting(directory)
    assert [record.id for record in waiting.records] == ids[1:]
    assert set(waiting.entries) == {recent}
    assert drop_expired(directory, NOW) == 0


def test_recent_records_are_all_kept(directory: AuditDir) -> None:
    ids = AuditWriter(directory).append([edit(1, "gone.py", "value_that_is_gone = 1234")])
    place = waiting_place(directory)
    assert place is not None
    before = place.records.read_bytes()
    assert drop_expired(directory, NOW) == 0
    assert place.records.read_bytes() == before
    assert [record.id for record in read_waiting(directory).records] == ids


def test_a_recent_entry_that_no_record_names_yet_is_kept(directory: AuditDir) -> None:
    writer = AuditWriter(directory)
    recent = writer.entry(prompt("recent", created_at="2026-06-29T10:00:00.000Z"))
    writer.entry(prompt("old"))
    writer.append([edit(40, "gone.py", "value_that_is_gone = 1234")])
    assert drop_expired(directory, NOW) == 1
    assert set(read_waiting(directory).entries) == {recent}


def test_what_a_removed_work_tree_left_is_dropped_too(directory: AuditDir) -> None:
    writer = AuditWriter(directory)
    writer.append([edit(40, "gone.py", "value_that_is_gone = 1234")])
    place = waiting_place(directory)
    assert place is not None
    abandoned, other = (place.records.with_name(f"worktree-{name}.jsonl") for name in "ab")
    for file in (abandoned, other):
        file.write_bytes(place.records.read_bytes())
    (place.common / "worktrees/b").mkdir(parents=True)
    assert drop_expired(directory, NOW) == 2
    assert (abandoned.read_bytes(), other.read_bytes().count(b"gone.py")) == (b"", 1)


def test_what_waits_in_the_folder_of_the_trail_is_dropped_too(directory: AuditDir) -> None:
    """There it waits where git's folder could not be written."""
    writer = AuditWriter(directory)
    key = writer.entry(prompt("old"))
    line = "value_that_is_gone = 1234"
    writer.append([edit(days, "gone.py", line, prompt_hash=key) for days in (40, 1)])
    place, within = waiting_place(directory), records_in_journal(directory)
    assert place is not None
    within.parent.mkdir(exist_ok=True)
    place.records.rename(within)
    left = within.with_name("0123456789abcdef.tmp")
    left.write_bytes(b"what another program is about to fold")
    assert drop_expired(directory, NOW) == 1
    waiting = read_waiting(directory)
    assert [record.data.count(b"value_that_is_gone") for record in waiting.records] == [1]
    assert set(waiting.entries) == {key}
    assert left.exists()


def test_the_sessions_of_what_is_kept_and_their_parents_are_kept(directory: AuditDir) -> None:
    (directory.project / "stands.py").write_text("value_that_stands = 1234\n", "utf-8")
    writer = AuditWriter(directory)
    writer.append([edit(40, "gone.py", "value_that_is_gone = 1234", session_id="s5")])
    needed: list[Members] = [
        session(1),
        session(2, parent_session_id="s1"),
        {
            "type": "delegation",
            "parent_session_id": "s1",
            "child_session_id": "s2",
            "timestamp": "2026-02-03T10:00:00.000Z",
        },
        _edge("delegated_to", ("s1", "session"), ("s2", "session")),
        edit(40, "stands.py", "value_that_stands = 1234", session_id="s2"),
    ]
    [*ids, stands] = writer.append(needed)
    verdict = _edge("reviewed_by", (stands, "annotation"), ("s3", "session"), session_id="s3")
    ids += [stands, *writer.append([session(3), verdict, session(4)])]
    recent = _edge("caused_by", ("s4", "session"), ("0" * 64, "context"), session_id="s4")
    ids += writer.append([{**recent, "timestamp": "2026-06-29T10:00:00.000Z"}, session(5)])
    assert drop_expired(directory, NOW) == 2
    assert [record.id for record in read_waiting(directory).records] == ids[:-1]


def _edge(
    kind: str, source: tuple[str, str], target: tuple[str, str], **members: object
) -> Members:
    record: Members = {
        "type": "edge",
        "edge_type": kind,
        "source_ref": source[0],
        "source_type": source[1],
        "target_ref": target[0],
        "target_type": target[1],
        "timestamp": "2026-02-03T10:00:00.000Z",
    }
    return {**record, **members}  # type: ignore[dict-item]
