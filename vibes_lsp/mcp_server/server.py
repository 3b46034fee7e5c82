"""The MCP server over standard input and output, by the official SDK.

Requests run one after the other in one thread, because a trail belongs to a thread. A failing tool
answers with an error that says what to do; nothing that a client sends ends the server.
"""

from __future__ import annotations

import asyncio
import io
import json
import logging
import re
import sys
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any, BinaryIO, Final, TypeVar

import anyio
from mcp import MCPError, types
from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel import Server
from mcp.server.stdio import stdio_server
from typing_extensions import override

from vibes_lsp import __version__
from vibes_lsp.errors import OutdatedIndex, VibesError, report
from vibes_lsp.mcp_server.answers import NOTICE
from vibes_lsp.mcp_server.resources import RESOURCES, TEMPLATES, read_resource
from vibes_lsp.mcp_server.review_prompts import PROMPTS, prompt_text
from vibes_lsp.mcp_server.schemas import input_schema, output_schema
from vibes_lsp.mcp_server.tool_catalogue import Connection, ToolDefinition
from vibes_lsp.model.escaping import single_line
from vibes_lsp.model.members import Members

MAX_MESSAGE: Final = 4 << 20
"""Longest message in bytes; a longer one is skipped and answered with an error."""
_TOO_LONG: Final = "vibes/message-too-long"
"""The method that replaces the one of a message that is too long."""
_ID: Final = re.compile(rb'"id"\s*:\s*(\d{1,18}|"[\w.:-]{1,100}")')
_END: Final = 1 << 10
"""Bytes at each end of a long message in which its id is searched."""
_MAX_ERROR: Final = 1_000
_INSTRUCTIONS: Final = (
    "What AI agents wrote in this project, why, how risky it is and whether a person reviewed it. "
    f"Call `why` before you change code that you did not write in this session. {NOTICE}"
)

R = TypeVar("R")
Context = ServerRequestContext[Any]


def serve(connection: Connection, tools: Sequence[ToolDefinition]) -> None:
    """Serve the client that started this program, until it closes standard input."""
    logging.getLogger("mcp").addHandler(logging.NullHandler())  # else warnings go to stderr
    with ThreadPoolExecutor(max_workers=1) as thread:
        try:
            server = create_server(connection, tools, thread)
            asyncio.run(run_on_standard_streams(server, sys.stdin.buffer))
        finally:
            thread.submit(connection.project.close)


async def run_on_standard_streams(server: Server[Any], stdin: BinaryIO) -> None:
    """Answer the messages on standard input, until it ends; a message that is too long is refused.

    Args:
        server: What answers.
        stdin: Standard input.
    """
    server.add_request_handler(_TOO_LONG, types.RequestParams, _refuse_long)
    messages: Any = _Messages(stdin)
    async with stdio_server(stdin=anyio.wrap_file(messages)) as (received, sent):
        await server.run(received, sent, server.create_initialization_options())


def create_server(
    connection: Connection, tools: Sequence[ToolDefinition], thread: ThreadPoolExecutor
) -> Server[Any]:
    """Return a server with some tools, all resources and all prompts.

    Args:
        connection: The project, and what the client was told.
        tools: The tools.
        thread: The thread in which they run.
    """
    by_name = {tool.name: tool for tool in tools}

    async def run(work: Callable[[], R]) -> R:
        return await asyncio.get_running_loop().run_in_executor(thread, work)

    async def list_tools(_: Context, __: object) -> types.ListToolsResult:
        return types.ListToolsResult(tools=[_listed(tool) for tool in tools])

    async def call_tool(_: Context, call: types.CallToolRequestParams) -> types.CallToolResult:
        tool = by_name.get(call.name)
        if tool is None:
            known = ", ".join(by_name)
            raise MCPError(types.INVALID_PARAMS, f"no tool has this name; there are {known}")
        return await run(partial(_call, tool, connection, call.arguments or {}))

    async def list_resources(_: Context, __: object) -> types.ListResourcesResult:
        return types.ListResourcesResult(
            resources=[
                types.Resource(
                    uri=each.uri,
                    name=each.name,
                    description=each.description,
                    mime_type="application/json",
                )
                for each in RESOURCES
            ]
        )

    async def list_templates(_: Context, __: object) -> types.ListResourceTemplatesResult:
        return types.ListResourceTemplatesResult(
            resource_templates=[
                types.ResourceTemplate(
                    uri_template=each.uri,
                    name=each.name,
                    description=each.description,
                    mime_type="application/json",
                )
                for each in TEMPLATES
            ]
        )

    async def read(_: Context, wanted: types.ReadResourceRequestParams) -> types.ReadResourceResult:
        uri = str(wanted.uri)
        content = await run(partial(_refreshed, connection, partial(_resource, connection, uri)))
        return types.ReadResourceResult(
            contents=[
                types.TextResourceContents(uri=uri, mime_type="application/json", text=content)
            ]
        )

    async def list_prompts(_: Context, __: object) -> types.ListPromptsResult:
        file = types.PromptArgument(name="file", description="The file.", required=True)
        return types.ListPromptsResult(
            prompts=[
                types.Prompt(
                    name=each.name,
                    title=each.title,
                    description=each.description,
                    arguments=[file] if each.takes_file else [],
                )
                for each in PROMPTS
            ]
        )

    async def get_prompt(_: Context, wanted: types.GetPromptRequestParams) -> types.GetPromptResult:
        written = partial(prompt_text, connection.project, wanted.name, wanted.arguments or {})
        text = await run(partial(_refreshed, connection, written))
        content = types.TextContent(type="text", text=text)
        return types.GetPromptResult(messages=[types.PromptMessage(role="user", content=content)])

    server: Server[Any] = Server(
        "vibes",
        version=__version__,
        title="VIBES provenance",
        instructions=_INSTRUCTIONS,
        on_list_tools=list_tools,
        on_call_tool=call_tool,
        on_list_resources=list_resources,
        on_list_resource_templates=list_templates,
        on_read_resource=read,
        on_list_prompts=list_prompts,
        on_get_prompt=get_prompt,
    )
    return server


async def _refuse_long(_: Context, __: types.RequestParams) -> types.EmptyResult:
    raise MCPError(types.INVALID_REQUEST, f"the message is longer than {MAX_MESSAGE:,} bytes")


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


def _call(
    tool: ToolDefinition, connection: Connection, arguments: dict[str, Any]
) -> types.CallToolResult:
    """Return the answer of a tool, or its error as a result, which the model sees."""
    try:
        answer = _answered(
            connection, lambda: tool.call(connection, arguments), is_repeatable=not tool.records
        )
    except Exception as error:  # noqa: BLE001  # an error of one call must not end the server
        return failed_call(error)
    content = types.TextContent(type="text", text=_json(answer))
    return types.CallToolResult(content=[content], structured_content=answer)


def _refreshed(connection: Connection, work: Callable[[], R]) -> R:
    """Return the result of work on the present state.

    Raises:
        MCPError: It failed.
    """

    def answer() -> R:
        connection.project.refresh()
        return work()

    try:
        return _answered(connection, answer)
    except Exception as error:  # noqa: BLE001  # as for tools
        raise failed_request(error) from None


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


def _resource(connection: Connection, uri: str) -> str:
    return _json(read_resource(connection.project, uri))


def _json(members: Members) -> str:
    """Return an answer as text on one line, in which no recorded text starts a line."""
    return json.dumps(members, ensure_ascii=False)


def failed_call(error: Exception) -> types.CallToolResult:
    """Return an error as the result of a tool, which the model sees."""
    content = types.TextContent(type="text", text=_describe(error))
    return types.CallToolResult(content=[content], is_error=True)


def failed_request(error: Exception) -> MCPError:
    """Return an error of a request that is no call of a tool."""
    code = types.INVALID_PARAMS if isinstance(error, VibesError) else types.INTERNAL_ERROR
    return MCPError(code, _describe(error))


def _describe(error: Exception) -> str:
    known = error if isinstance(error, VibesError) else report(error)
    hint = f" ({known.hint})" if known.hint else ""
    return single_line(f"{known.message}{hint}", _MAX_ERROR)


class _Messages(io.TextIOBase):
    """The lines of standard input; of one that is too long, only an error reaches the server."""

    def __init__(self, stdin: BinaryIO) -> None:
        self._stdin = stdin

    @override
    def readline(self, size: int = -1, /) -> str:  # type: ignore[override]
        line = self._stdin.readline(MAX_MESSAGE + 1)
        if len(line) <= MAX_MESSAGE or line.endswith(b"\n"):
            return line.decode("utf-8", "replace")
        ends = line[:_END]
        while not line.endswith(b"\n") and (more := self._stdin.readline(MAX_MESSAGE)):
            line = line[-_END:] + more
        found = _ID.findall(ends + line[-_END:])
        identifier = found[-1] if len(found) == 1 else b"null"
        return f'{{"jsonrpc":"2.0","id":{identifier.decode()},"method":"{_TOO_LONG}"}}\n'
