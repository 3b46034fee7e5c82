"""What `vibes init --agents` says of the trust that an agent wants before it runs hooks."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from tests.cli.agent_setup import Setup

pytestmark = pytest.mark.skipif(os.name == "nt", reason="the agents' programs are shell scripts")


def trust_of(setup: Setup, slug: str, *options: str, **environment: str) -> dict[str, str]:
    done = setup.run("--agents", slug, "--json", *options, **environment)
    assert done.code == 0
    trust: dict[str, str] = done.json["agents"][0]["trust"]
    return trust


def write_home(setup: Setup, name: str, value: Any) -> None:
    path = setup.home / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(value), encoding="utf-8")


def test_claude_code_wants_the_folder_trusted(setup: Setup) -> None:
    setup.add_program("claude")
    trust = trust_of(setup, "claude-code")
    assert trust["state"] == "missing"
    assert "start `claude`" in trust["hint"]
    key = str(setup.project.resolve().parent)
    write_home(setup, ".claude.json", {"projects": {key: {"hasTrustDialogAccepted": True}}})
    assert trust_of(setup, "claude-code")["state"] == "given"
    write_home(setup, ".claude/settings.json", {"disableAllHooks": True})
    trust = trust_of(setup, "claude-code")
    assert trust["state"] == "missing"
    assert "disableAllHooks" in trust["message"]


def test_copilot_wants_the_folder_in_its_list(setup: Setup) -> None:
    setup.add_program("copilot")
    assert trust_of(setup, "copilot-cli")["state"] == "missing"
    assert trust_of(setup, "copilot-cli", "--user")["state"] == "not needed"
    write_home(setup, ".copilot/config.json", {"trustedFolders": [str(setup.project)]})
    assert trust_of(setup, "copilot-cli")["state"] == "given"


@pytest.mark.parametrize(
    ("rules", "state"),
    [
        ({}, "missing"),
        ({"PROJECT": "TRUST_FOLDER"}, "given"),
        ({"PROJECT/other": "TRUST_PARENT"}, "given"),
        ({"/": "TRUST_FOLDER", "PROJECT": "DO_NOT_TRUST"}, "missing"),
        ({"/": "DO_NOT_TRUST", "PROJECT": "TRUST_FOLDER"}, "given"),
        ({"PROJECT/inner": "TRUST_FOLDER"}, "missing"),
        ({"PROJECT": ["wrong"]}, "missing"),
    ],
)
def test_gemini_cli_follows_the_longest_rule(
    setup: Setup, rules: dict[str, Any], state: str
) -> None:
    named = {k.replace("PROJECT", str(setup.project)): v for k, v in rules.items()}
    write_home(setup, ".gemini/trustedFolders.json", named)
    assert trust_of(setup, "gemini-cli")["state"] == state
    write_home(setup, ".gemini/settings.json", {"security": {"folderTrust": {"enabled": False}}})
    assert trust_of(setup, "gemini-cli")["state"] == "not needed"


def test_settings_that_cannot_be_read_are_no_trust(setup: Setup) -> None:
    (setup.home / ".copilot").mkdir()
    (setup.home / ".copilot/config.json").write_text("{ broken", encoding="utf-8")
    assert trust_of(setup, "copilot-cli")["state"] == "missing"


def test_codex_runs_only_hooks_that_were_approved(setup: Setup) -> None:
    setup.add_program("codex", f"touch {setup.home}/was-run")
    trust = trust_of(setup, "codex")
    assert trust["state"] == "unknown"
    assert "/hooks" in trust["hint"]
    assert not (setup.home / "was-run").exists()


def test_an_agent_that_is_not_here_has_no_trust_to_check(setup: Setup) -> None:
    done = setup.run("--agents", "codex", "--json")
    assert "trust" not in done.json["agents"][0]
