"""Records without members, or with members of another type: recording commands ignore them."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Final

import pytest

from tests.stories.workspace import LOG, Workspace
from tests.trails import annotation_id

if TYPE_CHECKING:
    from pathlib import Path

    from tests.cli.run_vibes import RunVibes

CHANGES: Final[dict[str, dict[str, Any]]] = {
    "a function with a first line": {"type": "function", "function_name": "one", "line_end": ...},
    "a function with a last line": {"type": "function", "function_name": "one", "line_start": ...},
    "a function without a name": {"type": "function", "line_start": ..., "line_end": ...},
    "no last line": {"line_end": ...},
    "no first line": {"line_start": ...},
    "no file": {"file_path": ...},
    "no action": {"action": ...},
    "no time": {"timestamp": ...},
    "no environment": {"environment_hash": ...},
    "no commit": {"commit_hash": ...},
    "no anchors": {"anchor_hash": ..., "anchor_context": ..., "file_content_hash": ...},
    "no type": {"type": ...},
    "no members": dict.fromkeys(
        ("file_path", "line_start", "line_end", "action", "timestamp", "environment_hash"), ...
    ),
}


@pytest.mark.parametrize(
    "name",
    CHANGES,
)
def test_recording_commands_continue(tmp_path: Path, run_vibes: RunVibes, name: str) -> None:
    workspace = Workspace(tmp_path / "project", hook=False)
    workspace.init()
    workspace.write_as_ai("a.py", "def one():\n    found = 1\n    return found\n", 1, 3)
    records = workspace.records()
    for record in records:
        if record["type"] == "line":
            changed = {**record, **CHANGES[name]}
            kept = {
                member: value
                for member, value in changed.items()
                if value is not ... and member != "annotation_id"
            }
            record.clear()
            record.update({**kept, "annotation_id": annotation_id(kept)})
    (workspace.path / LOG).write_text("".join(json.dumps(record) + "\n" for record in records))
    workspace.step("add", ".")
    workspace.step("commit", "-m", "Add a.py")
    workspace.install()
    workspace.make_two_commits()
    for command in (
        ["backfill"],
        ["backfill"],
        ["merge", "HEAD~1"],
        ["export", "--current", str(tmp_path / "export")],
        ["query", "--build"],
    ):
        done = run_vibes(*command, cwd=workspace.path)
        assert done.code == 0, (command, done.err)
    assert workspace.status() == ""
