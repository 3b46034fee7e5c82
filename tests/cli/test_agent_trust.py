"""What `vibes init --agents` says of the trust that an agent wants before it runs hooks."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from tests.cli.agent_setup import Setup

pytestmark = pytest.mark.skipif(os.name == "nt", reason="the agents' programs are shell scripts")

ANSWERING = """\
test "$1" = app-server || {{ echo codex-cli 0.169.0; exit; }}
while read -r line; do
    case "$line" in
        *hooks/list*) echo '{{"method": "noise"}}'; echo 'no JSON'; cat {answer} ;;
        *initialize*) echo '{{"id": 1, "result": {{}}}}' ;;
    esac
done
"""


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


def codex_hook(setup: Setup, status: str, *, enabled: bool = True) -> dict[str, Any]:
    source = str(setup.project.resolve() / ".codex/hooks.json")
    hook = {"sourcePath": source, "command": "vibes hook || true", "enabled": enabled}
    return {**hook, "trustStatus": status}


def codex_answers(setup: Setup, hooks: list[dict[str, Any]]) -> None:
    project = str(setup.project.resolve())
    answer = {"id": 2, "result": {"data": [{"cwd": project, "hooks": hooks}]}}
    file = setup.programs / "answer.json"
    file.write_text(json.dumps(answer) + "\n", encoding="utf-8")
    setup.add_program("codex", ANSWERING.format(answer=file))


def test_codex_is_asked_which_hooks_are_approved(setup: Setup) -> None:
    foreign = {"sourcePath": "/etc/hooks.json", "command": "make", "trustStatus": "trusted"}
    trusted, untrusted = codex_hook(setup, "trusted"), codex_hook(setup, "untrusted")
    codex_answers(setup, [foreign])
    assert "untrusted project" in trust_of(setup, "codex")["message"]
    codex_answers(setup, [foreign, trusted, untrusted])
    trust = trust_of(setup, "codex")
    assert trust["state"] == "missing"
    assert "1 of 2 hooks are not approved" in trust["message"]
    assert "/hooks" in trust["hint"]
    codex_answers(setup, [foreign, trusted, trusted])
    assert trust_of(setup, "codex")["state"] == "given"
    codex_answers(setup, [trusted, codex_hook(setup, "trusted", enabled=False)])
    assert "turned off" in trust_of(setup, "codex")["message"]


@pytest.mark.parametrize(
    "script",
    ["exit 1", "echo nonsense", "cat > /dev/null", "yes '[]'", "yes | tr -d '\\n'"],
    ids=["fails", "nonsense", "silent", "endless lines", "endless line"],
)
def test_a_codex_that_gives_no_answer_is_unknown(setup: Setup, script: str) -> None:
    setup.add_program("codex", script)
    patience = "agent-program=0" if script.startswith("cat") else "unlimited"
    trust = trust_of(setup, "codex", VIBES_PATIENCE=patience)
    assert trust["state"] == "unknown"
    assert "/hooks" in trust["hint"]


def test_a_program_of_the_project_is_never_run(setup: Setup) -> None:
    setup.programs = setup.project / "bin"
    setup.programs.mkdir()
    setup.add_program("codex", f"touch {setup.home}/was-run")
    assert trust_of(setup, "codex")["state"] == "unknown"
    assert not (setup.home / "was-run").exists()


def test_an_agent_that_is_not_here_has_no_trust_to_check(setup: Setup) -> None:
    done = setup.run("--agents", "codex", "--json")
    assert "trust" not in done.json["agents"][0]
