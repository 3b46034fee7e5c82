"""Exit codes of recording commands: after the answer is printed, problems are warnings."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Final

import pytest

from tests.cli.run_vibes import vibes
from tests.stories.workspace import Workspace
from tests.unit.recording.projects import new_project
from vibes_lsp.recording.recorder import Recorder
from vibes_lsp.store import writer

if TYPE_CHECKING:
    from pathlib import Path

    from tests.cli.run_vibes import CommandResult, RunVibes
    from tests.unit.recording.projects import Project

KEY: Final = b"a" * 64
MANIFESTS: Final = {
    "not UTF-8": b'{"standard":"VIBES","version":"1.0","entries":{"%s":{"type":"prompt","prompt_text":"tr\xe9s"}}}'
    % KEY,
    "number with more than": b'{"standard":"VIBES","version":"1.0","entries":{"%s":{"type":"prompt","x":%s}}}'
    % (KEY, b"7" * 5000),
    "nested deeper than": b'{"standard":"VIBES","version":"1.0","entries":{"%s":{"x":%s}}}'
    % (KEY, b"[" * 900 + b"]" * 900),
    "is out of range": b'{"standard":"VIBES","version":"1.0","x":1e999,"entries":{}}',
    "duplicate member": b'{"standard":"VIBES","version":"1.0","entries":{"%s":{"type":"prompt","type":"command"}}}'
    % KEY,
    "not UTF-8 (line 2, ": b'{"standard":"VIBES","version":"1.0","entries":{\n"%s":{"type":"prompt","prompt_text":"tr\xe9s"}\n}}\n'
    % KEY,
}
"""What the strict parser says -> a manifest that a quick look takes for sound."""
REQUEST: Final = {
    "file": "a.py",
    "lineStart": 4,
    "lineEnd": 6,
    "action": "create",
    "tool": {"name": "Some Tool", "version": "1"},
    "model": {"name": "some-model", "version": "1"},
    "prompt": {"text": "Write a digest.", "type": "user_instruction"},
}


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return new_project(tmp_path / "project")


def said(run_vibes: RunVibes, project: Project, name: str, **members: Any) -> CommandResult:
    source = project.root / "request.json"
    source.write_text(json.dumps(members))
    done: CommandResult = run_vibes("record", name, "--input", source, cwd=project.root)
    return done


@pytest.mark.parametrize("reason", MANIFESTS)
def test_a_record_beside_a_manifest_that_is_not_strict_is_kept_and_warned_about(
    project: Project, run_vibes: RunVibes, reason: str
) -> None:
    manifest = project.root / ".ai-audit/manifest.json"
    manifest.write_bytes(MANIFESTS[reason])
    done = said(run_vibes, project, "annotate", **REQUEST)
    assert done.code == 0, done.err
    assert done.err.startswith("vibes: warning: recorded, but manifest.json cannot be parsed: ")
    assert reason in done.err
    assert "new entries stay in the journal" in done.err
    assert done.err.count("\n") == 1
    assert manifest.read_bytes() == MANIFESTS[reason]
    assert done.json["record"] == project.records("line")[0]
    shown = run_vibes("show", done.json["record"]["prompt_hash"], "--json", cwd=project.root)
    assert shown.json["entry"]["prompt_text"] == "Write a digest."
    report = run_vibes("check", "--json", cwd=project.root).json
    assert report["result"] == "FAIL"
    assert reason.partition(" (")[0] in json.dumps(report)


def test_it_holds_in_a_separate_process(project: Project) -> None:
    (project.root / ".ai-audit/manifest.json").write_bytes(MANIFESTS["not UTF-8"])
    (project.root / "request.json").write_text(json.dumps(REQUEST))
    done = vibes("record", "annotate", "--input", "request.json", cwd=project.root)
    assert (done.code, done.err.count("\n")) == (0, 1)
    assert done.json["annotationId"]


def test_a_session_that_ends_beside_a_broken_manifest_has_ended(
    project: Project, run_vibes: RunVibes
) -> None:
    session = said(
        run_vibes, project, "session-start", tool=REQUEST["tool"], model=REQUEST["model"]
    ).json["sessionId"]
    (project.root / ".ai-audit/manifest.json").write_bytes(MANIFESTS["not UTF-8"])
    said(run_vibes, project, "annotate", **{**REQUEST, "sessionId": session})
    done = said(run_vibes, project, "session-end", sessionId=session)
    assert (done.code, done.json, done.err.count("\n")) == (0, {}, 1)
    assert [each["event"] for each in project.records("session")] == ["start", "end"]


def test_an_internal_error_after_the_answer_is_a_warning(
    project: Project, run_vibes_unchecked: RunVibes, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails(*_arguments: object, **_named: object) -> int:
        raise KeyError("a text of the trail")

    monkeypatch.setattr(writer, "fold_journal", fails)
    done = said(run_vibes_unchecked, project, "annotate", **REQUEST)
    assert done.code == 0
    assert done.err.startswith("vibes: warning: recorded, but internal error ")
    assert "KeyError in store/writer.py:" in done.err
    assert "a text of the trail" not in done.err
    assert done.err.count("\n") == 1


def test_an_internal_error_before_writing_is_an_error(
    project: Project, run_vibes_unchecked: RunVibes, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails(*_arguments: object, **_named: object) -> int:
        raise KeyError("a text of the trail")

    before = (project.root / ".ai-audit/annotations.jsonl").read_bytes()
    monkeypatch.setattr(Recorder, "execute_json", fails)
    done = said(run_vibes_unchecked, project, "annotate", **REQUEST)
    assert (done.code, done.out) == (2, "")
    assert done.err.startswith("vibes: internal error ")
    assert (project.root / ".ai-audit/annotations.jsonl").read_bytes() == before


@pytest.mark.parametrize("flags", [[], ["--json"]])
def test_a_backfill_beside_a_broken_manifest_prints_what_it_wrote(
    tmp_path: Path, run_vibes: RunVibes, flags: list[str]
) -> None:
    workspace = Workspace(tmp_path / "project", hook=False)
    workspace.init()
    workspace.write_as_ai("a.py", "one = 1\ntwo = 2\nthree = 3\n", 1, 3)
    workspace.step("add", ".")
    workspace.step("commit", "-m", "Add a.py")
    workspace.step("commit", "--allow-empty", "-m", "More")
    workspace.record_decision("Which", fold=False)
    manifest = workspace.path / ".ai-audit/manifest.json"
    data = manifest.read_bytes().replace(b'"created_at"', b'"note":"tr\xe9s","created_at"', 1)
    manifest.write_bytes(data)
    done = run_vibes("backfill", *flags, cwd=workspace.path)
    assert done.code == 0, done.err
    assert "recorded, but manifest.json cannot be parsed: not UTF-8" in done.err
    assert len(workspace.backfilled_commits()) == 1
    assert ("1 backfilled" in done.out) or len(done.json["backfilled"]) == 1
    assert manifest.read_bytes() == data


def test_an_entry_of_another_tool_that_is_not_strict_is_not_folded(
    project: Project, run_vibes: RunVibes
) -> None:
    manifest = project.root / ".ai-audit/manifest.json"
    (project.root / ".ai-audit/wal").mkdir()
    foreign = project.root / ".ai-audit/wal/other.jsonl"
    foreign.write_bytes(b'{"%s":{"type":"prompt","prompt_text":"tr\xe9s"}}\n' % KEY)
    done = said(run_vibes, project, "annotate", **REQUEST)
    assert (done.code, done.err) == (0, "")
    json.loads(manifest.read_bytes())
    assert KEY not in manifest.read_bytes()
    assert foreign.exists()
    assert "[journal" in run_vibes("check", cwd=project.root).out
