"""The views: what waits for a review, and who wrote the lines at the cursor, with all that led to it."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path

from tests.demo.workspace import build
from tests.editors.vscode.conftest import Open
from tests.editors.vscode.window import Window
from tests.server.project import Project, let_records_wait
from tests.trails import Repository
from vibes_lsp.recording import Model, Origin, Recorder, Tool

_AGE = re.compile(r", (?:\d+ \w+ ago|just now)$")


def _counts(code: Window, *, waiting: int, reviewed: int, in_file: int) -> None:
    """Wait until list, badge, progress and status bar agree."""
    header = code.page.locator('.pane-header[aria-label^="Review"]')
    progress = f"{reviewed} of {waiting + reviewed} reviewed"
    code.until(lambda: progress in header.inner_text(), progress)
    code.wait_for(".tree-explorer-viewlet-tree-view .message", f"{waiting} to review")
    code.wait_for(".activitybar .badge-content", str(waiting))
    rows = [row for row in code.view("Review") if "to review" not in row]
    assert len(rows) == waiting
    code.until(lambda: f"· {in_file} to review" in code.status_bar(), "the same in the status bar")


def test_the_queue_is_worked_off_in_the_review_view(open_window: Open, tmp_path: Path) -> None:
    workspace = build(tmp_path / "shop")
    code = open_window(workspace.root, vibes__reviewer="Ada Example")
    code.open_file("src/limits.py")
    code.command("VIBES: Focus on Review View")
    assert code.until(
        lambda: code.view("Review") if len(code.view("Review")) == 8 else None,
        "three files with five ranges",
    )
    assert [_AGE.sub("", row) for row in code.view("Review")] == [
        "src/auth.py, 1 to review",
        "hash_password, critical 0.84, lines 23-27 of src/auth.py, claude-opus-4-5",
        "web/app.ts, 1 to review",
        "Attempt, high 0.77, lines 1-11 of web/app.ts, gpt-5-mini",
        "src/limits.py, 3 to review",
        "exceeded, medium 0.41, lines 7-9 of src/limits.py, gpt-5.2-codex",
        "recent, medium 0.41, lines 12-14 of src/limits.py, gpt-5.2-codex",
        "WINDOW = 3600, medium 0.40, lines 3-4 of src/limits.py, gpt-5.2-codex",
    ]
    _counts(code, waiting=5, reviewed=3, in_file=3)
    assert code.row_icon("WINDOW = 3600") == code.marks()[3], "another shape than in the gutter"
    code.click_row("Attempt, ")
    code.wait_for(".tab.active", "app.ts")
    code.press_in_row("hash_password", "Reject")
    code.answer("Salted SHA-256 is too fast.", "Reject")
    code.until(
        lambda: not [row for row in code.view("Review") if "src/auth.py" in row],
        "the rejected range to leave",
    )
    _counts(code, waiting=4, reviewed=4, in_file=1)
    edge = json.loads(
        (workspace.audit / "annotations.jsonl").read_text(encoding="utf-8").splitlines()[-2]
    )
    assert edge["source_ref"] == workspace.hashing
    assert edge["metadata"]["verdict"] == "rejected"
    assert edge["metadata"]["note"] == "Salted SHA-256 is too fast."

    code.command("VIBES: Group Review Queue By…")
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
    code.lens("critical risk")
    code.go_to(24)
    code.command("VIBES: Show Provenance")
    assert code.until(
        lambda: "Model: claude-opus-4-5 20251101" in code.view("Provenance"), "the model"
    )
    rows = code.view("Provenance")
    assert "Prompt: Store passwords safely. Use what the standard library has." in rows
    assert "Tool: Claude Code 2.1.0" in rows
    assert "Read: src/auth.py" in rows
    assert any(re.fullmatch(r"When: \d+ \w+ ago", row) for row in rows)
    assert any(row.startswith("Session: Accounts, ") for row in rows)
    assert any(row.startswith(f"Commit: {workspace.sign_up}") for row in rows)
    assert not [row for row in rows if "unknown" in row or re.search(r"[0-9a-f]{12}", row)], (
        "nothing unknown, and no hash where there is a name"
    )

    code.click_row("As recorded")
    code.until(
        lambda: any(re.search(": [0-9a-f]{64}$", row) for row in code.view("Provenance")),
        "the record as it is, with whole hashes",
    )
    code.click_row("Read: src/auth.py")
    code.until(lambda: "Command type: file_read" in code.view("Provenance"), "the command's entry")
    assert "Open: src/auth.py" in code.view("Provenance")
    code.click_row("Prompt: Store passwords")
    code.wait_for(".tab.active", "Preview Prompt.md")
    assert "Model: claude-opus-4-5 20251101" in code.view("Provenance"), "the rows stay"
    code.open_file("src/auth.py")
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
    repository = Repository(project.root)
    shutil.copytree(project.root, tmp_path / "copy")
    shutil.move(tmp_path / "copy", project.root / "copy")  # as a worktree in the folder is
    let_records_wait(repository)
    code = open_window(project.root)
    code.until(lambda: code.program.log_count("starting "), "the extension")
    code.command("VIBES: Focus on Review View")

    def listed(count: int) -> list[str] | None:
        rows = [row for row in code.view("Review") if "lines 4-7 of" in row]
        return rows if len(rows) == count else None

    code.until(lambda: listed(2), "the same range in both")
    project.annotated("b.py")
    code.until(lambda: listed(3), "what was recorded of a file that nobody has open")
    project.file("c.py")
    log = project.files.log.read_bytes()
    by = Origin(tool=Tool("Some Tool", "1"), model=Model("some-model", "1"))
    with Recorder(project.root) as recorder:
        recorder.annotate_lines("c.py", 4, 7, "create", by)
    assert project.files.log.read_bytes() == log
    code.until(lambda: listed(4), "what waits for its commit")
