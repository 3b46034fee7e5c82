"""The parts of `docs/mcp.md` that are made from the code: tools, resources and prompts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from vibes_lsp.mcp_server.resources import RESOURCES, TEMPLATES
from vibes_lsp.mcp_server.review_prompts import PROMPTS
from vibes_lsp.mcp_server.schemas import input_schema
from vibes_lsp.mcp_server.tool_catalogue import ASKING, RECORDING, ToolDefinition


def blocks() -> dict[str, list[str]]:
    """Return the lines of every block, by its name."""
    return {
        "mcp-asking": _tools(ASKING),
        "mcp-recording": _tools(RECORDING),
        "mcp-resources": [
            "| resource | content |",
            "|---|---|",
            *(f"| `{each.uri}` | {each.description} |" for each in (*RESOURCES, *TEMPLATES)),
        ],
        "mcp-prompts": [
            "| prompt | argument | what it does |",
            "|---|---|---|",
            *(
                f"| `{each.name}` | {'`file`' if each.takes_file else ''} | {each.description} |"
                for each in PROMPTS
            ),
        ],
    }


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
            lines.append(f"| `{name}`{needed} | {_type(member)} | {about} |")
    return lines[1:]


def _type(member: dict[str, Any]) -> str:
    if "$ref" in member:
        return str(member["$ref"]).rpartition("/")[2]
    if "anyOf" in member:
        return " or ".join(_type(each) for each in member["anyOf"] if each.get("type") != "null")
    if "enum" in member:
        return ", ".join(f"`{each}`" for each in member["enum"])
    if member.get("type") == "array":
        return f"list of {_type(member['items'])}"
    default = f", default {member['default']}" if member.get("default") not in (None, []) else ""
    return f"{member.get('type', 'any')}{default}"
