"""VS Code with our extension, built from source. A failed test leaves a screenshot."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any, Final

import pytest
from playwright.sync_api import Browser, sync_playwright

from tests.editors.conftest import has_failed
from tests.editors.terminal import SCRIPTS
from tests.editors.vscode.carried import carry_server
from tests.editors.vscode.companions import packed
from tests.editors.vscode.program import ENTRY, NODE, Program
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


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """A headless Chromium."""
    chromium = require_editor("chromium")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=chromium, args=["--no-sandbox", "--disable-gpu", "--no-first-run"]
        )
        yield browser
        browser.close()


@pytest.fixture
def open_window(
    browser: Browser, extensions: list[Path], tmp_path: Path, request: pytest.FixtureRequest
) -> Iterator[Open]:
    """Opens folders in VS Code with a fresh profile. On failure, saves logs and a screenshot."""
    require_editor(ENTRY)
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
            profile = tmp_path / f"profile-{len(opened)}"
            others = [packed(name, tmp_path) for name in beside]
            program = stack.enter_context(
                Program(profile, [*extensions, *others], chosen, environment, trusts=trusted)
            )
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
