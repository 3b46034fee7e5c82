"""Session files are untrusted: whatever is in them, reading ends, and other files are still read."""

from __future__ import annotations

import json
import random
import sqlite3
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Final

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.unit.agents.written_sessions import WRITERS, Step, replace
from vibes_lsp.agents.edited_lines import text_lines
from vibes_lsp.agents.events import DiffHunk, FileEdit, PatchChunk
from vibes_lsp.agents.past_sessions import READ_AGENTS, read_edits, session_files
from vibes_lsp.agents.session_files import Reading
from vibes_lsp.exchange.commit_search import DatedEdit
from vibes_lsp.exchange.replay import attribute_lines

if TYPE_CHECKING:
    from pathlib import Path

    from vibes_lsp.agents.session_files import AgentEdit

START = datetime(2026, 2, 3, 9, tzinfo=UTC)
STEPS = (
    Step("a.py", None, "one\ntwo\n", prompt="Do it."),
    replace("a.py", "one\ntwo\n", "two\n", "2\n"),
    Step("b.py", None, "sub\n", prompt="Sub.", by_child=True),
)
ODD: Final[tuple[Any, ...]] = (
    None,
    True,
    0,
    -1,
    1e300,
    "",
    "x",
    "\ud800",
    "/",
    "\0",
    [],
    {},
    [[]],
    {"a": {}},
    [None],
)


def read(home: Path, project: Path, agent: str) -> tuple[list[AgentEdit], Reading]:
    reading = Reading()
    files = [(READ_AGENTS[agent], path) for path in session_files(READ_AGENTS[agent], home, {})]
    return list(read_edits(files, [str(project)], reading)), reading


def changed(value: Any, draw: random.Random) -> Any:
    """Return a JSON value of which some parts are others."""
    if draw.random() < 0.05:
        return draw.choice(ODD)
    if isinstance(value, dict):
        return {name: changed(each, draw) for name, each in value.items() if draw.random() > 0.02}
    if isinstance(value, list):
        return [changed(each, draw) for each in value]
    return value


@pytest.mark.parametrize("agent", WRITERS)
def test_all_edits_are_read(agent: str, tmp_path: Path) -> None:
    project = tmp_path / "project"
    WRITERS[agent](tmp_path, project, STEPS, START)
    edits, reading = read(tmp_path, project, agent)
    assert sorted(each.edit.path for each in edits) == [
        str(project / name) for name in ("a.py", "a.py", "b.py")
    ]
    assert reading.broken_lines == 0
    [child] = [each for each in edits if each.session.parent is not None]
    assert child.session.parent in {each.session.id for each in edits}


@pytest.mark.parametrize("agent", WRITERS)
@pytest.mark.parametrize("seed", range(10))
def test_changed_files_do_not_stop_the_reader(agent: str, seed: int, tmp_path: Path) -> None:
    project = tmp_path / "project"
    WRITERS[agent](tmp_path, project, STEPS, START)
    draw = random.Random(seed)
    for path in tmp_path.rglob("*.jsonl"):
        lines = [json.loads(line) for line in path.read_text().splitlines()]
        path.write_text("".join(f"{json.dumps(changed(each, draw))}\n" for each in lines * 5))
    for path in tmp_path.rglob("*.db"):
        database = sqlite3.connect(path)
        for table in ("message", "part"):
            for key, data in database.execute(f"SELECT id, data FROM {table}").fetchall():
                text = json.dumps(changed(json.loads(data), draw))
                database.execute(f"UPDATE {table} SET data = ? WHERE id = ?", (text, key))
        database.commit()
        database.close()
    edits, _ = read(tmp_path, project, agent)
    assert all(isinstance(each.edit.path, str) for each in edits)


@pytest.mark.parametrize(
    "change",
    [
        """DROP TABLE session; CREATE VIEW session AS WITH RECURSIVE endless (id) AS
        (SELECT 1 UNION ALL SELECT id + 1 FROM endless)
        SELECT id, id AS parent_id, id AS directory, id AS version FROM endless""",
        "ALTER TABLE part ADD COLUMN more AS (hex(zeroblob(500000000)))",
        "DROP TABLE message",
    ],
)
def test_a_database_runs_no_code_of_its_own(change: str, tmp_path: Path) -> None:
    project = tmp_path / "project"
    WRITERS["opencode"](tmp_path, project, STEPS, START)
    [path] = tmp_path.rglob("*.db")
    with sqlite3.connect(path) as database:
        database.executescript(change)
    database.close()
    edits, reading = read(tmp_path, project, "opencode")
    assert edits == []
    assert "is not a plain table" in reading.unreadable[0]


def test_a_copied_beginning_of_a_session_counts_once(tmp_path: Path) -> None:
    project = tmp_path / "project"
    WRITERS["claude-code"](tmp_path, project, STEPS[:2], START)
    [path] = (tmp_path / ".claude").rglob("*.jsonl")
    text = path.read_text().replace("5b1cc6a0", "6b1cc6a0")
    path.with_name("resumed.jsonl").write_text(text)
    edits, _ = read(tmp_path, project, "claude-code")
    assert len(edits) == 2


def test_an_older_file_of_codex_has_only_the_patches(tmp_path: Path) -> None:
    project = tmp_path / "project"
    WRITERS["codex"](tmp_path, project, STEPS[:2], START)
    [path] = (tmp_path / ".codex").rglob("*.jsonl")
    lines = [line for line in path.read_text().splitlines() if "FileChange" not in line]
    path.write_text("\n".join(lines))
    edits, _ = read(tmp_path, project, "codex")
    assert [each.edit.creates for each in edits] == [True, False]
    assert edits[1].edit.chunks


TEXTS = st.lists(st.sampled_from(["a", "b", "", "  a", "long line", "}", "x, y"]), max_size=8)
CONTENTS = TEXTS.map(lambda lines: "".join(f"{line}\n" for line in lines))
TAGGED = st.lists(st.tuples(st.sampled_from(" -+"), st.sampled_from(["a", "b", "", "}"])))
EDITS = st.builds(
    FileEdit,
    path=st.just("a.py"),
    creates=st.booleans(),
    deletes=st.booleans(),
    before=st.none() | CONTENTS,
    after=st.none() | CONTENTS,
    old=st.none() | CONTENTS | st.text(" a\n", max_size=3),
    new=st.none() | CONTENTS,
    replace_all=st.booleans(),
    hunks=st.lists(st.builds(DiffHunk, st.integers(-2, 9), TAGGED.map(tuple)), max_size=2).map(
        tuple
    ),
    chunks=st.lists(st.builds(PatchChunk, st.just(()), TAGGED.map(tuple)), max_size=2).map(tuple),
    changed_by_person=st.booleans(),
)


@given(st.lists(CONTENTS, max_size=2), CONTENTS, st.lists(EDITS, min_size=1, max_size=4))
def test_any_edits_give_each_line_of_the_version_one_writer_or_none(
    bases: list[str], version: str, edits: list[FileEdit]
) -> None:
    lines = text_lines(version)
    found = attribute_lines([text_lines(base) for base in bases], lines, edits)
    assert len(found.owners) == len(lines)
    written = {owner.edit for owner in found.owners if owner is not None}
    assert written <= set(range(len(edits)))
    for number in written:
        assert not edits[number].changed_by_person
    assert not bases or lines != text_lines(bases[0]) or not written


@given(EDITS)
def test_compressed_texts_come_back(edit: FileEdit) -> None:
    assert DatedEdit.compressed("a.py", START, edit).whole_edit() == edit
