"""`vibes init --agents … --mcp`: the server in agents' own lists, and what is never overwritten."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, Any

import pytest
import tomlkit

from vibes_lsp.agents.agent import Scope, UserHome
from vibes_lsp.agents.all_agents import AGENTS
from vibes_lsp.agents.setup.mcp_registration import server_files

if TYPE_CHECKING:
    from pathlib import Path

    from tests.cli.agent_setup import Setup

OURS: dict[str, Any] = {"command": "vibes", "args": ["mcp"]}
LISTS = {
    "claude-code": (".mcp.json", "mcpServers", OURS),
    "codex": (".codex/config.toml", "mcp_servers", OURS),
    "gemini-cli": (".gemini/settings.json", "mcpServers", OURS),
    "copilot-cli": (".mcp.json", "mcpServers", OURS),
    "qwen-code": (".qwen/settings.json", "mcpServers", OURS),
    "opencode": (
        "opencode.json", "mcp",
        {"type": "local", "enabled": True, "command": ["vibes", "mcp"]},
    ),
    "cursor": (".cursor/mcp.json", "mcpServers", OURS),
    "copilot-vscode": (".vscode/mcp.json", "servers", {"type": "stdio", **OURS}),
}  # fmt: skip
"""By agent: its list in a project, the member with the servers, and our entry."""
JSON = sorted({(file, member) for file, member, _ in LISTS.values() if file.endswith(".json")})
OWNERS = {file: slug for slug, (file, _, _) in reversed(LISTS.items())}


def servers(path: Path, member: str) -> dict[str, Any]:
    text = path.read_text(encoding="utf-8")
    members: dict[str, Any] = (
        tomlkit.parse(text).unwrap() if path.suffix == ".toml" else json.loads(text)
    )
    found: dict[str, Any] = members[member]
    return found


@pytest.mark.parametrize("slug", LISTS)
def test_the_server_is_added_once_and_removed_without_a_trace(setup: Setup, slug: str) -> None:
    file, member, entry = LISTS[slug]
    setup.run("--agents", slug)
    before = setup.files()
    done = setup.run("--agents", slug, "--mcp")
    assert done.code == 0
    assert f"MCP server added to {file}" in done.out
    assert servers(setup.project / file, member) == {"vibes": entry}
    hooked = setup.files()
    assert "MCP server already in" in setup.run("--agents", slug, "--mcp").out
    assert setup.files() == hooked != before
    removed = setup.run("--remove-agents", slug)
    assert f"MCP server removed from {file}" in removed.out
    assert setup.files() == {}


@pytest.mark.parametrize("slug", ["codex", "gemini-cli", "copilot-cli", "opencode", "windsurf"])
def test_the_server_is_added_to_a_persons_own_list(setup: Setup, slug: str) -> None:
    if os.name != "nt":
        agent = next(each for each in AGENTS if each.slug == slug)
        setup.run("--agents", slug, "--mcp", "--user")
        home = UserHome(setup.home)
        [file] = server_files(agent, Scope.USER, setup.project, home, program="/opt/bin/vibes")
        assert file.path.is_file()
        assert file.configuration.inspect(file.path.read_text(encoding="utf-8")) == "outdated"
        assert setup.run("--remove-agents", slug, "--user").code == 0
        assert setup.files() == {}


@pytest.mark.parametrize(("file", "member"), JSON)
def test_other_servers_and_comments_stay_as_they_are(setup: Setup, file: str, member: str) -> None:
    text = f'{{\r\n\t// mine\r\n\t"x": 1, "{member}": {{"other": {{"command": "y"}}}}\r\n}}'
    path = setup.write(file, text)
    assert setup.run("--agents", OWNERS[file], "--mcp").code == 0
    added = path.read_text(encoding="utf-8")
    assert "// mine" in added
    assert '"other": {"command": "y"}, "vibes": ' in added
    assert setup.run("--remove-agents", OWNERS[file]).code == 0
    assert path.read_bytes().decode() == text


@pytest.mark.parametrize(("file", "member"), JSON)
@pytest.mark.parametrize(
    "entry", ['{"command": "mine"}', '{"command": "vibes", "args": ["mcp", "--tools", "all"]}', "3"]
)
def test_a_server_of_that_name_that_a_person_wrote_stays(
    setup: Setup, file: str, member: str, entry: str
) -> None:
    path = setup.write(file, f'{{"{member}": {{"vibes": {entry}}}}}')
    for options in (["--agents", OWNERS[file], "--mcp"], ["--remove-agents", OWNERS[file]]):
        done = setup.run(*options)
        assert done.code == 0
        assert ("lists an MCP server vibes with other settings" in done.err) == ("--mcp" in options)
        assert json.loads(path.read_bytes())[member] == {"vibes": json.loads(entry)}


@pytest.mark.parametrize("wrong", ['{"mcpServers": []}', "{", '{"mcpServers": {}'])
def test_a_list_that_cannot_be_read_is_refused(setup: Setup, wrong: str) -> None:
    path = setup.write(".mcp.json", wrong)
    done = setup.run("--agents", "claude-code", "--mcp")
    assert done.code == 2
    assert ".mcp.json" in done.err
    assert path.read_text(encoding="utf-8") == wrong
    assert "hooked up" in done.out


TOML = [
    "",
    "\n",
    'model = "x" # mine\n',
    'model = "x"',
    "a = 1\r\n\r\n[mcp_servers.other] # mine\r\ncommand = 'y'\r\n",
    '[mcp_servers]\nother = { command = "y" }\n\n[projects."/home/someone/p"]\ntrust_level = "trusted"\n',
]


@pytest.mark.parametrize("text", TOML)
def test_codex_keeps_every_byte_of_its_configuration(setup: Setup, text: str) -> None:
    path = setup.write(".codex/config.toml", text)
    before = tomlkit.parse(text).unwrap()
    assert setup.run("--agents", "codex", "--mcp").code == 0
    added = path.read_bytes().decode()
    assert added.startswith(text)
    expected = {**before.get("mcp_servers", {}), "vibes": OURS}
    assert tomlkit.parse(added).unwrap() == {**before, "mcp_servers": expected}
    assert setup.run("--agents", "codex", "--mcp").code == 0
    assert path.read_bytes().decode() == added
    assert setup.run("--remove-agents", "codex").code == 0
    rest = path.read_bytes().decode() if path.exists() else ""
    assert rest.rstrip("\r\n") == text.rstrip("\r\n")
    assert tomlkit.parse(rest).unwrap() == before


@pytest.mark.parametrize(
    "wrong",
    ["[", "mcp_servers = 3\n", 'mcp_servers = { a = { command = "x" } }\n', "a = 1\na = 2\n"],
)
def test_a_configuration_of_codex_that_cannot_be_extended_is_refused(
    setup: Setup, wrong: str
) -> None:
    path = setup.write(".codex/config.toml", wrong)
    done = setup.run("--agents", "codex", "--mcp")
    assert done.code == 2
    assert "config.toml" in done.err
    assert path.read_text(encoding="utf-8") == wrong


def test_the_path_of_the_program_is_brought_up_to_date(setup: Setup) -> None:
    setup.write(
        ".mcp.json", '{"mcpServers": {"vibes": {"command": "/old/vibes", "args": ["mcp"]}}}'
    )
    setup.write(
        ".codex/config.toml", '[mcp_servers.vibes] # mine\ncommand = "/old/vibes"\nargs = ["mcp"]\n'
    )
    assert setup.run("--agents", "claude-code,codex", "--mcp").code == 0
    assert servers(setup.project / ".mcp.json", "mcpServers") == {"vibes": OURS}
    assert servers(setup.project / ".codex/config.toml", "mcp_servers") == {"vibes": OURS}
    assert "# mine" in (setup.project / ".codex/config.toml").read_text(encoding="utf-8")


def test_an_agent_without_such_a_list_is_named(setup: Setup) -> None:
    done = setup.run("--agents", "amp,claude-code", "--mcp")
    assert done.code == 0
    assert "Amp: add the MCP server by hand" in done.out
    assert "Claude Code: MCP server added" in done.out
    answer = setup.run("--agents", "amp,claude-code", "--mcp", "--json")
    assert [each["agent"] for each in json.loads(answer.out)["mcp"]] == ["claude-code"]


def test_without_agents_the_option_is_refused(setup: Setup) -> None:
    for options in (["--mcp"], ["--mcp", "--agents", "none"], ["--mcp", "--remove-agents", "all"]):
        done = setup.run(*options)
        assert done.code == 2
        assert setup.files() == {}
