"""An MCP server over standard input and output, by the official SDK, for anything that it serves.

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
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from typing import Any, BinaryIO, Final, TypeVar

import anyio
from mcp import MCPError, types
from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel import Server
from mcp.server.stdio import stdio_server
from typing_extensions import override

from vibes_lsp import __version__
from vibes_lsp.errors import VibesError, report
from vibes_lsp.model.escaping import single_line

MAX_MESSAGE: Final = 4 << 20
"""Longest message in bytes; a longer one is skipped and answered with an error."""
_TOO_LONG: Final = "vibes/message-too-long"
"""The method that replaces the one of a message that is too long."""
_ID: Final = re.compile(rb'"id"\s*:\s*(\d{1,18}|"[\w.:-]{1,100}")')
_END: Final = 1 << 10
"""Bytes at each end of a long message in which its id is searched."""
_MAX_ERROR: Final = 1_000

R = TypeVar("R")
_Context = ServerRequestContext[Any]


@dataclass(frozen=True, slots=True)
class Served:
    """What a server offers. Its functions run in one thread, and raise what is wrong.

    Attributes:
        name: The server's name.
        title: Its name for people.
        instructions: What it is for, for the model.
        tools: The tools.
        call: Returns the answer of a tool by its name and arguments.
        resources: The resources.
        templates: The templates of resources.
        read: Returns media type and text of a resource by its URI.
        prompts: The prompts.
        write_prompt: Returns the text of a prompt by its name and arguments.
        close: Called at the end.
    """

    name: str
    title: str
    instructions: str
    tools: Sequence[types.Tool]
    call: Callable[[str, dict[str, Any]], Any]
    resources: Sequence[types.Resource]
    templates: Sequence[types.ResourceTemplate]
    read: Callable[[str], tuple[str, str]]
    prompts: Sequence[types.Prompt]
    write_prompt: Callable[[str, Mapping[str, str]], str]
    close: Callable[[], None]


def serve(served: Served) -> None:
    """Serve the client that started this program, until it closes standard input."""
    logging.getLogger("mcp").addHandler(logging.NullHandler())  # else warnings go to stderr
    with ThreadPoolExecutor(max_workers=1) as thread:
        try:
            asyncio.run(_answer_messages(_create_server(served, thread), sys.stdin.buffer))
        finally:
            thread.submit(served.close)


async def _answer_messages(server: Server[Any], stdin: BinaryIO) -> None:
    """Answer the messages on standard input, until it ends; one that is too long is refused."""
    server.add_request_handler(_TOO_LONG, types.RequestParams, _refuse_long)
    messages: Any = _Messages(stdin)
    async with stdio_server(stdin=anyio.wrap_file(messages)) as (received, sent):
        await server.run(received, sent, server.create_initialization_options())


async def _refuse_long(_: _Context, __: types.RequestParams) -> types.EmptyResult:
    raise MCPError(types.INVALID_REQUEST, f"the message is longer than {MAX_MESSAGE:,} bytes")


def _create_server(served: Served, thread: ThreadPoolExecutor) -> Server[Any]:
    async def run(work: Callable[[], R]) -> R:
        return await asyncio.get_running_loop().run_in_executor(thread, work)

    async def list_tools(_: _Context, __: object) -> types.ListToolsResult:
        return types.ListToolsResult(tools=list(served.tools))

    async def call_tool(_: _Context, call: types.CallToolRequestParams) -> types.CallToolResult:
        if call.name not in tool_names:
            raise MCPError(
                types.INVALID_PARAMS, f"no tool has this name; there are {', '.join(tool_names)}"
            )
        return await run(partial(_call, served, call.name, call.arguments or {}))

    async def list_resources(_: _Context, __: object) -> types.ListResourcesResult:
        return types.ListResourcesResult(resources=list(served.resources))

    async def list_templates(_: _Context, __: object) -> types.ListResourceTemplatesResult:
        return types.ListResourceTemplatesResult(resource_templates=list(served.templates))

    async def read(
        _: _Context, request: types.ReadResourceRequestParams
    ) -> types.ReadResourceResult:
        uri = str(request.uri)
        form, text = await run(partial(_request, partial(served.read, uri)))
        content = types.TextResourceContents(uri=uri, mime_type=form, text=text)
        return types.ReadResourceResult(contents=[content])

    async def list_prompts(_: _Context, __: object) -> types.ListPromptsResult:
        return types.ListPromptsResult(prompts=list(served.prompts))

    async def get_prompt(
        _: _Context, request: types.GetPromptRequestParams
    ) -> types.GetPromptResult:
        write = partial(served.write_prompt, request.name, request.arguments or {})
        content = types.TextContent(type="text", text=await run(partial(_request, write)))
        return types.GetPromptResult(messages=[types.PromptMessage(role="user", content=content)])

    tool_names = [tool.name for tool in served.tools]
    return Server(
        served.name,
        version=__version__,
        title=served.title,
        instructions=served.instructions,
        on_list_tools=list_tools,
        on_call_tool=call_tool,
        on_list_resources=list_resources,
        on_list_resource_templates=list_templates,
        on_read_resource=read,
        on_list_prompts=list_prompts,
        on_get_prompt=get_prompt,
    )


def _call(served: Served, name: str, arguments: dict[str, Any]) -> types.CallToolResult:
    """Return the answer of a tool, or its error as a result, which the model sees."""
    try:
        answer = served.call(name, arguments)
    except Exception as error:  # noqa: BLE001  # an error of one call must not end the server
        content = types.TextContent(type="text", text=_describe(error))
        return types.CallToolResult(content=[content], is_error=True)
    content = types.TextContent(type="text", text=as_line(answer))
    structured = answer if isinstance(answer, dict) else {"result": answer}
    return types.CallToolResult(content=[content], structured_content=structured)


def _request(work: Callable[[], R]) -> R:
    """Return the result of work.

    Raises:
        MCPError: It failed.
    """
    try:
        return work()
    except Exception as error:  # noqa: BLE001  # as for tools
        code = types.INVALID_PARAMS if isinstance(error, VibesError) else types.INTERNAL_ERROR
        raise MCPError(code, _describe(error)) from None


def as_line(answer: Any) -> str:
    """Return an answer as JSON on one line, in which no recorded text starts a line."""
    return json.dumps(answer, ensure_ascii=False)


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
        identifiers = _ID.findall(ends + line[-_END:])
        identifier = identifiers[-1] if len(identifiers) == 1 else b"null"
        return f'{{"jsonrpc":"2.0","id":{identifier.decode()},"method":"{_TOO_LONG}"}}\n'
