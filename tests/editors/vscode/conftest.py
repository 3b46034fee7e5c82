"""VS Code with our extension, built from source. A failed test leaves a screenshot."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any, Final

import pytest
from playwright.sync_api import Browser, sync_playwright

from tests import leftovers
from tests.editors.conftest import has_failed
from tests.editors.terminal import SCRIPTS
from tests.editors.vscode.carried import carry_server
from tests.editors.vscode.companions import packed
from tests.editors.vscode.program import ENTRY, NODE, Program, install
from tests.editors.vscode.window import Window
from tests.requirements import REPOSITORY, require_editor

CLIENT: Final = REPOSITORY / "editors/vscode"
PARTNER: Final = Path(__file__).parent / "partner"
PICTURES: Final = REPOSITORY / "build/pictures"
SERVER: Final = SCRIPTS / "vibes-lsp"

Open = Callable[..., Window]


@pytest.fixture(scope="session")
def extensions(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """Our packaged extension, and one that uses its API."""
    require_editor(NODE)
    require_editor(CLIENT / "node_modules/.bin/vsce")
    folder = tmp_path_factory.mktemp("extensions")
    sources = folder / "sources"
    shutil.copytree(CLIENT, sources, ignore=shutil.ignore_patterns("node_modules", "dist"))
    (sources / "node_modules").symlink_to(CLIENT / "node_modules", target_is_directory=True)
    _run(sources, "npm", "run", "bundle")
    carry_server(sources, SERVER)
    return [
        _package(sources, folder / "vibes-lsp.vsix"),
        _package(PARTNER, folder / "partner.vsix"),
    ]


def _package(sources: Path, target: Path) -> Path:
    vsce = CLIENT / "node_modules/.bin/vsce"
    _run(
        sources,
        str(vsce),
        "package",
        "--no-dependencies",
        "--allow-missing-repository",
        "--skip-license",
        "--out",
        str(target),
    )
    return target


def _run(folder: Path, *command: str) -> None:
    path = f"{NODE.parent}{os.pathsep}{os.environ['PATH']}"
    done = subprocess.run(
        command,
        cwd=folder,
        env={**os.environ, "PATH": path},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.fixture(scope="package")
def browser() -> Iterator[Browser]:
    """A headless Chromium."""
    chromium = require_editor("chromium")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=chromium, args=["--no-sandbox", "--disable-gpu", "--no-first-run"]
        )
        yield browser
        browser.close()


class Programs:
    """Starts VS Code servers.

    One is shared by the tests that need nothing but settings: each of them has a browser profile,
    an extension host and a language server of its own.
    """

    def __init__(self, folder: Path, extensions: list[Path]) -> None:
        self._folder = folder
        self._extensions = extensions
        self._installed: dict[tuple[str, ...], Path] = {}
        self._shared = ExitStack()
        self._running: Program | None = None

    def shared(self, settings: Mapping[str, Any]) -> Program:
        """Return the shared server, with these settings alone."""
        if self._running is None:
            program = Program(self._new_folder("shared"), self.installed(()), settings)
            self._running = self._shared.enter_context(program)
            leftovers.shared.update(leftovers.marked_processes())
        self._running.begin(settings)
        return self._running

    def end_shared(self) -> None:
        """End the shared server: the next test that needs it starts another."""
        self._running = None
        self._shared.close()

    def installed(self, beside: tuple[str, ...]) -> Path:
        """Return a folder with our extensions and the named fake ones installed."""
        if beside not in self._installed:
            folder = self._new_folder("installed")
            others = [packed(name, folder) for name in beside]
            self._installed[beside] = install([*self._extensions, *others], folder)
        return self._installed[beside]

    def _new_folder(self, name: str) -> Path:
        return Path(tempfile.mkdtemp(prefix=f"{name}-", dir=self._folder))


@pytest.fixture(scope="session")
def programs(
    extensions: list[Path], tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Programs]:
    """Servers of VS Code, which end with the session."""
    require_editor(ENTRY)
    programs = Programs(tmp_path_factory.mktemp("programs"), extensions)
    yield programs
    programs.end_shared()


@pytest.fixture
def open_window(
    browser: Browser, programs: Programs, tmp_path: Path, request: pytest.FixtureRequest
) -> Iterator[Open]:
    """Opens folders in VS Code with a fresh profile. On failure, saves logs and a screenshot."""
    opened: list[tuple[Program, Window]] = []
    with ExitStack() as stack:

        def opens(
            folder: Path,
            *,
            beside: Sequence[str] = (),
            environment: dict[str, str] | None = None,
            trusted: bool = True,
            **settings: Any,
        ) -> Window:
            chosen = {
                "vibes.server.path": str(SERVER),
                **{name.replace("__", "."): value for name, value in settings.items()},
            }
            if beside or environment or not trusted or opened:
                profile = tmp_path / f"profile-{len(opened)}"
                installed = programs.installed(tuple(beside))
                program = stack.enter_context(
                    Program(profile, installed, chosen, environment, trusts=trusted)
                )
            else:
                program = programs.shared(chosen)
            context = stack.enter_context(
                browser.new_context(viewport={"width": 1280, "height": 1100})
            )
            window = Window(context.new_page(), program, folder)
            opened.append((program, window))
            return window

        yield opens
        if has_failed(request.node):
            for number, (program, window) in enumerate(opened):
                window.picture(PICTURES / "failed" / f"{request.node.name}-{number}.png")
                said = [program.log, *window.console[-20:], *window.notifications()]
                request.node.add_report_section("teardown", f"VS Code {number}", "\n".join(said))
            programs.end_shared()
