"""`vibes init`: creates what is missing, keeps what exists; the result is valid and merges."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from tests.cli.run_vibes import vibes
from tests.trails import Repository, TrailWriter
from tests.unit.checks.projects import contents

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.cli.run_vibes import RunVibes

FILES = ["config.json", "manifest.json", "annotations.jsonl", ".gitignore", ".gitattributes"]


def test_a_fresh_directory_has_every_file(tmp_path: Path) -> None:
    done = vibes("init", "--agents", "none", cwd=tmp_path)
    assert (done.code, done.err) == (0, "")
    assert done.lines == [
        str(tmp_path / ".ai-audit"),
        *(f"  created  {name}" for name in FILES),
        "Commit .ai-audit/ with your code. Check the setup with `vibes doctor`.",
        "Try it: `vibes record annotate FILE:1-9 --tool chat --model some-model`",
        "records that an AI wrote these lines; then run `vibes review`.",
    ]
    assert sorted(path.name for path in (tmp_path / ".ai-audit").iterdir()) == sorted(FILES)
    assert json.loads((tmp_path / ".ai-audit" / "config.json").read_bytes()) == {
        "standard": "VIBES",
        "standard_version": "1.0",
        "assurance_level": "medium",
        "project_name": tmp_path.name,
    }


def test_the_options_decide_the_policy(tmp_path: Path, run_vibes: RunVibes) -> None:
    options = ["--project-name", "Größe", "--assurance-level", "high", "--extensions", ".py, .ts"]
    assert run_vibes("init", *options, cwd=tmp_path).code == 0
    config = json.loads((tmp_path / ".ai-audit" / "config.json").read_bytes())
    assert (config["project_name"], config["assurance_level"], config["tracked_extensions"]) == (
        "Größe",
        "high",
        [".py", ".ts"],
    )


@pytest.mark.parametrize("folder", ["sub", "./sub", "sub/../sub", "sub/inner/.."])
def test_a_project_is_named_for_its_folder_however_that_is_spelled(
    tmp_path: Path, run_vibes: RunVibes, folder: str
) -> None:
    (tmp_path / "sub" / "inner").mkdir(parents=True)
    assert run_vibes("init", folder, cwd=tmp_path).code == 0
    assert (
        json.loads((tmp_path / "sub" / ".ai-audit" / "config.json").read_bytes())["project_name"]
        == "sub"
    )


def test_json_says_what_was_created_and_kept(tmp_path: Path, run_vibes: RunVibes) -> None:
    (tmp_path / ".ai-audit").mkdir()
    (tmp_path / ".ai-audit" / "config.json").write_text("{}")
    done = run_vibes("init", "--json", cwd=tmp_path)
    assert done.json == {
        "path": str(tmp_path / ".ai-audit"),
        "created": FILES[1:],
        "completed": [],
        "kept": FILES[:1],
    }
    assert (tmp_path / ".ai-audit" / "config.json").read_text() == "{}"


def test_a_second_time_changes_nothing(tmp_path: Path, run_vibes: RunVibes) -> None:
    run_vibes("init", cwd=tmp_path)
    before = contents(tmp_path)
    done = run_vibes(
        "init",
        "--agents",
        "none",
        "--assurance-level",
        "high",
        "--project-name",
        "other",
        cwd=tmp_path,
    )
    directory = tmp_path / ".ai-audit"
    assert (done.code, done.out) == (
        0,
        f"{directory}: complete already; config.json has its settings\n",
    )
    assert contents(tmp_path) == before


@pytest.mark.parametrize("missing", FILES)
def test_what_is_missing_is_added_and_nothing_else_changes(
    tmp_path: Path, run_vibes: RunVibes, missing: str
) -> None:
    run_vibes("init", cwd=tmp_path)
    (tmp_path / ".ai-audit" / missing).unlink()
    before = contents(tmp_path)
    done = run_vibes("init", "--json", cwd=tmp_path)
    assert done.json["created"] == [missing]
    after = contents(tmp_path)
    assert after.pop(f".ai-audit/{missing}") is not None
    assert after == before


@pytest.mark.parametrize("level", ["low", "medium", "high"])
def test_what_it_made_passes_every_check_once_committed(
    tmp_path: Path, run_vibes: RunVibes, level: str
) -> None:
    repository = Repository(tmp_path)
    run_vibes("init", "--assurance-level", level, cwd=tmp_path)
    repository.commit("Start an audit trail")
    report = run_vibes("check", "--base", "HEAD", "--json", cwd=tmp_path)
    assert (report.code, report.json["findings"]) == (0, [])
    assert report.json["entries"]["environment"] == report.json["contextHashes"]["spec"] == 1
    assert repository.git("status", "--porcelain") == ""


def record_on_two_branches(
    root: Path, run_vibes: RunVibes, record: Callable[[TrailWriter, str], object]
) -> None:
    """Start a trail, record on `main` and `topic` an hour apart, and merge them."""
    repository = Repository(root)
    run_vibes("init", cwd=root)
    repository.commit("Start an audit trail")
    repository.branch("topic")
    for branch, start in (("main", "2026-02-03T10:00:00Z"), ("topic", "2026-02-03T11:00:00Z")):
        repository.switch(branch)
        record(TrailWriter(root, start=start), branch)
        repository.commit(f"Record on {branch}")
    repository.merge("main")


def test_entries_of_two_branches_merge_by_plain_git(tmp_path: Path, run_vibes: RunVibes) -> None:
    def record_session(writer: TrailWriter, branch: str) -> None:
        writer.environment(tool=f"tool of {branch}")
        writer.session_end(writer.session_start())

    record_on_two_branches(tmp_path, run_vibes, record_session)
    report = run_vibes("check", "--base", "main", "--json", cwd=tmp_path)
    assert (report.code, report.json["findings"]) == (0, [])
    assert report.json["entries"]["environment"] == 3
    assert report.json["records"]["session"] == 4
    assert run_vibes("check", "--base", "topic", cwd=tmp_path).code == 0


def test_one_entry_recorded_on_two_branches_at_two_times_is_no_contradiction(
    tmp_path: Path, run_vibes: RunVibes
) -> None:
    record_on_two_branches(tmp_path, run_vibes, lambda writer, _: writer.environment())
    report = run_vibes("check", "--json", cwd=tmp_path)
    assert (report.code, report.json["findings"]) == (0, [])


@pytest.mark.parametrize("file", ["config.json", "manifest.json"])
def test_nothing_is_added_to_a_trail_of_another_major_version(
    tmp_path: Path, run_vibes: RunVibes, file: str
) -> None:
    writer = TrailWriter(tmp_path)
    writer.files.write(
        "config.json", b'{"standard_version":"%d.0"}' % (2 if file == "config.json" else 1)
    )
    writer.raw_manifest(
        b'{"standard":"VIBES","version":"%d.0","entries":{}}'
        % (2 if file == "manifest.json" else 1)
    )
    before = contents(tmp_path)
    done = run_vibes("init", cwd=tmp_path)
    assert (done.code, done.out, done.err.count("\n")) == (2, "", 1)
    assert done.err.startswith(f"vibes: unsupported version '2.0' in {file}: expected 1.x")
    assert contents(tmp_path) == before


def test_a_file_in_the_place_of_the_directory_is_wrong_use(
    tmp_path: Path, run_vibes: RunVibes
) -> None:
    (tmp_path / ".ai-audit").write_text("mine")
    done = run_vibes("init", cwd=tmp_path)
    assert (done.code, done.out) == (2, "")
    assert done.err.startswith(f"vibes: cannot create {tmp_path / '.ai-audit'}: ")
    assert (tmp_path / ".ai-audit").read_text() == "mine"


def test_a_folder_that_is_not_there_is_wrong_use(tmp_path: Path, run_vibes: RunVibes) -> None:
    done = run_vibes("init", "gone", cwd=tmp_path)
    assert (done.code, done.out, done.err.count("\n")) == (2, "", 1)
    assert not (tmp_path / "gone").exists()


def test_a_folder_whose_name_is_no_text_can_have_a_trail(
    tmp_path: Path, run_vibes: RunVibes
) -> None:
    folder = tmp_path / b"gr\xf6\xdfe".decode("utf-8", "surrogateescape")
    try:
        folder.mkdir()
    except OSError:
        pytest.skip("this file system has no such names")
    assert run_vibes("init", folder, cwd=tmp_path).code == 0
    assert (
        json.loads((folder / ".ai-audit" / "config.json").read_bytes())["project_name"]
        == "gr\ufffd\ufffde"
    )


def test_prism_is_turned_on_without_editing_json(tmp_path: Path, run_vibes: RunVibes) -> None:
    config = tmp_path / ".ai-audit" / "config.json"
    done = run_vibes("init", "--prism", cwd=tmp_path)
    assert (done.code, done.err) == (0, "")
    assert "Risk scores: turned on" in done.lines
    assert json.loads(config.read_bytes())["risk_scoring"] == {"enabled": True}
    Repository(tmp_path).commit("Begin")
    assert run_vibes("gate", cwd=tmp_path).code == 0
    before = config.read_bytes()
    assert "Risk scores: on already" in run_vibes("init", "--prism", cwd=tmp_path).lines
    assert config.read_bytes() == before


def test_prism_keeps_other_members_of_an_existing_config(
    tmp_path: Path, run_vibes: RunVibes
) -> None:
    config = tmp_path / ".ai-audit" / "config.json"
    run_vibes("init", cwd=tmp_path)
    members = {**json.loads(config.read_bytes()), "x-own": [1, "ü"]}
    members["risk_scoring"] = {"enabled": False, "baseline": 0.2}
    config.write_text(json.dumps(members, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
    assert run_vibes("init", "--prism", cwd=tmp_path).code == 0
    members["risk_scoring"] = {"enabled": True, "baseline": 0.2}
    assert json.loads(config.read_bytes()) == members


@pytest.mark.parametrize(
    "text",
    [
        '{"standard": "VIBES", "standard_version": "1.0"}',
        '{\n    "standard": "VIBES",\n    "standard_version": "1.0"\n}\n',
        "{",
        '{"risk_scoring": "yes"}',
    ],
)
def test_a_config_that_would_lose_its_format_is_left_alone(
    tmp_path: Path, run_vibes: RunVibes, text: str
) -> None:
    config = tmp_path / ".ai-audit" / "config.json"
    run_vibes("init", cwd=tmp_path)
    config.write_text(text, encoding="utf-8")
    done = run_vibes("init", "--prism", cwd=tmp_path)
    assert done.code == 2
    assert 'add "risk_scoring": {"enabled": true} to it' in done.err
    assert config.read_text(encoding="utf-8") == text
