"""The MCP server of a project: tools, resources and prompts about what AI agents wrote in it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, TypeVar

from mcp import types

from vibes_lsp.errors import OutdatedIndex
from vibes_lsp.mcp.answers import NOTICE
from vibes_lsp.mcp.message_loop import Served, as_line
from vibes_lsp.mcp.resources import RESOURCES, TEMPLATES, read_resource
from vibes_lsp.mcp.review_prompts import PROMPTS, prompt_text
from vibes_lsp.mcp.schemas import input_schema, output_schema
from vibes_lsp.mcp.tool_catalogue import Connection, ToolDefinition

_INSTRUCTIONS: Final = (
    "What AI agents wrote in this project, why, how risky it is and whether a person reviewed it. "
    f"Call `why` before you change code that you did not write in this session. {NOTICE}"
)
_JSON: Final = "application/json"

R = TypeVar("R")


def served_provenance(connection: Connection, tools: Sequence[ToolDefinition]) -> Served:
    """Return what a server offers about a project: some tools, all resources and all prompts.

    Args:
        connection: The project, and what the client was told.
        tools: The tools.
    """
    by_name = {tool.name: tool for tool in tools}
    project = connection.project

    def call(name: str, arguments: dict[str, Any]) -> Any:
        tool = by_name[name]
        return _answered(
            connection, lambda: tool.call(connection, arguments), is_repeatable=not tool.records
        )

    def read(uri: str) -> tuple[str, str]:
        def resource() -> str:
            project.refresh()
            return as_line(read_resource(project, uri))

        return _JSON, _answered(connection, resource)

    def write_prompt(name: str, arguments: Mapping[str, str]) -> str:
        def prompt() -> str:
            project.refresh()
            return prompt_text(project, name, arguments)

        return _answered(connection, prompt)

    file = types.PromptArgument(name="file", description="The file.", required=True)
    return Served(
        name="vibes",
        title="VIBES provenance",
        instructions=_INSTRUCTIONS,
        tools=[_listed(tool) for tool in tools],
        call=call,
        resources=[
            types.Resource(
                uri=resource.uri,
                name=resource.name,
                description=resource.description,
                mime_type=_JSON,
            )
            for resource in RESOURCES
        ],
        templates=[
            types.ResourceTemplate(
                uri_template=template.uri,
                name=template.name,
                description=template.description,
                mime_type=_JSON,
            )
            for template in TEMPLATES
        ],
        read=read,
        prompts=[
            types.Prompt(
                name=prompt.name,
                title=prompt.title,
                description=prompt.description,
                arguments=[file] if prompt.takes_file else [],
            )
            for prompt in PROMPTS
        ],
        write_prompt=write_prompt,
        close=project.close,
    )


def _listed(tool: ToolDefinition) -> types.Tool:
    return types.Tool(
        name=tool.name,
        title=tool.title,
        description=tool.description,
        input_schema=input_schema(tool.arguments, tool.left_out),
        output_schema=output_schema(tool.answer),
        annotations=types.ToolAnnotations(
            title=tool.title,
            read_only_hint=not tool.records,
            destructive_hint=False,
            idempotent_hint=not tool.records,
            open_world_hint=False,
        ),
    )


def _answered(connection: Connection, answer: Callable[[], R], *, is_repeatable: bool = True) -> R:
    """Return an answer, asked again if the log was rewritten meanwhile."""
    try:
        try:
            return answer()
        except OutdatedIndex:
            if not is_repeatable:
                raise
            return answer()
    finally:
        connection.project.end_answer()
