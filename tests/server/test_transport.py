"""How a server is started: over TCP for one client, or not at all with a wrong address."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import re
import sys
from collections.abc import AsyncIterator
from typing import TYPE_CHECKING

import pytest
from lsprotocol import types

from tests.server.conftest import START
from tests.server.editor import Editor, EditorClient
from tests.server.profiles import capabilities_of
from tests.server.project import Project
from tests.waiting import TIMEOUT
from vibes_lsp import __version__

if TYPE_CHECKING:
    from asyncio.subprocess import Process


async def start(*arguments: str) -> Process:
    return await asyncio.create_subprocess_exec(
        sys.executable,
        "-c",
        START,
        *arguments,
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )


async def run(*arguments: str) -> tuple[int | None, str, str]:
    """Run the program to its end; return exit code, output and errors."""
    server = await start(*arguments)
    async with asyncio.timeout(TIMEOUT):
        output, errors = await server.communicate()
    return server.returncode, output.decode(), errors.decode()


@pytest.fixture
async def listening() -> AsyncIterator[tuple[Process, int]]:
    """A server of the test's own, and the port of this machine that it listens on."""
    server = await start("--tcp", "127.0.0.1:0")
    try:
        yield server, await port_of(server)
    finally:
        if server.returncode is None:
            server.terminate()
        await server.communicate()


@pytest.fixture
async def client(listening: tuple[Process, int]) -> AsyncIterator[EditorClient]:
    """A client that is connected to it."""
    client = EditorClient()
    client.profile = "vscode_current"
    await client.start_tcp("127.0.0.1", listening[1])
    yield client
    await client.stop()  # type: ignore[no-untyped-call]  # of pytest-lsp
    connection = client.protocol.writer
    assert isinstance(connection, asyncio.StreamWriter)
    connection.close()  # the library leaves it open
    with contextlib.suppress(ConnectionError):
        await connection.wait_closed()


async def port_of(server: Process) -> int:
    """Return the port that a server says it listens on, in the last line of its log so far."""
    assert server.stderr is not None
    async with asyncio.timeout(TIMEOUT):
        line = (await server.stderr.readline()).decode()
    found = re.fullmatch(
        r"INFO vibes_lsp\.lsp\.transport: listening on 127\.0\.0\.1:(\d+)\s*", line
    )
    assert found is not None, line
    return int(found[1])


async def test_a_client_is_answered_over_tcp(
    listening: tuple[Process, int], client: EditorClient, project: Project
) -> None:
    folder = types.WorkspaceFolder(uri=project.root.as_uri(), name="project")
    answer = await client.initialize_session(
        types.InitializeParams(
            capabilities=capabilities_of(client.profile),
            root_uri=folder.uri,
            workspace_folders=[folder],
        )
    )
    assert answer.server_info == types.ServerInfo("vibes-lsp", __version__)
    editor = Editor(client)
    uri = editor.open(project.annotated())
    assert "claude-opus-4-5" in await editor.hover(uri, 4)
    assert len(await editor.lenses(uri)) == 1
    assert (await editor.provenance(uri))["placements"][0]["state"] == "exact"
    await client.shutdown_session()
    async with asyncio.timeout(TIMEOUT):
        assert await listening[0].wait() == 0


async def test_nobody_else_gets_in_while_a_client_is_served(
    listening: tuple[Process, int], client: EditorClient, project: Project
) -> None:
    await client.initialize_session(
        types.InitializeParams(
            capabilities=capabilities_of(client.profile), root_uri=project.root.as_uri()
        )
    )
    editor = Editor(client)
    uri = editor.open(project.annotated())
    with contextlib.suppress(ConnectionError):
        reader, writer = await asyncio.open_connection("127.0.0.1", listening[1])
        writer.close()
        assert await reader.read() == b""
    assert "claude-opus-4-5" in await editor.hover(uri, 4)
    await client.shutdown_session()


@pytest.mark.parametrize(
    "said",
    [b"", b"Content-Length: 50", b'Content-Length: 50\r\n\r\n{"jsonrpc":'],
    ids=["nothing", "head", "part"],
)
async def test_a_client_that_goes_away_ends_it(listening: tuple[Process, int], said: bytes) -> None:
    server, port = listening
    _, writer = await asyncio.open_connection("127.0.0.1", port)
    writer.write(said)
    writer.close()
    async with asyncio.timeout(TIMEOUT):
        _, errors = await server.communicate()
    assert server.returncode == 0
    assert b"Traceback" not in errors


async def test_the_version() -> None:
    assert await run("--version") == (0, f"vibes-lsp {__version__}{os.linesep}", "")


@pytest.mark.parametrize(
    "address",
    [
        "",
        "localhost",
        "127.0.0.1",
        "127.0.0.1:",
        "127.0.0.1:lsp",
        "127.0.0.1:-1",
        "127.0.0.1:65536",
        ":1.5",
    ],
)
async def test_a_wrong_address_is_refused(address: str) -> None:
    code, output, errors = await run("--tcp", address)
    assert (code, output) == (2, "")
    assert (
        errors.splitlines()[-1] == f"vibes-lsp: error: argument --tcp: {address!r} is not HOST:PORT"
    )


@pytest.mark.parametrize("arguments", [("--tcp",), ("--socket", "1"), ("file.py",)], ids=" ".join)
async def test_arguments_that_it_does_not_know_are_refused(arguments: tuple[str, ...]) -> None:
    code, output, errors = await run(*arguments)
    assert (code, output) == (2, "")
    assert errors.startswith("usage: vibes-lsp ")
    assert "Traceback" not in errors


async def test_standard_output_stays_empty_until_somebody_speaks() -> None:
    _, output, errors = await run("--stdio")
    assert output == ""
    assert "Traceback" not in errors


async def test_it_ends_for_a_client_that_reads_no_more() -> None:
    reading, writing = os.pipe()
    server = await asyncio.create_subprocess_exec(
        *(sys.executable, "-c", START),
        stdin=asyncio.subprocess.PIPE,
        stdout=writing,
        stderr=asyncio.subprocess.DEVNULL,
    )
    os.close(writing)
    os.close(reading)
    assert server.stdin is not None
    for message in (
        {"id": 1, "method": "initialize", "params": {"capabilities": {}}},
        {"id": 2, "method": "shutdown"},
        {"method": "exit"},
    ):
        body = json.dumps({"jsonrpc": "2.0", **message}).encode()
        server.stdin.write(b"Content-Length: %d\r\n\r\n%b" % (len(body), body))
    async with asyncio.timeout(TIMEOUT):
        assert await server.wait() == 0
