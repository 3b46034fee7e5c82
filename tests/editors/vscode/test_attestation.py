"""The trust tier in VS Code: the status bar, the lens on an audit file, verifying and attesting."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from tests.cli.attested_project import AttestedProject

if TYPE_CHECKING:
    from pathlib import Path

    from tests.editors.vscode.conftest import Open


@pytest.fixture
def attested(tmp_path: Path) -> AttestedProject:
    return AttestedProject.create(tmp_path)


def test_the_tier_is_shown_verified_and_signed_again(
    open_window: Open, attested: AttestedProject
) -> None:
    code = open_window(attested.root, environment={"HOME": str(attested.home)})
    code.open_file("src/auth.py")
    code.until(lambda: "self-attested" in code.status_bar() or None, "the tier")

    code.command("VIBES: Verify Attestation")
    code.wait_for(".tab", "attestation.md")
    code.wait_for(".view-lines", "Trust tier: self-attested (only a user signed it)")

    code.open_file(".ai-audit/annotations.jsonl")
    code.lens("self-attested: equal", at=1)

    config = attested.audit / "config.json"
    changed = json.loads(config.read_bytes())
    changed["project_name"] = "renamed"
    config.write_text(json.dumps(changed))
    code.until(lambda: "attestation does not hold" in code.status_bar() or None, "the changed file")
    code.open_file(".ai-audit/config.json")
    code.command("Problems: Focus on Problems View")
    code.until(
        lambda: any("not as it was attested" in each for each in code.problems()) or None,
        "the problem",
    )

    code.command("VIBES: Attest the Audit Trail…")
    code.wait_for(".monaco-dialog-box", "6 prompt texts")
    code.wait_for(".monaco-dialog-box", "5 file names")
    code.page.locator(".monaco-dialog-box .monaco-button", has_text="Sign").click()
    code.until(
        lambda: "self-attested" in code.status_bar() or None,
        "the tier of the new attestation",
    )
    assert attested.run("verify", "--json").json["tier"] == "self-attested"


def test_a_trail_without_an_attestation_shows_no_tier(
    open_window: Open, attested: AttestedProject
) -> None:
    (attested.audit / "attestation.json").unlink()
    code = open_window(attested.root, environment={"HOME": str(attested.home)})
    code.open_file("src/auth.py")
    code.until(lambda: "AI " in code.status_bar() or None, "the share")
    assert "attest" not in code.status_bar()
    code.command("VIBES: Verify Attestation")
    code.message("the audit trail is not attested")
    assert code.page.locator(".tab", has_text="attestation").count() == 0, "there is no report"
