"""`vibes export --current`: current records as an audit trail of their own, all or nothing."""

from __future__ import annotations

import json
import shutil
from typing import TYPE_CHECKING, Any

import pytest

from tests.cli.run_vibes import vibes
from tests.trails import Repository, annotation_id
from tests.unit.checks.projects import Project
from tests.unit.recording.projects import PROMPT, new_project, session_origin
from vibes_lsp.recording import EndSession

if TYPE_CHECKING:
    from pathlib import Path

    from tests.cli.run_vibes import RunVibes
    from tests.trails import CompleteTrail


def exported(folder: Path, kind: str | None = None) -> list[dict[str, Any]]:
    """Return the records of an export, with their ids checked."""
    records = [
        json.loads(line)
        for line in (folder / ".ai-audit" / "annotations.jsonl").read_bytes().splitlines()
    ]
    assert all(
        annotation_id(record) == record["annotation_id"]
        for record in records
        if "annotation_id" in record
    )
    return [record for record in records if kind is None or record["type"] == kind]


def files(folder: Path) -> dict[str, bytes]:
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


def states(project: Path) -> set[tuple[str, int, str]]:
    """Return the places and states of the annotations of a project."""
    found = vibes("find", "--json", cwd=project).json["placements"]
    return {(each["filePath"], each["lineStart"], each["state"]) for each in found}


def test_current_records_are_exported_once_with_their_context(
    valid_trail: CompleteTrail, tmp_path: Path
) -> None:
    done = vibes(
        "export", "--current", tmp_path / "new" / "current", "--json", cwd=valid_trail.root
    )
    assert done.code == 0, done.err
    folder = tmp_path / "new" / "current"
    summary = done.json
    assert summary["directory"] == str(folder / ".ai-audit")
    assert summary["records"] == {
        "line": 4,
        "function": 1,
        "session": 6,
        "edge": summary["records"]["edge"],
        "delegation": 1,
        "other": 0,
    }
    assert summary["leftOut"] == {
        "history": 0,
        "repeated": 0,
        "lost": 0,
        "contradicted": 0,
        "guessed": 0,
        "absent": 0,
        "edges": 2,
    }
    lines = {
        (each["file_path"], each["line_start"], each["line_end"], each["action"])
        for each in exported(folder, "line")
    }
    assert lines == {
        ("src/auth.py", 1, 8, "create"),
        ("src/auth.py", 11, 12, "modify"),
        ("src/middleware.py", 1, 6, "create"),
        ("src/limits.py", 3, 9, "create"),
    }
    checked = vibes("check", "--json", cwd=folder).json
    assert checked["result"] == "PASS"
    assert {finding["check"] for finding in checked["findings"]} <= {"path-foreign"}
    assert summary["blobs"] == 1
    shutil.copytree(valid_trail.root / "src", folder / "src")
    assert states(folder) == states(valid_trail.root)


def test_a_record_that_is_still_correct_is_exported_unchanged(
    valid_trail: CompleteTrail, tmp_path: Path
) -> None:
    vibes("export", "--current", tmp_path / "current", cwd=valid_trail.root)
    original = {record["annotation_id"]: record for record in valid_trail.writer.files.records()}
    records = exported(tmp_path / "current")
    assert original[valid_trail.created] in records
    [moved] = [record for record in records if "source_annotation_id" in record]
    assert moved["source_annotation_id"] == valid_trail.remapped
    assert (moved["timestamp"], moved["commit_hash"]) == (
        original[valid_trail.pending]["timestamp"],
        valid_trail.commit,
    )
    assert {
        edge["source_ref"]
        for edge in records
        if edge["type"] == "edge" and edge["edge_type"] == "caused_by"
    } >= {moved["annotation_id"]}


LINES = [f"line {number}\n" for number in range(1, 11)]
INNER = ["inner 1\n", "inner 2\n"]


@pytest.mark.parametrize(
    ("after", "action", "expected"),
    [
        (
            LINES[:4] + INNER + LINES[4:],
            "create",
            {(2, 5): "outer", (8, 13): "outer", (6, 7): "inner"},
        ),
        (
            LINES[:4] + INNER + LINES[6:],
            "create",
            {(2, 5): "outer", (8, 11): "outer", (6, 7): "inner"},
        ),
        (LINES[:4] + INNER + LINES[4:], "modify", {(2, 13): "outer", (6, 7): "inner"}),
        (LINES[:4] + INNER + LINES[4:], None, {(2, 5): "outer", (8, 13): "outer"}),
    ],
    ids=["a creation inserted", "a creation in place of lines", "a change", "a person's"],
)
def test_every_line_counts_once_as_created(
    tmp_path: Path, after: list[str], action: str | None, expected: dict[tuple[int, int], str]
) -> None:
    project = new_project(tmp_path / "project")
    session = project.session()
    project.file("b.txt", "".join(LINES))
    ids = {
        project.recorder.annotate_lines(
            "b.txt", 1, 10, "create", session_origin(session, prompt=PROMPT)
        ).annotation_id: "outer"
    }
    Repository(project.root).commit("Ten")
    project.file("b.txt", "".join(after))
    if action is not None:
        ids[
            project.recorder.annotate_lines(
                "b.txt", 5, 6, action, session_origin(session)
            ).annotation_id
        ] = "inner"
    project.recorder.execute(EndSession(session_id=session))
    project.file("b.txt", "".join(["a person's\n", *after]))
    done = vibes("export", "--current", tmp_path / "current", "--json", cwd=project.root)
    assert (done.code, done.json["changed"]) == (0, len(expected))
    lines = exported(tmp_path / "current", "line")
    assert {
        (each["line_start"], each["line_end"]): ids[each["source_annotation_id"]] for each in lines
    } == expected
    causes = [
        edge for edge in exported(tmp_path / "current", "edge") if edge["edge_type"] == "caused_by"
    ]
    assert {edge["source_ref"] for edge in causes} == {each["annotation_id"] for each in lines}


def test_lost_and_uncertain_annotations_are_left_out_and_counted(tmp_path: Path) -> None:
    project = new_project(tmp_path / "project")
    session = project.session()
    recorder = project.recorder
    recorder.annotate_lines("a.py", 4, 6, "create", session_origin(session, prompt=PROMPT))
    recorder.annotate_lines("a.py", 4, 6, "modify", session_origin(session))
    recorder.annotate_lines("a.py", 9, 10, "modify", session_origin(session))
    project.file("gone.py", "one\ntwo\nthree\n")
    recorder.annotate_lines("gone.py", 1, 3, "create", session_origin(session))
    recorder.execute(EndSession(session_id=session))
    project.file(
        "a.py",
        "import hashlib\n\n\ndef digest(data):\n    found = hashlib.sha256(data)\n    return found.hexdigest()\n",
    )
    (project.root / "gone.py").unlink()
    done = vibes("export", "--current", tmp_path / "current", "--json", cwd=project.root)
    assert done.json["leftOut"] == {
        "history": 1,
        "repeated": 0,
        "lost": 1,
        "contradicted": 0,
        "guessed": 0,
        "absent": 1,
        "edges": done.json["leftOut"]["edges"],
    }
    [line] = exported(tmp_path / "current", "line")
    assert (line["action"], line["source_action"], line["line_start"]) == ("create", "modify", 4)
    manifest = json.loads((tmp_path / "current" / ".ai-audit" / "manifest.json").read_bytes())
    assert "prompt" not in {entry["type"] for entry in manifest["entries"].values()}, (
        "nothing that stands came from it"
    )


def test_without_a_checkout_the_records_are_as_recorded(
    valid_trail: CompleteTrail, tmp_path: Path
) -> None:
    shutil.copytree(valid_trail.root / ".ai-audit", tmp_path / "trail")
    done = vibes(
        "export",
        "--current",
        tmp_path / "current",
        "--json",
        "--audit-dir",
        tmp_path / "trail",
        cwd=tmp_path,
    )
    assert (done.code, done.json["records"]["line"], done.json["leftOut"]["absent"]) == (0, 4, 0)


def test_unknown_members_and_records_are_exported(project: Project, tmp_path: Path) -> None:
    writer = project.writer
    unknown = writer.record(
        {"type": "checkpoint", "timestamp": "2026-02-03T11:00:00Z", "x": {"deep": [1, None]}}
    )
    writer.raw_log(b"no record\n")
    done = vibes("export", "--current", tmp_path / "current", "--json", cwd=project.root)
    assert (done.code, done.json["records"]["other"]) == (0, 1)
    assert unknown in {record["annotation_id"] for record in exported(tmp_path / "current")}


@pytest.mark.parametrize("place", [".", ".ai-audit", ".ai-audit/new", "src"])
def test_a_folder_with_files_is_refused_and_not_changed(
    project: Project, run_vibes: RunVibes, place: str
) -> None:
    before = files(project.root)
    done = run_vibes("export", "--current", place, cwd=project.root)
    assert done.code == 2
    assert "nothing was written" in done.err
    assert files(project.root) == before


def test_a_file_in_the_place_of_the_folder_is_refused(
    project: Project, run_vibes: RunVibes, tmp_path: Path
) -> None:
    (tmp_path / "file").write_bytes(b"mine")
    assert run_vibes("export", "--current", tmp_path / "file", cwd=project.root).code == 2
    assert (tmp_path / "file").read_bytes() == b"mine"


def test_an_empty_folder_is_accepted(project: Project, run_vibes: RunVibes, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    assert run_vibes("export", "--current", tmp_path / "empty", cwd=project.root).code == 0
    assert [path.name for path in (tmp_path / "empty").iterdir()] == [".ai-audit"]


def test_the_trail_itself_is_not_touched(
    project: Project, run_vibes: RunVibes, tmp_path: Path
) -> None:
    before = files(project.root)
    assert run_vibes("export", "--current", tmp_path / "current", cwd=project.root).code == 0
    assert files(project.root) == before


def test_a_broken_manifest_is_an_error_and_nothing_is_written(
    project: Project, run_vibes: RunVibes, tmp_path: Path
) -> None:
    (project.root / ".ai-audit" / "manifest.json").write_bytes(b'{"standard":')
    done = run_vibes("export", "--current", tmp_path / "current", cwd=project.root)
    assert (done.code, (tmp_path / "current").exists()) == (2, False)
    assert "manifest.json cannot be read" in done.err


def test_a_trail_of_an_unknown_version_is_refused(
    project: Project, run_vibes: RunVibes, tmp_path: Path
) -> None:
    config = project.root / ".ai-audit" / "config.json"
    config.write_bytes(config.read_bytes().replace(b'"1.0"', b'"2.0"'))
    assert run_vibes("export", "--current", tmp_path / "current", cwd=project.root).code == 2
    assert not (tmp_path / "current").exists()


@pytest.mark.parametrize(
    "place",
    [
        "../../secret",
        ".ai-audit/annotations.jsonl",
        ".ai-audit/config.json",
        ".ai-audit/spool/held/secret",
        ".ai-audit/wal/waiting",
        ".ai-audit/audit.db",
    ],
)
def test_a_file_that_is_no_blob_of_the_trail_is_not_exported(
    project: Project, run_vibes: RunVibes, tmp_path: Path, place: str
) -> None:
    path = place.removeprefix(".ai-audit/")
    file = project.root / ".ai-audit" / path
    file.parent.mkdir(parents=True, exist_ok=True)
    if not file.exists():
        file.write_bytes(b"secret")
    key = project.writer.entry(
        {
            "type": "reasoning",
            "reasoning_model": "m",
            "external": True,
            "blob_path": path,
            "created_at": "2026-02-03T11:00:00Z",
        }
    )
    (project.root / "src/new.py").write_text("WIDTH = 1\nHEIGHT = 2\n", encoding="utf-8")
    project.writer.line("src/new.py", 1, 2, reasoning=key)
    done = run_vibes("export", "--current", tmp_path / "current", "--json", cwd=project.root)
    assert (done.code, done.json["missingBlobs"]) == (0, [path])
    assert b"secret" not in files(tmp_path / "current").values()
    assert exported(tmp_path / "current")[0]["type"] == "columns"
