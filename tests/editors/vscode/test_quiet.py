"""Where there is no audit trail nothing runs, until one appears."""

from __future__ import annotations

from pathlib import Path

from tests.editors.vscode.conftest import SERVER, Open
from tests.server.project import STORY, Project


def test_a_folder_without_a_trail_starts_no_server_until_it_has_one(open_window: Open, tmp_path: Path) -> None:
    folder = tmp_path / "plain"
    folder.mkdir()
    (folder / "a.py").write_text(STORY, encoding="utf-8")
    started = tmp_path / "started"
    server = tmp_path / "server"
    server.write_text(f'#!/bin/sh\ntouch "{started}"\nexec "{SERVER}" "$@"\n', encoding="utf-8")
    server.chmod(0o755)
    code = open_window(folder, vibes__server__path=str(server))
    code.open_file("a.py")
    code.command("VIBES: Show Log")  # the extension is awake by now, and has looked
    code.wait_for(".part.panel .output-view-container, .part.panel .view-lines")
    assert not started.exists()

    plain = Project(folder)
    plain.config()
    plain.environment()
    plain.annotated("a.py")
    code.lens("exact")
    assert started.exists()
