"""RFC 13.1: private data in what is recorded."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from tests.conformance.recorded_trail import SECRET
from tests.conformance.requirement import rfc_writer
from tests.conformance.trail_access import run_vibes
from tests.trails import Repository
from tests.unit.recording.projects import Project, new_project, session_origin
from vibes_lsp.recording import EndSession, Prompt, PromptType, Reasoning

if TYPE_CHECKING:
    from pathlib import Path


def private(root: Path) -> Project:
    """Record a prompt and reasoning that hold a secret, at the high level."""
    project = new_project(root, "high")
    session = project.session()
    prompt = Prompt(f"Use {SECRET} to log in.", PromptType.CHAT_MESSAGE)
    project.recorder.annotate_lines(
        "a.py",
        1,
        3,
        "modify",
        session_origin(session, prompt=prompt, reasoning=Reasoning(f"The token is {SECRET}.")),
    )
    project.recorder.execute(EndSession(session_id=session))
    return project


@rfc_writer("13.1", "SHOULD", "secrets in prompts and reasoning do not reach the trail")
def test_secrets_are_not_recorded(tmp_path: Path) -> None:
    project = private(tmp_path / "project")
    assert SECRET.encode() not in project.written()
    assert b"[masked]" in project.written()


@rfc_writer(
    "13.1",
    "SHOULD",
    "secrets recorded by another tool are reported before a commit",
)
def test_secrets_of_other_tools_are_reported(tmp_path: Path) -> None:
    project = private(tmp_path / "project")
    manifest = project.root / ".ai-audit" / "manifest.json"
    project.entries()
    manifest.write_bytes(manifest.read_bytes().replace(b"Use [masked]", f"Use {SECRET}".encode()))
    checks = {
        finding["check"] for finding in run_vibes(project.root, "check", "--json").json["findings"]
    }
    assert "secret" in checks


@rfc_writer("13.1", "SHOULD", "a manifest that git ignores is written like any other")
def test_a_manifest_may_be_kept_private(tmp_path: Path) -> None:
    root = tmp_path / "project"
    root.mkdir()
    repository = Repository(root)
    repository.write(".gitignore", ".ai-audit/manifest.json\n")
    project = private(root)
    assert (
        json.loads((root / ".ai-audit" / "manifest.json").read_bytes())["entries"].keys()
        >= project.entries("prompt").keys()
    )
    assert "manifest.json" not in repository.git("status", "--porcelain", "--untracked-files=all")
