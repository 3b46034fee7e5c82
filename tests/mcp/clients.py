"""Clients of `vibes mcp`: the SDK's own over standard input and output, and a raw one."""

from __future__ import annotations

import asyncio
import json
import sys
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import jsonschema
from mcp import Client, StdioServerParameters, stdio_client

from tests import forked

if TYPE_CHECKING:
    from collections.abc import AsyncIterator


class Connected:
    """A connected client, which checks each answer against the tool's published schema."""

    def __init__(self, client: Client, schemas: dict[str, Any]) -> None:
        self.client = client
        self.schemas = schemas

    async def ask(self, tool: str, /, **arguments: Any) -> dict[str, Any]:
        """Call a tool that succeeds; return its answer."""
        result = await self.client.call_tool(tool, arguments)
        assert not result.is_error, result.content
        answer: dict[str, Any] = result.structured_content
        jsonschema.validate(answer, self.schemas[tool])
        [content] = result.content
        assert content.type == "text"
        assert json.loads(content.text) == answer
        assert len(content.text.splitlines()) == 1
        return answer

    async def fail(self, tool: str, /, **arguments: Any) -> str:
        """Call a tool that fails; return its error."""
        result = await self.client.call_tool(tool, arguments)
        assert result.is_error
        [content] = result.content
        assert content.type == "text"
        assert result.structured_content is None
        return content.text

    async def read(self, uri: str) -> dict[str, Any]:
        """Read a resource."""
        [content] = (await self.client.read_resource(uri)).contents
        found: dict[str, Any] = json.loads(content.model_dump()["text"])
        return found


@asynccontextmanager
async def connected(folder: Path, *options: str, mode: str = "auto") -> AsyncIterator[Connected]:
    """Start the server in a folder and connect to it."""
    parameters = StdioServerParameters(
        command=str(forked.program("vibes mcp")), args=["mcp", *options], cwd=str(folder)
    )
    try:
        async with Client(stdio_client(parameters), mode=mode) as client:
            listed = (await client.list_tools()).tools
            for tool in listed:
                jsonschema.Draft202012Validator.check_schema(tool.input_schema)
            yield Connected(client, {tool.name: tool.output_schema for tool in listed})
    except BaseExceptionGroup as group:  # the client's tasks wrap what a test raises
        error: BaseException = group
        while isinstance(error, BaseExceptionGroup):
            error = error.exceptions[0]
        raise error from None


class RawClient:
    """Writes any bytes to a server, and reads its messages."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self._process = process

    async def send(self, data: bytes) -> None:
        """Write bytes as they are."""
        assert self._process.stdin is not None
        self._process.stdin.write(data)
        await self._process.stdin.drain()

    async def request(self, identifier: int, method: str, **params: Any) -> None:
        """Send a request."""
        message = {"jsonrpc": "2.0", "id": identifier, "method": method, "params": params}
        await self.send(json.dumps(message).encode() + b"\n")

    async def answer(self, identifier: int) -> dict[str, Any]:
        """Return the answer to a request; others are dropped."""
        assert self._process.stdout is not None
        while line := await self._process.stdout.readline():
            message: dict[str, Any] = json.loads(line)
            if message.get("id") == identifier:
                return message
        raise AssertionError("the server has ended")

    async def handshake(self) -> None:
        """Say hello as older clients do."""
        await self.request(
            0,
            "initialize",
            protocolVersion="2025-06-18",
            capabilities={},
            clientInfo={"name": "raw", "version": "1"},
        )
        await self.answer(0)
        await self.send(b'{"jsonrpc":"2.0","method":"notifications/initialized"}\n')


@asynccontextmanager
async def raw(folder: Path) -> AsyncIterator[RawClient]:
    """Start the server for a client that breaks rules; at the end it must exit by itself."""
    process = await asyncio.create_subprocess_exec(
        forked.program("vibes mcp"),
        "mcp",
        cwd=folder,
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=sys.stderr,
        limit=32 << 20,
    )
    try:
        yield RawClient(process)
        assert process.stdin is not None
        process.stdin.close()
        assert await process.wait() == 0
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()
