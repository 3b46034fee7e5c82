"""How the server comes to run: where it is looked for, the offer to install it, and what is said of one that does not fit."""

from __future__ import annotations

import json
import os
import sys
import zipfile
from pathlib import Path

from tests.editors.vscode.conftest import SERVER, Open
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
        code.lens("exact")


def _wheel(folder: Path, server: Path) -> Path:
    """Make a release of the server for pip to find: its program is another one."""
    name, record = "vibes_lsp-0.1.0", "vibes_lsp-0.1.0.dist-info"
    files = {
        "vibes_lsp_release.py": f"import os, sys\n\ndef main():\n    os.execv({str(server)!r}, [{str(server)!r}, *sys.argv[1:]])\n",
        f"{record}/METADATA": "Metadata-Version: 2.1\nName: vibes-lsp\nVersion: 0.1.0\n",
        f"{record}/WHEEL": "Wheel-Version: 1.0\nGenerator: tests\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
        f"{record}/entry_points.txt": "[console_scripts]\nvibes-lsp = vibes_lsp_release:main\n",
    }
    folder.mkdir()
    with zipfile.ZipFile(folder / f"{name}-py3-none-any.whl", "w") as archive:
        for path, content in files.items():
            archive.writestr(path, content)
        archive.writestr(
            f"{record}/RECORD", "".join(f"{path},,\n" for path in [*files, f"{record}/RECORD"])
        )
    return folder


def _python(folder: Path) -> None:
    """Put a `python3` into a folder: that of the tests, without their environment."""
    folder.mkdir(parents=True, exist_ok=True)
    program = folder / "python3"
    program.write_text(
        f'#!/bin/sh\nexec "{Path(sys.executable).resolve()}" "$@"\n', encoding="utf-8"
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
    released = servers.put("released")
    _python(tmp_path / "base")
    environment = {
        **_login(tmp_path / "home", [path.parent, tmp_path / "base"]),
        "SELECTED_PYTHON": str(python.with_name("python3")),
        "PIP_NO_INDEX": "1",
        "PIP_FIND_LINKS": str(_wheel(tmp_path / "wheels", released)),
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
    servers.expect(code, "setting", "python", "path")

    _status_says(code, "found on the path")

    path.unlink()
    code.command("VIBES: Restart Server")
    code.message("vibes-lsp was not found")
    _status_says(code, "missing")
    code.page.locator(".notification-list-item .monaco-button", has_text="Install").first.click()
    code.message("installing the server: ")
    servers.expect(code, "setting", "python", "path", "released")
    _status_says(code, "installed by this extension")
    assert code.blocked == [], "something looked outwards"


def test_a_server_that_does_not_fit_is_named_and_says_what_to_do(
    open_window: Open, tmp_path: Path
) -> None:
    project = _project(tmp_path)
    old, new = (_of_version(tmp_path / version, version) for version in ("0.0.9", "9.0.0"))
    code = open_window(project.root, vibes__server__path=str(old))
    code.open_file("a.py")
    code.message(f"{old} is version 0.0.9", "needs 0.1.0 or newer: upgrade it with pip")
    _status_says(code, "upgrade it with pip")
    code.lens("exact")

    code.program.choose({"vibes.server.path": str(new)})
    code.message(f"{new} is version 9.0.0", "update the extension")

    code.program.choose({"vibes.server.path": str(tmp_path / "nowhere")})
    code.message("vibes.server.path names", "which is not a file")


def test_a_workspace_that_is_not_trusted_names_no_server(open_window: Open, tmp_path: Path) -> None:
    project = _project(tmp_path)
    servers = Servers(project.root)
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
    code.lens("exact")
    assert Servers(tmp_path / "trusted").started == ["path"]
    assert servers.started == [], "a program of the workspace was started"
    _status_says(code, "no server of this workspace is started, not trusted")
    code.command("VIBES: Toggle Capture of Accepted Completions")
    code.message("nothing is captured in an untrusted workspace")
    code.go_to(5)
    code.command("VIBES: Mark Reviewed")
    code.answer("Read.", "Mark reviewed")
    code.until(lambda: code.lens("exact")[1].endswith("approved"), "the review")

    code.program.choose({"vibes.server.path": "named/vibes-lsp"})
    code.message("is in this untrusted workspace")
    assert servers.started == []

    code.command("Workspaces: Manage Workspace Trust")
    code.page.locator(".workspace-trust-editor .monaco-button", has_text="Trust").first.click()
    code.open_file("a.py")
    servers.expect(code, "named")


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
