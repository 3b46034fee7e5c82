"""The views: what waits for a review, and the record under the cursor with all that led to it."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

from tests.demo.workspace import build
from tests.editors.vscode.conftest import Open
from tests.server.project import Project


def test_the_queue_is_worked_off_in_the_review_view(open_window: Open, tmp_path: Path) -> None:
    workspace = build(tmp_path / "shop")
    code = open_window(workspace.root, vibes__reviewer="Ada Example")
    code.open_file("src/limits.py")
    code.command("VIBES: Focus on Review View")
    assert code.until(
        lambda: code.view("Review") if len(code.view("Review")) == 8 else None,
        "three files with five ranges",
    ) == [
        "src/auth.py, 1 to review",
        "Lines 23-27 of src/auth.py, critical 0.84 · claude-opus-4-5",
        "web/app.ts, 1 to review",
        "Lines 1-11 of web/app.ts, high 0.77 · gpt-5-mini",
        "src/limits.py, 3 to review",
        "Lines 7-9 of src/limits.py, medium 0.41 · gpt-5.2-codex",
        "Lines 12-14 of src/limits.py, medium 0.41 · gpt-5.2-codex",
        "Lines 3-4 of src/limits.py, medium 0.40 · gpt-5.2-codex",
    ]
    code.click_row("Lines 1-11 of web/app.ts")
    code.wait_for(".tab.active", "app.ts")
    code.press_in_row("Lines 23-27 of src/auth.py", "Reject")
    code.answer("Salted SHA-256 is too fast.", "Reject")
    code.until(
        lambda: not [row for row in code.view("Review") if "src/auth.py" in row],
        "the rejected range to leave",
    )
    edge = json.loads(
        (workspace.audit / "annotations.jsonl").read_text(encoding="utf-8").splitlines()[-2]
    )
    assert edge["source_ref"] == workspace.hashing
    assert edge["metadata"]["verdict"] == "rejected"
    assert edge["metadata"]["note"] == "Salted SHA-256 is too fast."

    code.command("VIBES: Group Review Queue By")
    code.answer("prompt", "Group the review queue by")
    assert code.until(
        lambda: [
            row
            for row in code.view("Review")
            if row == "Limit attempts: five an hour., 3 to review"
        ],
        "groups by prompt",
    )


def test_the_record_under_the_cursor_leads_to_its_prompt(open_window: Open, tmp_path: Path) -> None:
    workspace = build(tmp_path / "shop")
    code = open_window(workspace.root)
    code.open_file("src/auth.py")
    code.lens("lines intact")
    code.go_to(24)
    code.command("VIBES: Show Provenance")
    assert code.until(
        lambda: "Model: claude-opus-4-5 20251101" in code.view("Provenance"), "the model"
    )
    assert "Prompt: Store passwords safely. Use what the standard library has." in code.view(
        "Provenance"
    )
    code.click_row("caused by")
    assert code.until(
        lambda: "prompt_type: user_instruction" in code.view("Provenance"), "the prompt's entry"
    )
    code.go_to(14)
    assert code.until(
        lambda: any("approved by Ada" in row for row in code.view("Provenance")),
        "the other record's review",
    )


def test_the_review_view_follows_what_others_record_and_tells_a_copy_of_the_trail_apart(
    open_window: Open, tmp_path: Path
) -> None:
    project = Project(tmp_path / "shop")
    project.config()
    project.environment()
    project.annotated("a.py")
    shutil.copytree(project.root, tmp_path / "copy")
    shutil.move(tmp_path / "copy", project.root / "copy")  # as a worktree in the folder is
    code = open_window(project.root)
    code.until(lambda: code.program.log_count("starting "), "the extension")
    code.command("VIBES: Focus on Review View")

    def listed(count: int) -> list[str] | None:
        rows = [row for row in code.view("Review") if row.startswith("Lines")]
        return rows if len(rows) == count else None

    code.until(lambda: listed(2), "the same range in both")
    project.annotated("b.py")
    code.until(lambda: listed(3), "what was recorded of a file that nobody has open")
