"""`vibes show`: a record, entry or session by any unique prefix, with its edges, as on disk."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

import pytest

from tests.cli.review_project import ReviewProject
from tests.cli.run_vibes import vibes
from tests.server.project import STORY

if TYPE_CHECKING:
    from pathlib import Path

    from tests.cli.run_vibes import RunVibes
    from tests.trails import CompleteTrail
    from tests.unit.checks.projects import Project


def on_disk(trail: CompleteTrail, identifier: str) -> dict[str, Any]:
    return trail.writer.files.record(identifier)


def test_a_record_is_shown_with_its_context(valid_trail: CompleteTrail) -> None:
    done = vibes("show", valid_trail.created[:12], cwd=valid_trail.root)
    assert (done.code, done.err) == (0, "")
    assert done.lines[0] == f"line {valid_trail.created[:8]}  src/auth.py:1-8"
    assert any(
        re.fullmatch(r"  timestamp +\d+ \w+ ago \(2026-02-03T.*Z\)", line) for line in done.lines
    )
    assert "  prompt_text           Create a sign-up check for email and password." in done.lines
    assert '  model_parameters  {"temperature": 0.2}' in done.lines
    prompt = "Create a sign-up check for email and password."
    assert f"-> caused_by prompt {(valid_trail.prompt or '')[:8]}  {prompt}" in done.lines
    assert any(line.startswith("-> reviewed_by session ") for line in done.lines)


@pytest.mark.parametrize("name", ["compressed_reasoning", "external_reasoning"])
def test_reasoning_is_shown_from_each_form_of_storage(
    valid_trail: CompleteTrail, run_vibes: RunVibes, name: str
) -> None:
    done = run_vibes("show", getattr(valid_trail, name), cwd=valid_trail.root)
    text = {"compressed_reasoning": "Length first. ", "external_reasoning": "Windows slide. "}[name]
    (line,) = [line for line in done.lines if line.startswith("  reasoning_text")]
    assert text * 10 in line
    assert line.endswith("…")


def test_a_record_in_json(valid_trail: CompleteTrail) -> None:
    shown = vibes("show", valid_trail.modified, "--json", cwd=valid_trail.root).json
    assert shown == {
        "kind": "record",
        "id": valid_trail.modified,
        "record": on_disk(valid_trail, valid_trail.modified),
        "edges": {
            "out": [
                on_disk(valid_trail, valid_trail.causes[1]),
                on_disk(valid_trail, valid_trail.informed_by),
            ],
            "in": [],
        },
    }


def test_edges_of_any_member_are_those_of_the_lineage(
    valid_trail: CompleteTrail, run_vibes: RunVibes
) -> None:
    shown = [
        run_vibes("show", identifier, "--json", cwd=valid_trail.root).json
        for identifier in valid_trail.lineage
    ]
    assert [each["record"]["annotation_id"] for each in shown] == list(valid_trail.lineage)
    assert all(
        on_disk(valid_trail, valid_trail.causes[4]) in each["edges"]["out"] for each in shown
    )


def test_an_edge_within_a_lineage_is_printed_once(
    valid_trail: CompleteTrail, run_vibes: RunVibes
) -> None:
    for identifier in valid_trail.lineage:
        lines = run_vibes("show", identifier, cwd=valid_trail.root).lines
        joining = [line for line in lines if "supersedes" in line]
        assert joining
        assert all(line.startswith("-> ") for line in joining)


def test_an_entry_in_json(valid_trail: CompleteTrail, run_vibes: RunVibes) -> None:
    key = valid_trail.prompt or ""
    shown = run_vibes("show", key[:10], "--json", cwd=valid_trail.root).json
    entry = json.loads(valid_trail.writer.files.manifest.read_bytes())["entries"][key]
    assert (shown["kind"], shown["id"], shown["entry"]) == ("entry", key, entry)
    assert [edge["edge_type"] for edge in shown["edges"]["in"]] == ["caused_by"] * 3


def test_a_session_in_json(valid_trail: CompleteTrail, run_vibes: RunVibes) -> None:
    shown = run_vibes("show", valid_trail.worker_session, "--json", cwd=valid_trail.root).json
    assert (shown["kind"], shown["id"]) == ("session", valid_trail.worker_session)
    assert [record["event"] for record in shown["records"]] == ["start", "end"]
    assert shown["record"] == shown["records"][0]
    assert [edge["edge_type"] for edge in shown["edges"]["in"]] == ["delegated_to", "caused_by"]


@pytest.mark.parametrize(
    ("prefix", "message"),
    [
        (
            "ffffffff",
            "vibes: no record, context entry or session has an id that starts with 'ffffffff'; `vibes log` lists the records\n",
        ),
        ("abc", "vibes: id 'abc' is too short; give at least 4 characters\n"),
        ("", "vibes: id '' is too short; give at least 4 characters\n"),
    ],
)
def test_an_id_that_names_nothing_is_wrong_use(
    valid_trail: CompleteTrail, run_vibes: RunVibes, prefix: str, message: str
) -> None:
    done = run_vibes("show", prefix, cwd=valid_trail.root)
    assert (done.code, done.out, done.err) == (2, "", message)


def test_a_prefix_of_two_ids_is_wrong_use(project: Project, run_vibes: RunVibes) -> None:
    for session in ("same-start-1", "same-start-2"):
        project.writer.session_start(session_id=session)
    done = run_vibes("show", "same-start", cwd=project.root)
    assert (done.code, done.out) == (2, "")
    assert (
        done.err
        == "vibes: ambiguous id 'same-start': 2 ids start with it: session same-start-1, session same-start-2; give more characters\n"
    )


def test_without_a_manifest_the_context_is_not_published(
    project: Project, run_vibes: RunVibes
) -> None:
    project.writer.files.manifest.unlink()
    done = run_vibes("show", project.trail.created, cwd=project.root)
    assert done.code == 0
    assert f"prompt {(project.trail.prompt or '')[:8]}: context not published" in done.lines


def test_a_line_is_shown_with_who_wrote_it_and_whether_it_is_still_the_same(
    tmp_path: Path, run_vibes: RunVibes
) -> None:
    story = ReviewProject(tmp_path / "story")
    story.review(story.same)
    story.file("a.py", STORY.replace("sha256(payload)", "sha512(payload)"))
    lines = run_vibes("show", "a.py:6", cwd=story.root).lines
    assert lines[0] == "a.py:4-7  line 6: claimed without proof"
    assert re.fullmatch(
        f"{story.digest[:8]} claude-opus-4-5 · Claude Code · create"
        r" · edited since \(was lines 4-7\) · .* ago|.* just now",
        lines[1],
    )
    assert lines[2:5] == [
        "risk: 0.90 critical (as recorded)",
        "prompt: Store it.",
        "review: not reviewed",
    ]
    assert lines[5] == "decision: Which digest"
    assert run_vibes("show", "a.py:4", cwd=story.root).lines[0] == (
        "a.py:4-7  line 4: claimed without proof"
    )
    approved = run_vibes("show", "a.py:10-11", cwd=story.root).lines
    assert approved[0] == "a.py:10-13"
    assert "review: approved by Ada" in approved
    both = run_vibes("show", f"{story.root}/a.py:1-13", cwd=tmp_path)
    assert [line for line in both.lines if line.startswith("a.py:")] == ["a.py:4-7", "a.py:10-13"]


def test_lines_in_json_are_those_of_blame(tmp_path: Path, run_vibes: RunVibes) -> None:
    story = ReviewProject(tmp_path / "story")
    shown = run_vibes("show", "a.py:5", "--json", cwd=story.root).json
    whole = run_vibes("blame", "a.py", "--json", cwd=story.root).json
    assert shown["placements"] == [
        each for each in whole["placements"] if each["annotationId"] == story.digest
    ]
    assert [each["line"] for each in shown["lines"]] == [4, 5, 6, 7]


@pytest.mark.parametrize(
    ("place", "message"),
    [
        ("a.py:99", "a.py has 13 lines, not 99"),
        ("a.py:1-99", "a.py has 13 lines, not 99"),
        ("a.py:99:1", "a.py has 13 lines, not 99"),
        (f"a.py:{10**19}", "a.py has 13 lines, not 10,000,000,000,000,000,000"),
        ("a.py:0", "invalid place 'a.py:0': lines count from 1"),
        ("a.py:3-2", "invalid place 'a.py:3-2': line 2 is before line 3"),
        ("c.py:3", "c.py does not exist; give a file of the project"),
        ("a.py", "a.py is a file; name a line of it, or use `vibes blame a.py`"),
    ],
)
def test_lines_that_are_not_there_are_wrong_use(
    tmp_path: Path, run_vibes: RunVibes, place: str, message: str
) -> None:
    done = run_vibes("show", place, cwd=ReviewProject(tmp_path / "story").root)
    assert (done.code, done.out, done.err) == (2, "", f"vibes: {message}\n")


def test_the_column_that_a_compiler_prints_is_ignored(tmp_path: Path, run_vibes: RunVibes) -> None:
    root = ReviewProject(tmp_path / "story").root
    (root / "b:4.py").write_text("x\n")
    with_column, without = (run_vibes("show", each, cwd=root) for each in ("a.py:5:9", "a.py:5"))
    assert (with_column.code, with_column.out) == (0, without.out)
    other = run_vibes("show", "b:4.py:1", cwd=root)
    assert other.out == "no AI edit is recorded for line 1 of b:4.py\n"


def test_a_line_that_no_ai_wrote(tmp_path: Path, run_vibes: RunVibes) -> None:
    done = run_vibes("show", "a.py:1", cwd=ReviewProject(tmp_path / "story").root)
    assert (done.code, done.out) == (0, "no AI edit is recorded for line 1 of a.py\n")


def test_a_record_says_where_its_lines_are_now_and_who_reviewed_them(
    tmp_path: Path, run_vibes: RunVibes
) -> None:
    story = ReviewProject(tmp_path / "story")
    story.review(story.digest)
    story.file("a.py", "# moved\n" + STORY)
    lines = run_vibes("show", story.digest, cwd=story.root).lines
    assert lines[0] == f"line {story.digest[:8]}  a.py:4-7"
    assert [line.split(maxsplit=1) for line in lines[1:3]] == [
        ["now", "a.py:5-8, moved from lines 4-7"],
        ["review", "approved by Ada"],
    ]
    (story.root / "a.py").unlink()
    gone = run_vibes("show", story.digest, cwd=story.root).lines
    assert gone[1].split(maxsplit=1) == ["now", "a.py does not exist"]


def test_a_path_with_backslashes_is_that_of_its_file(project: Project) -> None:
    text = (project.root / "src/auth.py").read_text()
    with_backslash = project.writer.line("src\\auth.py", 1, 2, text=text)
    done = vibes("show", with_backslash, cwd=project.root)
    (now,) = [line for line in done.lines if line.startswith("  now ")]
    assert "does not exist" not in now
    assert "src/auth.py" in now


@pytest.mark.parametrize("command", ["show", "show --graph"])
def test_an_id_that_two_annotations_have_is_named_with_both_places(
    project: Project, run_vibes: RunVibes, command: str
) -> None:
    for path in ("src/one.py", "src/two.py"):
        project.line(path, annotation_id="ab" * 32)
    done = run_vibes(*command.split(), "abab", cwd=project.root)
    assert done.code == 0
    assert done.err == (
        "vibes: warning: the id abababab of src/one.py:1-2, which is shown, is also that of"
        " src/two.py:1-2; `vibes check` says which ids are wrong\n"
    )
    assert run_vibes(*command.split(), project.trail.created, cwd=project.root).err == ""
