"""`vibes init --agents`: hooks in agents' own configuration, and what is never overwritten."""

from __future__ import annotations

import json
import os
import shlex
import stat
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from vibes_lsp.agents.agent import Form
from vibes_lsp.agents.all_agents import AGENTS

if TYPE_CHECKING:
    from tests.cli.agent_setup import Setup

needs_posix = pytest.mark.skipif(os.name == "nt", reason="links and permissions of POSIX")
SLUGS = [agent.slug for agent in AGENTS]
JSON_FILES = {
    agent.slug: agent.project_file for agent in AGENTS if agent.form in (Form.GROUPS, Form.ENTRIES)
}


@pytest.mark.parametrize("scope", [[], ["--user"]], ids=["project", "user"])
@pytest.mark.parametrize("slug", SLUGS)
def test_hooks_are_added_once_and_removed_without_a_trace(
    setup: Setup, slug: str, scope: list[str]
) -> None:
    done = setup.run("--agents", slug, *scope)
    if scope and not next(agent.user_file for agent in AGENTS if agent.slug == slug):
        assert (done.code, setup.files()) == (2, {})
        assert "has no user configuration for hooks" in done.err
        return
    assert done.code == 0
    hooked = setup.files()
    assert hooked
    assert all(b"vibes" in content for content in hooked.values())
    assert all(name.startswith("home/" if scope else "project/") for name in hooked)
    assert "already hooked up" in setup.run("--agents", slug, *scope).out
    assert setup.files() == hooked
    assert setup.run("--remove-agents", slug, *scope).code == 0
    assert setup.files() == {}
    assert [path.name for path in setup.project.iterdir()] == ([] if scope else [".ai-audit"])
    assert "no hooks of vibes" in setup.run("--remove-agents", slug, *scope).out


@pytest.mark.parametrize("name", sorted(set(JSON_FILES.values())))
def test_other_settings_stay_as_they_are(setup: Setup, name: str) -> None:
    text = '{\r\n\t// mine\r\n\t"model": "x", "hooks": {"Other": [{"command": "make"}]}\r\n}'
    path = setup.write(name, text)
    path.chmod(0o640)
    assert setup.run("--agents", "all").code == 0
    hooked = path.read_bytes().decode()
    assert "// mine" in hooked
    assert hooked.count("make") == 1
    assert "\n" not in hooked.replace("\r\n", "")
    assert stat.S_IMODE(path.stat().st_mode) == 0o640
    assert setup.run("--remove-agents", "all").code == 0
    assert path.read_bytes().decode() == text


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ('{"a": 1,\n "a": 2}', "line 2"),
        ('{\n "hooks": {\n', "line 3"),
        ('{"hooks":\n []}', "hooks is a JSON array, expected an object (line 2)"),
        ('{"hooks": {\n"EVENT": {}}}', "expected an array (line 2)"),
        ("[]", "expected an object"),
        ("{}\n/* ", "the comment has no end (line 2"),
        ('{"a": "\n', "line 1"),
        ("[" * 5000, "line 1"),
    ],
)
def test_a_configuration_that_cannot_be_parsed_is_left_alone(
    setup: Setup, text: str, problem: str
) -> None:
    for slug, name in JSON_FILES.items():
        event = next(agent.events[0] for agent in AGENTS if agent.slug == slug)
        setup.write(name, text.replace("EVENT", event))
    before = setup.files()
    for option in ("--agents", "--remove-agents"):
        done = setup.run(option, ",".join(JSON_FILES), "--json")
        assert done.code == 2
        assert setup.files() == before
        errors = {each["for"]: each["error"] for each in done.json["errors"]}
        assert errors.keys() == JSON_FILES.keys()
        for slug, name in JSON_FILES.items():
            assert str(setup.project / name) in errors[slug]
            assert problem in errors[slug]


def test_a_refused_configuration_does_not_affect_other_agents(setup: Setup) -> None:
    setup.write(".gemini/settings.json", "{")
    done = setup.run("--agents", "claude-code,gemini-cli,codex", "--json")
    assert done.code == 2
    assert [each["agent"] for each in done.json["agents"]] == ["claude-code", "codex"]
    (error,) = done.json["errors"]
    assert error["for"] == "gemini-cli"
    assert str(setup.project / ".gemini/settings.json") in error["error"]
    assert (setup.project / ".codex/hooks.json").is_file()


def test_a_file_that_is_not_utf8_or_is_huge_is_left_alone(setup: Setup) -> None:
    path = setup.write(".claude/settings.json", "")
    for content, problem in (
        (b'{\n"a": "\xff"}', "line 2 is not UTF-8"),
        (b" " * (1 << 21), "too large"),
    ):
        path.write_bytes(content)
        done = setup.run("--agents", "claude-code")
        assert done.code == 2
        assert problem in done.err
        assert path.read_bytes() == content


@needs_posix
@pytest.mark.parametrize("slug", SLUGS)
def test_no_link_is_followed_out_of_the_project(setup: Setup, slug: str) -> None:
    outside = setup.home / "outside"
    outside.mkdir()
    top = next(agent.project_file for agent in AGENTS if agent.slug == slug).split("/")[0]
    (setup.project / top).symlink_to(outside)
    for option in ("--agents", "--remove-agents"):
        done = setup.run(option, slug)
        assert (done.code, list(outside.iterdir())) == (
            2 if option == "--agents" else done.code,
            [],
        )
    assert (setup.project / top).is_symlink()


@needs_posix
def test_a_person_may_keep_settings_behind_a_link(setup: Setup) -> None:
    target = setup.home / "dotfiles" / "settings.json"
    target.parent.mkdir()
    target.write_text('{"model": "x"}', encoding="utf-8")
    (setup.home / ".claude").mkdir()
    (setup.home / ".claude/settings.json").symlink_to(target)
    assert setup.run("--agents", "claude-code", "--user").code == 0
    assert (setup.home / ".claude/settings.json").is_symlink()
    assert "hook" in target.read_text(encoding="utf-8")
    assert setup.run("--remove-agents", "claude-code", "--user").code == 0
    assert target.read_text(encoding="utf-8") == '{"model": "x"}'


def test_an_older_form_is_updated_and_handwritten_hooks_are_not(setup: Setup) -> None:
    hooks: dict[str, list[Any]] = {
        "SessionStart": [{"hooks": [{"type": "command", "command": "vibes hook"}]}],
        "PostToolUse": [
            {"hooks": [{"type": "command", "command": "vibes hook", "timeout": 9}]},
            {"matcher": "Edit", "hooks": [{"type": "command", "command": "make"}]},
        ],
        "Stop": [{"hooks": [{"type": "command", "command": "date; /opt/vibes hook && make"}]}],
    }
    path = setup.write(".claude/settings.json", json.dumps({"hooks": hooks}, indent=2))
    assert setup.run("--agents", "claude-code").code == 0
    new = json.loads(path.read_bytes())["hooks"]
    command = "vibes hook >/dev/null 2>&1 || true"
    assert new["SessionStart"][0]["hooks"] == [{"type": "command", "command": command}]
    tuned = {"type": "command", "command": command, "timeout": 9}
    assert new["PostToolUse"] == [{"hooks": [tuned]}, hooks["PostToolUse"][1]]
    assert new["Stop"] == hooks["Stop"]
    assert setup.run("--remove-agents", "claude-code").code == 0
    left = json.loads(path.read_bytes())["hooks"]
    assert left["PostToolUse"] == [hooks["PostToolUse"][1]]
    assert left["Stop"] == hooks["Stop"]


@pytest.mark.parametrize("name", [".opencode/plugins/vibes.js", ".cline/hooks/PostToolUse"])
def test_a_foreign_file_of_our_name_is_refused(setup: Setup, name: str) -> None:
    slug = "opencode" if "opencode" in name else "cline"
    setup.write(name, "#!/bin/sh\nmake lint\n")
    before = setup.files()
    done = setup.run("--agents", slug)
    assert done.code == 2
    assert "not as `vibes init --agents` writes it" in done.err
    assert setup.files() == before
    assert setup.run("--remove-agents", slug).code == 0
    assert setup.files() == before


def test_a_modified_file_of_ours_is_refused(setup: Setup) -> None:
    setup.run("--agents", "opencode")
    path = setup.project / ".opencode/plugins/vibes.js"
    path.write_bytes(path.read_bytes() + b"// more\n")
    before = setup.files()
    for option in ("--agents", "--remove-agents"):
        assert setup.run(option, "opencode").code == 2
        assert setup.files() == before


@needs_posix
def test_executable_hooks_are_executable(setup: Setup) -> None:
    setup.run("--agents", "cline")
    hook = setup.project / ".cline/hooks/TaskStart"
    assert os.access(hook, os.X_OK)
    hook.chmod(0o644)
    setup.run("--agents", "cline")
    assert os.access(hook, os.X_OK)


def test_an_unknown_agent_is_refused_before_anything_is_written(setup: Setup) -> None:
    done = setup.run("--agents", "claude-code,claudius")
    assert done.code == 2
    assert "unknown agent 'claudius': expected all, detected, none or a list of" in done.err
    assert list(setup.project.iterdir()) == []


def test_init_ends_with_how_to_make_the_agents_here_record(setup: Setup) -> None:
    hint = "Next: `vibes init --agents detected` makes your coding agents record."
    assert hint not in setup.run().lines
    (setup.home / ".gemini").mkdir()
    assert setup.run().lines[-1] == hint
    assert hint not in setup.run("--agents", "none").lines
    setup.run("--agents", "detected")
    assert hint not in setup.run().lines


@needs_posix
def test_init_ends_with_an_agent_that_wants_no_more_trust(setup: Setup) -> None:
    setup.add_program("claude")
    setup.add_program("opencode")
    done = setup.run("--agents", "claude-code,opencode")
    assert "Try it: let opencode change a file, then run `vibes blame FILE`." in done.lines


@needs_posix
def test_detected_agents_have_a_program_or_a_folder(setup: Setup) -> None:
    (setup.home / ".gemini").mkdir()
    setup.add_program("claude")
    done = setup.run("--agents", "detected", "--json")
    assert done.code == 0
    assert [each["agent"] for each in done.json["agents"]] == ["claude-code", "gemini-cli"]


def test_hooks_in_a_project_name_no_path_of_this_machine(setup: Setup) -> None:
    setup.run("--agents", "all")
    for content in setup.files().values():
        assert b"/vibes" not in content.replace(b"hooks/vibes", b"")


def test_a_missing_program_is_said(setup: Setup) -> None:
    assert "`vibes` is not on PATH" in setup.run("--agents", "codex").err


def test_hooks_in_the_home_folder_name_the_installed_program(setup: Setup) -> None:
    path = setup.home / ".claude/settings.json"
    path.parent.mkdir()
    older = {"hooks": [{"type": "command", "command": "'/old place/vibes' hook || true"}]}
    path.write_text(json.dumps({"hooks": {"Stop": [older]}}), encoding="utf-8")
    assert setup.run("--agents", "claude-code", "--user").code == 0
    hooks = json.loads(path.read_bytes())["hooks"]
    (command,) = {hooks[event][0]["hooks"][0]["command"] for event in hooks}
    program = shlex.split(command)[0]
    assert os.access(program, os.X_OK)
    assert Path(program).stem == "vibes"


@pytest.mark.parametrize(
    "options",
    [["--user"], ["--agents", "all", "--remove-agents", "all"], ["--user", "--git-hooks"]],
)
def test_options_that_do_not_fit_together_are_refused(setup: Setup, options: list[str]) -> None:
    assert setup.run(*options).code == 2
    assert list(setup.project.iterdir()) == []


def test_it_says_that_no_agent_was_found(setup: Setup) -> None:
    done = setup.run("--agents", "detected", PATH="")
    assert done.code == 0
    assert "No coding agent was found on this machine" in done.out
    assert "No coding agent" not in setup.run("--agents", "none").out
