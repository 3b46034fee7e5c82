"""The MCP server of a project: tools, resources and prompts about what AI agents wrote in it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from mcp import types

from vibes_lsp.mcp.answers import NOTICE
from vibes_lsp.mcp.message_loop import Served, as_line
from vibes_lsp.mcp.resources import JSON, RESOURCES, TEMPLATES, read_resource
from vibes_lsp.mcp.review_prompts import PROMPTS, prompt_text
from vibes_lsp.mcp.schemas import input_schema, output_schema
from vibes_lsp.mcp.tool_catalogue import Connection, ToolDefinition

_INSTRUCTIONS: Final = (
    "What AI agents wrote in this project, why, how risky it is and whether a person reviewed it. "
    f"Call `why` before you change code that you did not write in this session. {NOTICE}"
)


def served_provenance(connection: Connection, tools: Sequence[ToolDefinition]) -> Served:
    """Return what a server offers about a project: some tools, all resources and all prompts.

    Args:
        connection: The project, and what the client was told.
        tools: The tools.
    """
    by_name = {tool.name: tool for tool in tools}
    project = connection.project

    def call(name: str, arguments: dict[str, Any]) -> Any:
        return by_name[name].call(connection, arguments)

    def read(uri: str) -> tuple[str, str]:
        return JSON, as_line(project.answered(lambda: read_resource(project, uri)))

    def write_prompt(name: str, arguments: Mapping[str, str]) -> str:
        return project.answered(lambda: prompt_text(project, name, arguments))

    return Served(
        name="vibes",
        title="VIBES provenance",
        instructions=_INSTRUCTIONS,
        tools=[_listed(tool) for tool in tools],
        call=call,
        resources=RESOURCES,
        templates=TEMPLATES,
        read=read,
        prompts=PROMPTS,
        write_prompt=write_prompt,
        close=project.close,
    )


def _listed(tool: ToolDefinition) -> types.Tool:
    is_asking = tool.ask is not None
    return types.Tool(
        name=tool.name,
        title=tool.title,
        description=tool.description,
        input_schema=input_schema(tool.arguments, tool.left_out),
        output_schema=output_schema(tool.answer),
        annotations=types.ToolAnnotations(
            read_only_hint=is_asking,
            destructive_hint=False,
            idempotent_hint=is_asking,
            open_world_hint=False,
        ),
    )
