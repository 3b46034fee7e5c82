"""What is shown once (R18), what lies in no file of this checkout (R19), and what sessions say of themselves."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.trails import OMIT, TrailWriter, complete, quirks
from tests.unit.index.opened import opened
from vibes_lsp.index.placements import ShownLineage, deduplicate
from vibes_lsp.index.project_files import foreign_paths

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def writer(tmp_path: Path) -> TrailWriter:
    writer = TrailWriter(tmp_path)
    writer.environment()
    return writer


def shown(writer: TrailWriter) -> list[ShownLineage]:
    return deduplicate(opened(writer.root).lineages_in("a.py"))


def ids(each: ShownLineage) -> tuple[str, ...]:
    return tuple(lineage.current.id for lineage in (*each.duplicates, each.lineage))


def test_placeholders_are_shown_once_for_the_file(writer: TrailWriter) -> None:
    real = writer.line("a.py", 1, 1, text="a\n", action="modify")
    made = tuple(
        writer.line("a.py", 1, 1, action="modify", command=writer.command(f"edit {n}"))
        for n in range(3)
    )
    one, stand_in = shown(writer)
    assert (ids(one), one.is_placeholder) == ((real,), False)
    assert (ids(stand_in), stand_in.is_placeholder) == (made, True)


def test_one_unanchored_change_of_line_one_is_taken_at_its_word(writer: TrailWriter) -> None:
    made = writer.line("a.py", 1, 1, action="modify")
    (one,) = shown(writer)
    assert (ids(one), one.is_placeholder) == ((made,), False)


@pytest.mark.parametrize(
    ("end", "action", "text"),
    [(2, "modify", None), (1, "create", None), (1, "modify", "a\n"), (1, "delete", None)],
)
def test_what_is_no_placeholder(
    writer: TrailWriter, end: int, action: str, text: str | None
) -> None:
    for number in range(2):
        writer.line("a.py", 1, end, action=action, text=text, prompt=writer.prompt(f"Do {number}"))
    assert [each.is_placeholder for each in shown(writer)] == [False, False]


def test_repeats_are_shown_once_the_last_one(writer: TrailWriter) -> None:
    made = tuple(
        writer.line("a.py", 3, 4, session=f"s{n}", commit="ab" * n or None) for n in range(3)
    )
    other = writer.line("a.py", 3, 5)
    one, more = shown(writer)
    assert ids(one) == made
    assert one.lineage.current.id == made[-1]
    assert ids(more) == (other,)


def test_null_and_absent_are_no_difference_between_repeats(writer: TrailWriter) -> None:
    made = (
        writer.line("a.py", 3, 4, prompt_hash=None),
        writer.line("a.py", 3, 4, commit_hash=OMIT),
    )
    assert [ids(each) for each in shown(writer)] == [made]


def test_another_prompt_is_another_edit(writer: TrailWriter) -> None:
    for text in ("One", "Two"):
        writer.line("a.py", 3, 4, prompt=writer.prompt(text))
    assert len(shown(writer)) == 2


def test_what_is_shown_is_in_the_order_of_rank(writer: TrailWriter) -> None:
    first = writer.line("a.py", 1, 1, action="modify")
    second = writer.line("a.py", 7, 8)
    third = writer.line("a.py", 1, 1, action="modify")
    assert [ids(each) for each in shown(writer)] == [(second,), (first, third)]


def test_foreign_paths_of_a_real_looking_trail(tmp_path: Path) -> None:
    made = quirks(tmp_path / "project")
    trail = opened(made.root)
    found = foreign_paths(trail.annotated_paths(), made.root)
    assert found[made["foreign-path"].paths[0]] == "absolute"
    assert found[made["sibling-path"].paths[0]] == "missing"
    assert "src/area.py" not in found


@pytest.mark.parametrize(
    ("path", "reason"),
    [
        ("/etc/hosts", "absolute"),
        ("C:\\code\\a.py", "absolute"),
        ("c:/code/a.py", "absolute"),
        ("\\\\server\\share\\a.py", "absolute"),
        ("\\etc\\hosts", "absolute"),
        ("file:///a.py", "absolute"),
        ("../a.py", "outside the project"),
        ("src\\..\\..\\a.py", "outside the project"),
        (" ", "invalid"),
        ("a\0.py", "invalid"),
        ("\ud800.py", "missing"),
        ("x" * 5000, "too long"),
        ("src", "missing"),
        ("none.py", "missing"),
    ],
)
def test_why_a_path_is_foreign(tmp_path: Path, path: str, reason: str) -> None:
    (tmp_path / "src").mkdir()
    assert foreign_paths([path], tmp_path) == {path: reason}


@pytest.mark.parametrize(
    "path", ["src/a.py", "./src/a.py", "src//a.py", "src\\a.py", "src/../src/a.py"]
)
def test_spellings_of_a_file_that_is_there_are_not_foreign(tmp_path: Path, path: str) -> None:
    (tmp_path / "src").mkdir()
    (tmp_path / "src/a.py").touch()
    assert foreign_paths([path], tmp_path) == {}


def test_all_spellings_of_a_path_are_one_file(writer: TrailWriter) -> None:
    made = [
        writer.line(path, 1 + n, 1 + n)
        for n, path in enumerate(("src/a.py", "./src/a.py", "src\\a.py"))
    ]
    trail = opened(writer.root)
    assert [lineage.current.id for lineage in trail.lineages_in("src/a.py")] == made
    assert trail.lineages_in("./src/a.py") == trail.lineages_in("src/a.py")


def test_sessions_of_a_complete_trail(tmp_path: Path) -> None:
    made = complete(tmp_path)
    log = opened(tmp_path).log
    lead, worker, reviewer = log.sessions()
    assert (lead.id, worker.id) == (made.session, made.worker_session)
    assert not any(session.is_open for session in (lead, worker, reviewer))
    assert worker.text("parent_session_id") == made.session
    assert reviewer.text("agent_type") == "human"
    assert log.session("none") is None


def test_an_unfinished_session_is_open_and_an_end_alone_is_not(writer: TrailWriter) -> None:
    started = writer.session_start()
    writer.session_end("elsewhere")
    log = opened(writer.root).log
    one, other = log.sessions()
    assert (one.id, one.is_open) == (started, True)
    assert (other.id, other.is_open, other.start) == ("elsewhere", False, None)
    assert len(other.ends) == 1


def test_a_session_without_an_id_is_none_and_a_record_that_stands_twice_is_one(
    writer: TrailWriter,
) -> None:
    writer.record({"type": "session", "event": "start"})
    writer.session_start(session_id="s")
    writer.raw_log(writer.files.log.read_bytes())
    writer.record(
        {"type": "session", "event": "pause", "session_id": "s", "description": "ignored"}
    )
    (session,) = opened(writer.root).log.sessions()
    assert (session.id, len(session.starts), session.ends) == ("s", 1, ())
    assert session.text("description") is None
