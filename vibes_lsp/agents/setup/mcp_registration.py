"""Register `vibes mcp` in an agent's own list of MCP servers, remove it, and inspect it.

The functions on texts are pure. Other servers and settings stay as they are. An entry of the same
name that `vibes init --mcp` did not write is neither changed nor removed.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import tomlkit
from tomlkit.exceptions import TOMLKitError

from vibes_lsp.agents.agent import CodingAgent, Scope, ServerList, UserHome
from vibes_lsp.agents.setup.configuration import PROGRAM, Configuration, ConfigurationFile
from vibes_lsp.agents.setup.hook_configuration import HookState
from vibes_lsp.agents.setup.json_edits import (
    SPACE,
    Edit,
    MisplacedMember,
    apply_edits,
    compact,
    find_object,
    has_comments,
    insertions,
    is_created,
    layout_of,
    member,
    parse_document,
    place_of,
    removals,
    without_member,
    write_document,
)
from vibes_lsp.model.members import JsonValue, Members

SERVER: Final = "vibes"
"""The name of the server, from which agents make the names of its tools."""
_ARGUMENTS: Final = ["mcp"]
_OURS: Final = re.compile(r"(?:.*[/\\])?vibes(?:\.exe)?", re.DOTALL)
_TOML: Final = "mcp_servers"


def server_files(
    agent: CodingAgent, scope: Scope, project: Path, home: UserHome, *, program: str = PROGRAM
) -> list[ConfigurationFile]:
    """Return the file in which an agent lists MCP servers; none if it has none that we write.

    Args:
        agent: The agent.
        scope: Whose configuration.
        project: The project's folder.
        home: The person's home.
        program: What the agent starts.
    """
    servers = agent.servers
    if servers is None:
        return []
    name = servers.project_file if scope is Scope.PROJECT else servers.user_file
    if not name:
        return []
    top = project if scope is Scope.PROJECT else agent.home_folder(home)
    configuration: Configuration = (
        JsonServer(servers.member, _entry(servers, scope, program))
        if servers.member
        else TomlServer(program)
    )
    return [ConfigurationFile(top / name, scope, top, configuration)]


def _entry(servers: ServerList, scope: Scope, program: str) -> Members:
    command: Members = (
        {"command": [program, *_ARGUMENTS]}
        if servers.is_one_list
        else {"command": program, "args": [*_ARGUMENTS]}
    )
    more = servers.user_base if scope is Scope.USER else {}
    return {**servers.base, **more, **command}


@dataclass(frozen=True, slots=True)
class JsonServer:
    """What a list of MCP servers in JSON must contain.

    Attributes:
        member: The member with the servers.
        entry: The entry of our server.
    """

    member: str
    entry: Members

    def add(self, text: str | None) -> str:
        """Return a configuration with our server; the same text if it has one of its name.

        Raises:
            MalformedJson: The text is not JSON.
            MisplacedMember: The servers are not an object.
        """
        if text is None or not text.strip(SPACE):
            return write_document(text, {self.member: {SERVER: self.entry}}, depth=2)
        document = parse_document(text)
        layout = layout_of(document)
        servers = find_object(document, self.member)
        if servers is None:
            added = member(self.member, {SERVER: self.entry}, layout, 1, depth=1)
            return apply_edits(text, insertions(document, document.root, [added]))
        known, place = servers
        if SERVER not in known:
            added = member(SERVER, self.entry, layout, 2, depth=0)
            return apply_edits(text, insertions(document, place, [added]))
        if known[SERVER] == self.entry or not self._is_ours(known[SERVER]):
            return text
        at = place_of(known, place, SERVER)
        return apply_edits(text, [Edit(at.start, at.end, compact(self.entry))])

    def remove(self, text: str) -> str | None:
        """Return a configuration without our server; None if `add` created the whole file.

        Raises:
            MalformedJson: The text is not JSON.
            MisplacedMember: The servers are not an object.
        """
        document = parse_document(text) if text.strip(SPACE) else None
        servers = None if document is None else find_object(document, self.member)
        if document is None or servers is None or not self._is_ours(servers[0].get(SERVER)):
            return text
        known, place = servers
        if len(known) > 1 or has_comments(document, place) or not is_created(document, place):
            index = list(known).index(SERVER)
            return apply_edits(text, removals(document, place, {index}))
        return without_member(document, self.member, {})

    def inspect(self, text: str) -> HookState:
        """Return whether a configuration has our server.

        Raises:
            MalformedJson: The text is not JSON.
            MisplacedMember: The servers are not an object.
        """
        document = parse_document(text) if text.strip(SPACE) else None
        servers = None if document is None else find_object(document, self.member)
        if servers is None or SERVER not in servers[0]:
            return HookState.ABSENT
        entry = servers[0][SERVER]
        if entry == self.entry:
            return HookState.CURRENT
        return HookState.OUTDATED if self._is_ours(entry) else HookState.HANDWRITTEN

    def _is_ours(self, entry: JsonValue) -> bool:
        """Return whether an entry is as we write it, perhaps with another path of the program."""
        if not isinstance(entry, dict) or entry.keys() != self.entry.keys():
            return False
        expected = {**self.entry, "command": entry["command"]}
        command = entry["command"]
        program = command
        if isinstance(command, list):
            program = command[0] if command[1:] == _ARGUMENTS else None
        return (
            entry == expected
            and isinstance(program, str)
            and type(command) is type(self.entry["command"])
            and _OURS.fullmatch(program) is not None
        )


@dataclass(frozen=True, slots=True)
class TomlServer:
    """What Codex's `config.toml` must contain.

    Our table is appended, and removed as text: everything else keeps every byte. tomlkit says
    whether the text before and after is valid and means the same.

    Attributes:
        program: What Codex starts.
    """

    program: str

    def add(self, text: str | None) -> str:
        """Return a configuration with our server; the same text if it has one of its name.

        Raises:
            MisplacedMember: The text is not TOML, or its servers are not tables.
        """
        before = text or ""
        servers = _toml_servers(before)
        if SERVER in servers:
            return self._updated(before, servers)
        ending = "\r\n" if "\r\n" in before else "\n"
        start = before if not before or before.endswith("\n") else before + ending
        gap = ending if start.strip() else ""
        after = start + gap + self._table.replace("\n", ending)
        if _toml_servers(after) != {**servers, SERVER: self._entry}:
            raise MisplacedMember(f"{_TOML} is not a list of tables; add the server by hand")
        return after

    def remove(self, text: str) -> str | None:
        """Return a configuration without our server; None if nothing else is in it.

        Raises:
            MisplacedMember: The text is not TOML, or its servers are not tables.
        """
        servers = _toml_servers(text)
        if self.inspect(text) in {HookState.ABSENT, HookState.HANDWRITTEN}:
            return text
        ending = "\r\n" if "\r\n" in text else "\n"
        program = servers[SERVER]["command"]
        table = TomlServer(str(program))._table.replace("\n", ending)  # noqa: SLF001  # own class
        for written in (ending + table, table):
            rest = text.replace(written, "", 1)
            kept = {name: server for name, server in servers.items() if name != SERVER}
            if rest != text and _toml_servers(rest) == kept:
                return rest or None
        return text  # a person has laid it out

    def inspect(self, text: str) -> HookState:
        """Return whether a configuration has our server.

        Raises:
            MisplacedMember: The text is not TOML, or its servers are not tables.
        """
        servers = _toml_servers(text)
        if SERVER not in servers:
            return HookState.ABSENT
        entry = servers[SERVER]
        if entry == self._entry:
            return HookState.CURRENT
        return HookState.OUTDATED if self._is_ours(entry) else HookState.HANDWRITTEN

    def _updated(self, text: str, servers: Mapping[str, Mapping[str, object]]) -> str:
        if servers[SERVER] == self._entry or not self._is_ours(servers[SERVER]):
            return text
        document = tomlkit.parse(text)
        document[_TOML][SERVER]["command"] = self.program
        return tomlkit.dumps(document)

    @property
    def _entry(self) -> dict[str, object]:
        return {"command": self.program, "args": [*_ARGUMENTS]}

    @property
    def _table(self) -> str:
        command, arguments = compact(self.program), compact([*_ARGUMENTS])
        return f"[{_TOML}.{SERVER}]\ncommand = {command}\nargs = {arguments}\n"

    @staticmethod
    def _is_ours(entry: Mapping[str, object]) -> bool:
        command = entry.get("command")
        return (
            entry == {"command": command, "args": _ARGUMENTS}
            and isinstance(command, str)
            and _OURS.fullmatch(command) is not None
        )


def _toml_servers(text: str) -> dict[str, dict[str, object]]:
    """Return the MCP servers of a configuration of Codex.

    Raises:
        MisplacedMember: The text is not TOML, or its servers are not tables.
    """
    try:
        servers = tomlkit.parse(text).unwrap().get(_TOML, {})
    except (TOMLKitError, RecursionError) as error:
        raise MisplacedMember(f"it is not valid TOML: {error}") from error
    if not isinstance(servers, dict) or not all(isinstance(v, dict) for v in servers.values()):
        raise MisplacedMember(f"{_TOML} is not a table of tables")
    return servers
