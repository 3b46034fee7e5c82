"""The parts of `docs/mcp.md` that are made from the code: tools, resources and prompts."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from vibes_lsp.agents.agent import Scope, UserHome
from vibes_lsp.agents.all_agents import AGENTS
from vibes_lsp.agents.setup.mcp_registration import server_files
from vibes_lsp.mcp.resources import RESOURCES, TEMPLATES
from vibes_lsp.mcp.review_prompts import PROMPTS
from vibes_lsp.mcp.schemas import input_schema
from vibes_lsp.mcp.tool_catalogue import ASKING, RECORDING, ToolDefinition


def blocks() -> dict[str, list[str]]:
    """Return the lines of every block, by its name."""
    return {
        "mcp-clients": _clients(),
        "mcp-asking": _tools(ASKING),
        "mcp-recording": _recording_tools(),
        "mcp-resources": [
            "| resource | content |",
            "|---|---|",
            *(f"| `{each.uri}` | {each.description} |" for each in RESOURCES),
            *(f"| `{each.uri_template}` | {each.description} |" for each in TEMPLATES),
        ],
        "mcp-prompts": [
            "| prompt | argument | what it does |",
            "|---|---|---|",
            *(
                f"| `{each.name}` | {'`file`' if each.arguments else ''} | {each.description} |"
                for each in PROMPTS
            ),
        ],
    }


def _clients() -> list[str]:
    """Return where each agent lists its servers, and what `vibes init --mcp` writes there."""
    project, home = Path(), UserHome(Path("~"))
    rows: list[str] = []
    files: dict[str, list[str]] = {}
    for agent in AGENTS:
        places = []
        for scope in Scope:
            found = server_files(agent, scope, project, home)
            places += [f"`{each.path.as_posix()}`" for each in found] or [""]
            if scope is Scope.PROJECT:
                for each in found:
                    named = files.setdefault(each.configuration.add(None), [])
                    named += [each.path.as_posix()] if each.path.as_posix() not in named else []
        if any(places):
            rows.append(f"| {agent.name} | {' | '.join(places)} |")
    lines = ["| agent | in a project | with `--user` |", "|---|---|---|", *rows]
    for text, paths in files.items():
        language = "toml" if paths[0].endswith(".toml") else "json"
        lines += ["", f"In {', '.join(f'`{path}`' for path in paths)}:", ""]
        lines += [f"```{language}", *text.splitlines(), "```"]
    return lines


def _tools(tools: Sequence[ToolDefinition]) -> list[str]:
    lines: list[str] = []
    for tool in tools:
        schema = input_schema(tool.arguments, tool.left_out)
        required = schema.get("required", [])
        lines += ["", f"### {tool.name}", "", tool.description, "", "| argument | type | what |"]
        lines.append("|---|---|---|")
        for name, member in schema["properties"].items():
            needed = " (required)" if name in required else ""
            about = member.get("description", "")
            kind = type_text(member, schema.get("$defs", {}))
            lines.append(f"| `{name}`{needed} | {kind} | {about} |")
    return lines[1:]


def _recording_tools() -> list[str]:
    """Return the tools that record; what their arguments mean is said by the protocol's page."""
    lines = ["| tool | what it does | arguments |", "|---|---|---|"]
    for tool in RECORDING:
        schema = input_schema(tool.arguments, tool.left_out)
        required = schema.get("required", [])
        names = (f"`{name}`{'' if name in required else '?'}" for name in schema["properties"])
        lines.append(f"| `{tool.name}` | {tool.description} | {', '.join(names)} |")
    return lines


def type_text(member: dict[str, Any], definitions: dict[str, Any]) -> str:
    """Return the type of a member of a JSON Schema, for a table."""
    if "$ref" in member:
        name = str(member["$ref"]).rpartition("/")[2]
        return type_text(definitions[name], definitions) if "enum" in definitions[name] else name
    if "anyOf" in member:
        kinds = (each for each in member["anyOf"] if each.get("type") != "null")
        return " or ".join(type_text(each, definitions) for each in kinds)
    if "enum" in member:
        return ", ".join(f"`{each}`" for each in member["enum"])
    if member.get("type") == "array":
        return f"list of {type_text(member['items'], definitions)}"
    given = member.get("default")
    default = "" if given in (None, []) else f", default {json.dumps(given)}"
    return f"{member.get('type', 'any')}{default}"
