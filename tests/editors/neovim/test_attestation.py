"""`:Vibes verify` and the lens on an audit file, on the screen."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.cli.attested_project import AttestedProject
from tests.editors.neovim.conftest import NEW, STABLE, Open

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def attested(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AttestedProject:
    project = AttestedProject.create(tmp_path)
    monkeypatch.setenv("HOME", str(project.home))
    return project


@pytest.mark.parametrize("suite", [STABLE, NEW])
def test_the_report_opens_in_a_window(
    open_neovim: Open, attested: AttestedProject, suite: str
) -> None:
    attested.append_record()
    editor = open_neovim(suite, attested.root, "src/auth.py")
    editor.until(editor.is_attached, "the server")
    editor.command("Vibes verify")
    editor.terminal.shows(
        "VIBES attestation",
        "Trust tier: self-attested (only a user signed it)",
        "valid for the first 59 records; 1 added since",
    )
    editor.terminal.keys("q")
    editor.until(lambda: not editor.floats(), "the window to close")
    (attested.audit / "attestation.json").unlink()
    editor.command("Vibes verify")
    editor.terminal.shows("the audit trail is not attested")
    assert not editor.floats()


def test_a_changed_audit_file_has_a_problem(open_neovim: Open, attested: AttestedProject) -> None:
    config = attested.audit / "config.json"
    config.write_bytes(config.read_bytes().replace(b"shop", b"desk"))
    editor = open_neovim(NEW, attested.root, ".ai-audit/config.json")
    editor.until(
        lambda: any("not as it was attested" in text for _, text in editor.problems()),
        "the problem",
    )
