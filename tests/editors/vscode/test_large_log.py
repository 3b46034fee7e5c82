"""A log of 300 MB is opened by mistake: nothing freezes, and code beside it has its answers."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Final

import pytest

from tests.demo.workspace import build
from tests.editors.vscode.conftest import Open

MEGABYTES: Final = 300
PER_MEGABYTE: Final = 1000


def _grow(log: Path) -> None:
    """Append edges, each with an id of its own, until the log has its size."""
    edge = {"type": "edge", "edge_type": "informed_by", "source_ref": "a" * 64, "note": "y" * 830}
    with log.open("a", encoding="utf-8") as file:
        for megabyte in range(MEGABYTES):
            start = megabyte * PER_MEGABYTE
            file.writelines(
                json.dumps({**edge, "annotation_id": f"{number:064x}"}) + "\n"
                for number in range(start, start + PER_MEGABYTE)
            )
    assert log.stat().st_size > MEGABYTES * 1_000_000


@pytest.mark.nightly  # a log of 300 MB takes minutes
def test_a_huge_log_opens_and_code_beside_it_has_its_answers(
    open_window: Open, tmp_path: Path
) -> None:
    workspace = build(tmp_path / "shop")
    _grow(workspace.audit / "annotations.jsonl")
    code = open_window(workspace.root)
    code.open_file("src/auth.py")
    code.lens("critical risk")

    code.request_file(".ai-audit/annotations.jsonl")
    button = code.page.locator(".monaco-editor-pane-placeholder .monaco-button")
    code.until(lambda: button.count() > 0, "VS Code to ask whether to open it")
    button.filter(has_text="Open Anyway").click()
    code.wait_for(".tab.active", "annotations.jsonl")
    code.until(lambda: '"annotation_id"' in code.editor.inner_text(), "the text of the log")
    assert code.lenses() == []

    code.open_file("src/auth.py")
    code.go_to(1)
    code.type("# typed\n")
    code.lens("critical risk", at=24)
    assert "Store passwords safely." in code.hover(25, 8, "Details")
    assert not [each for each in code.notifications() if "VIBES" in each], "something went wrong"
