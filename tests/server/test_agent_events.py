"""The server records the events that agents' hooks have stored, and its answers have them."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING

from lsprotocol import types

from vibes_lsp.ingest.hook import store_event

if TYPE_CHECKING:
    from pathlib import Path

    from tests.server.editor import Editor
    from tests.server.project import Project


def store_edit(root: Path) -> Path:
    """Store the event of an agent that has written a file; return the stored event."""
    file = root / "b.py"
    event = {
        "session_id": "253351ad",
        "cwd": root.as_posix(),
        "hook_event_name": "PostToolUse",
        "tool_name": "Write",
        "tool_input": {"file_path": file.as_posix(), "content": file.read_text()},
        "tool_response": {"type": "create", "originalFile": None},
        "tool_use_id": "t1",
    }
    store_event(json.dumps(event).encode(), os.getcwd)
    [stored] = (root / ".ai-audit/spool/events").iterdir()
    return stored


async def shown(editor: Editor, uri: str) -> list[tuple[int, int, str]]:
    """Return lines and state of the first answer with a placement."""
    while True:
        found = (await editor.provenance(uri))["placements"]
        if found:
            return [(each["lineStart"], each["lineEnd"], each["state"]) for each in found]


def waits(stored: Path) -> bool:
    return stored.exists()


async def until_removed(editor: Editor, uri: str, stored: Path) -> None:
    """Wait until an event that was recorded is removed from the spool."""
    while waits(stored):
        await editor.provenance(uri)


async def test_an_event_is_shown_when_the_client_reports_it(
    editor: Editor, project: Project
) -> None:
    project.line("a.py", 1, 1)
    uri = await editor.open_known(project.file("b.py", "b = 1\nc = 2\n"))
    stored = store_edit(project.root)
    editor.watched(stored, types.FileChangeType.Created)
    assert await shown(editor, uri) == [(1, 2, "exact")]
    await until_removed(editor, uri, stored)


async def test_an_event_is_shown_when_a_file_is_opened(editor: Editor, project: Project) -> None:
    project.line("a.py", 1, 1)
    file = project.file("b.py", "b = 1\nc = 2\n")
    stored = store_edit(project.root)
    uri = editor.open(file)
    assert await shown(editor, uri) == [(1, 2, "exact")]
    await until_removed(editor, uri, stored)


async def test_an_event_is_shown_when_the_editor_loads_the_changed_file(
    editor: Editor, project: Project
) -> None:
    project.line("a.py", 1, 1)
    uri = await editor.open_known(project.file("b.py", "b = 1\n"))
    project.file("b.py", "b = 1\nc = 2\n")
    stored = store_edit(project.root)
    editor.insert(uri, 1, "c = 2\n")
    assert await shown(editor, uri) == [(1, 2, "exact")]
    await until_removed(editor, uri, stored)
