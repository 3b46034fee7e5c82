"""The interface for other extensions: what another maker's completion put in shows who wrote it at once."""

from __future__ import annotations

import json
from pathlib import Path

from tests.demo.workspace import build
from tests.editors.vscode.conftest import Open


def test_a_completion_of_another_extension_is_recorded_and_shows(
    open_window: Open, tmp_path: Path
) -> None:
    workspace = build(tmp_path / "shop")
    code = open_window(workspace.root)
    code.open_file("src/limits.py")
    code.lens("AI edit")
    code.go_to(2)
    code.command("Partner: Complete Here")
    said = code.message("Recorded ", "by partner-small")

    hover = code.hover(3, 8, "Say goodbye politely.")
    assert "partner-small" in hover
    assert "Say goodbye politely." in hover
    code.lens("AI edit", at=2)
    code.save()
    records = [
        json.loads(line)
        for line in (workspace.audit / "annotations.jsonl").read_text(encoding="utf-8").splitlines()
    ]
    (recorded,) = [
        record
        for record in records
        if str(record.get("annotation_id")).startswith(said.split()[1].rstrip(","))
    ]
    assert (recorded["file_path"], recorded["line_start"], recorded["line_end"]) == (
        "src/limits.py",
        2,
        3,
    )
    session = [record for record in records if record.get("session_id") == recorded["session_id"]]
    assert [record["event"] for record in session if record["type"] == "session"] == [
        "start",
        "end",
    ]
