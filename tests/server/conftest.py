"""A real server process over stdio, met by clients that can do much, something else, and nothing."""

from __future__ import annotations

import sys
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Final

import pytest
import pytest_lsp
from lsprotocol import types
from pytest_lsp import ClientServerConfig
from typing_extensions import override

from tests import forked
from tests.requirements import in_nightly
from tests.server.editor import Editor, EditorClient
from tests.server.profiles import PROFILES, capabilities_of
from tests.server.project import Project
from tests.trails import CompleteTrail, complete

START: Final = "from vibes_lsp.lsp.main import main; main()"
SERVER: Final = [sys.executable, "-c", START]
"""The server in an interpreter of its own: where a test kills it, or asks the system about it."""


class _Forked(ClientServerConfig):
    """Starts the server as most tests do."""

    @override
    def get_server_command(self, devtools: str | None = None) -> list[str]:
        return [str(forked.program("vibes-lsp"))]


@pytest.fixture(scope="module")
def trail(tmp_path_factory: pytest.TempPathFactory) -> CompleteTrail:
    """The workspace folder: a trail that keeps every rule, at the highest level. Tests leave it as it is."""
    return complete(tmp_path_factory.mktemp("workspace"), "high")


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Run a test with a current VS Code; those that ask about capabilities, and all at night, with each client."""
    if "session" in metafunc.fixturenames:
        asks = metafunc.definition.get_closest_marker("every_profile") is not None
        profiles = PROFILES if asks or in_nightly() else PROFILES[:1]
        metafunc.parametrize("session", profiles, indirect=True, scope="module")


@pytest_lsp.fixture(
    scope="module",
    config=_Forked(server_command=[], client_factory=EditorClient),
)  # type: ignore[untyped-decorator]  # pytest-lsp ships no types for it
async def session(
    lsp_client: EditorClient, request: pytest.FixtureRequest, trail: CompleteTrail
) -> AsyncIterator[None]:
    """A client that is connected, with the capabilities of a profile."""
    folder = types.WorkspaceFolder(uri=trail.root.as_uri(), name="project")
    lsp_client.profile = request.param
    await lsp_client.initialize_session(
        types.InitializeParams(
            capabilities=capabilities_of(request.param),
            root_uri=folder.uri,
            workspace_folders=[folder],
        )
    )
    await Editor(lsp_client).begun()
    yield
    await lsp_client.shutdown_session()


@pytest.fixture
async def editor(session: EditorClient) -> AsyncIterator[Editor]:
    """The connected client as an editor; what a test leaves open or chosen is put back."""
    editor = Editor(session)
    yield editor
    await editor.leave()


@pytest.fixture
def project(tmp_path: Path) -> Project:
    """A project of one test's own, outside the workspace folder: the nearest audit directory owns a file all the same."""
    project = Project(tmp_path / "own")
    project.config()
    project.environment()
    return project
