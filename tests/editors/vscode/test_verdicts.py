"""Verdicts where the line is: with the lamp or from the palette, with a note, or not at all."""

from __future__ import annotations

from pathlib import Path

from tests.demo.workspace import build
from tests.editors.recorded import newest
from tests.editors.vscode.conftest import Open


def test_a_verdict_takes_a_note_and_turning_away_from_the_question_records_nothing(
    open_window: Open, tmp_path: Path
) -> None:
    workspace = build(tmp_path / "shop")
    code = open_window(workspace.root, vibes__reviewer="Ada Example")
    log = workspace.audit / "annotations.jsonl"
    code.open_file("src/limits.py")
    code.lens("AI edit")
    code.go_to(7)

    before = log.read_bytes()
    code.command("VIBES: Mark Reviewed…")
    code.dismiss("Mark reviewed")
    code.take_action("Reject with note…")
    code.dismiss("Reject")
    assert log.read_bytes() == before

    code.go_to(7)  # the keys were the question's
    code.take_action("Reject with note…")
    code.answer("Nobody resets the counter.", "Reject")
    code.lens("rejected", at=7)
    edge = newest(workspace.audit, "reviewed_by")
    assert (edge["metadata"]["verdict"], edge["metadata"]["note"]) == (
        "rejected",
        "Nobody resets the counter.",
    )

    code.go_to(12)
    code.command("VIBES: Mark Reviewed…")
    code.answer("", "Mark reviewed")
    code.until(lambda: 12 not in {line for line, _ in code.lenses()}, "the lens to go")
    edge = newest(workspace.audit, "reviewed_by")
    assert (edge["metadata"]["verdict"], edge["metadata"]["reviewer"]) == (
        "approved",
        "Ada Example",
    )
    assert "note" not in edge["metadata"]
