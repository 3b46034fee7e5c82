"""How the server comes to run: where it is looked for, the offer to install it, and what is said of one that does not fit."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

from tests.editors.vscode.carried import RELEASED
from tests.editors.vscode.conftest import PICTURES, SERVER, Open
from tests.editors.vscode.window import Window
from tests.server.project import Project


def _project(tmp_path: Path) -> Project:
    project = Project(tmp_path / "shop")
    project.config()
    project.environment()
    project.annotated("a.py")
    return project


class Servers:
    """Programs called `vibes-lsp` in several places; each says that it was started, and is the real one from then on."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._started = folder / "started"

    def put(self, place: str) -> Path:
        """Put one into a folder, and return it."""
        program = self.folder / place / "vibes-lsp"
        program.parent.mkdir(parents=True, exist_ok=True)
        program.write_text(
            f'#!/bin/sh\necho "{place}" >>"{self._started}"\nexec "{SERVER}" "$@"\n',
            encoding="utf-8",
        )
        program.chmod(0o755)
        return program

    @property
    def started(self) -> list[str]:
        """The places from which one was started, in order."""
        return self._started.read_text(encoding="utf-8").split() if self._started.exists() else []

    def expect(self, code: Window, *places: str) -> None:
        """Wait until the last one to be started is from the last of some places, after the others."""
        code.until(
            lambda: self.started == list(places),
            f"a start from {places}; there were {self.started}",
        )
        code.lens("AI edit")


def _python(folder: Path, first: str = "") -> None:
    """Put a `python3` into a folder: that of the tests, without their environment.

    Args:
        folder: The folder.
        first: What it does first, in shell.
    """
    folder.mkdir(parents=True, exist_ok=True)
    program = folder / "python3"
    program.write_text(
        f'#!/bin/sh\n{first}\nexec "{Path(sys.executable).resolve()}" "$@"\n', encoding="utf-8"
    )
    program.chmod(0o755)


def _login(home: Path, folders: list[Path]) -> dict[str, str]:
    """Return the variables of a user with a path of their own, as their shell's profile sets it: VS Code asks the shell."""
    path = os.pathsep.join([*map(str, folders), "/usr/bin", "/bin"])
    home.mkdir()
    (home / ".bash_profile").write_text(f'export PATH="{path}"\n', encoding="utf-8")
    return {"HOME": str(home), "SHELL": "/bin/bash", "PATH": path}


def test_the_server_is_found_in_the_documented_order_and_else_installed(
    open_window: Open, tmp_path: Path
) -> None:
    project = _project(tmp_path)
    servers = Servers(tmp_path / "servers")
    setting, python, path = servers.put("setting"), servers.put("python"), servers.put("path")
    own = servers.put(str(project.root / ".venv/bin"))
    released = servers.put("released")
    _python(tmp_path / "base")
    environment = {
        **_login(tmp_path / "home", [path.parent, tmp_path / "base"]),
        "SELECTED_PYTHON": str(python.with_name("python3")),
        "PIP_INDEX_URL": "http://127.0.0.1:9/",
        "PIP_REQUIRE_VIRTUALENV": "1",
        RELEASED: str(released),
    }
    code = open_window(
        project.root,
        beside=["selected_python"],
        environment=environment,
        vibes__server__path=str(setting),
    )
    code.open_file("a.py")
    servers.expect(code, "setting")

    code.program.choose({"vibes.server.path": ""})
    servers.expect(code, "setting", "python")
    python.unlink()
    code.command("VIBES: Restart Server")
    places = ["setting", "python", str(own.parent)]
    servers.expect(code, *places)
    own.unlink()
    code.command("VIBES: Restart Server")
    servers.expect(code, *places, "path")

    _status_says(code, "found on the path")

    path.unlink()
    code.command("VIBES: Restart Server")
    code.message("vibes-lsp was not found")
    _status_says(code, "missing")
    _press(code, "Install")
    code.message("installing the server: ")
    servers.expect(code, *places, "path", "released", "released")  # tried once, then started
    _status_says(code, "installed by this extension")
    assert code.blocked == [], "something looked outwards"


def test_a_failed_installation_names_its_cause_and_a_program_can_be_chosen(
    open_window: Open, tmp_path: Path
) -> None:
    project = _project(tmp_path)
    servers = Servers(tmp_path / "servers")
    chosen = servers.put("chosen")
    _python(chosen.parent)
    full = "[Errno 28] No space left on device"
    _python(tmp_path / "base", f'case "$*" in *" venv "*) echo "Error: {full}" >&2; exit 1; esac')
    code = open_window(
        project.root,
        environment=_login(tmp_path / "home", [tmp_path / "base"]),
        vibes__server__path="",
    )
    code.open_file("a.py")
    code.command("VIBES: Install Server")
    code.message("the server was not installed", full)
    code.picture(PICTURES / "install-failed.png")

    _press(code, "Choose Program…")
    _pick(code, tmp_path / "base/python3")
    code.message("there is no vibes-lsp beside", "base/python3")
    assert servers.started == []

    _press(code, "Choose Program…")
    _pick(code, chosen.with_name("python3"))
    servers.expect(code, "chosen", "chosen")  # asked for its version, then started
    _status_says(code, "named by vibes.server.path")
    assert code.blocked == [], "something looked outwards"


def _pick(code: Window, file: Path) -> None:
    """Choose a file in the open dialog."""
    title = code.page.locator(".quick-input-title", has_text="Choose vibes-lsp, or the Python")
    dialog = code.page.locator(".quick-input-widget", has=title)
    field = dialog.locator("input").first

    def picked() -> bool:
        field.fill(str(file))
        dialog.locator(".monaco-list-row", has_text=file.name).first.wait_for()
        field.press("Enter")
        title.wait_for(state="hidden")
        return True

    code.until(picked, f"{file} in the dialog")


def _press(code: Window, button: str) -> None:
    """Press a button of a notification."""
    buttons = code.page.locator(".notification-list-item .monaco-button", has_text=button)
    buttons.first.click()


def test_a_server_that_does_not_fit_is_named_and_says_what_to_do(
    open_window: Open, tmp_path: Path
) -> None:
    project = _project(tmp_path)
    old, new = (_of_version(tmp_path / version, version) for version in ("0.0.9", "9.0.0"))
    code = open_window(project.root, vibes__server__path=str(old))
    code.open_file("a.py")
    code.message(f"{old} is version 0.0.9", "needs 0.1.0 or newer: upgrade it with pip")
    _status_says(code, "upgrade it with pip")
    code.lens("AI edit")

    code.program.choose({"vibes.server.path": str(new)})
    code.message(f"{new} is version 9.0.0", "update the extension")

    code.program.choose({"vibes.server.path": str(tmp_path / "nowhere")})
    code.message("vibes.server.path names", "which is not a file")
    code.command("VIBES: Focus on Review View")
    code.wait_for(".welcome-view-content", "The server vibes-lsp is not running.")
    texts = code.page.locator(".welcome-view-content").all_inner_texts()
    assert "no audit trail" not in "".join(texts), "there is one"


def test_a_workspace_that_is_not_trusted_names_no_server(open_window: Open, tmp_path: Path) -> None:
    project = _project(tmp_path)
    servers = Servers(project.root)
    servers.put(".venv/bin")
    named, python, path = servers.put("named"), servers.put("python"), servers.put("path")
    linked = tmp_path / "linked"  # looks as if it were elsewhere
    linked.symlink_to(servers.put("behind").parent, target_is_directory=True)
    trusted = Servers(tmp_path / "trusted").put("path")
    project.file(
        ".vscode/settings.json",
        json.dumps({"vibes.server.path": str(named), "vibes.capture.inlineCompletions": True}),
    )
    environment = {
        **_login(tmp_path / "home", [path.parent, linked, trusted.parent]),
        "SELECTED_PYTHON": str(python.with_name("python3")),
    }
    code = open_window(
        project.root,
        beside=["selected_python"],
        environment=environment,
        trusted=False,
        vibes__server__path="",
        vibes__reviewer="Ada",
    )
    code.open_file("a.py")
    code.lens("AI edit")
    assert Servers(tmp_path / "trusted").started == ["path"]
    assert servers.started == [], "a program of the workspace was started"
    _status_says(code, "no server of this workspace is started, not trusted")
    code.command("VIBES: Toggle Capture of Accepted Completions")
    code.message("nothing is captured in an untrusted workspace")
    code.go_to(5)
    code.command("VIBES: Mark Reviewed…")
    code.answer("Read.", "Mark reviewed")
    code.until(lambda: not code.lenses(), "the review")

    code.program.choose({"vibes.server.path": "named/vibes-lsp"})
    code.message("is in this untrusted workspace")
    assert servers.started == []

    code.command("Workspaces: Manage Workspace Trust")
    code.page.locator(".workspace-trust-editor .monaco-button", has_text="Trust").first.click()
    code.open_file("a.py")
    code.until(lambda: servers.started == ["named"], "a start; no edit waits, so there is no lens")


def _status_says(code: Window, words: str) -> None:
    """Wait until the language status says something to somebody who does not see it."""
    code.wait_for(f"[id='status.languageStatus'][aria-label*={json.dumps(words)}]")


def _of_version(folder: Path, version: str) -> Path:
    """Make a server that says it is of another version."""
    folder.mkdir()
    program = folder / "vibes-lsp"
    lines = [
        "import vibes_lsp",
        f"vibes_lsp.__version__ = {version!r}",
        "from vibes_lsp.lsp.main import main",
        "main()",
    ]
    program.write_text(f"#!{sys.executable}\n" + "\n".join(lines) + "\n", encoding="utf-8")
    program.chmod(0o755)
    return program
