"""The files of a trail in VS Code: from the log to the lines, and the policy completed from its schema."""

from __future__ import annotations

from pathlib import Path

from tests.demo.workspace import build
from tests.editors.vscode.conftest import PICTURES, Open


def test_a_lens_in_the_log_opens_the_lines_and_records_fold(
    open_window: Open, tmp_path: Path
) -> None:
    code = open_window(build(tmp_path / "shop").root)
    code.open_file(".ai-audit/annotations.jsonl")
    line, text = code.lens("now at src/auth.py")
    assert ", exact" in text or ", moved" in text or ", edited" in text
    code.picture(PICTURES / "log-lenses.png")
    code.go_to(line)
    code.command("Fold All")
    code.until(lambda: code.editor.locator(".inline-folded").count() > 0, "a fold")
    code.picture(PICTURES / "log-folded.png")
    code.command("Unfold All")
    code.lens("now at src/auth.py")
    code.click_lens("now at src/auth.py", ".tab.active", "auth.py")
    last = int(text.partition("-")[2].partition(",")[0])
    code.wait_for(f".statusbar-item:has-text('Ln {last}, Col '):has-text('selected')")


def test_the_policy_is_completed_and_explained(open_window: Open, tmp_path: Path) -> None:
    root = build(tmp_path / "shop").root
    config = root / ".ai-audit/config.json"
    members = (
        '"standard":"VIBES","standard_version":"1.0","assurance_level":"low","project_name":"p"'
    )
    config.write_text(f"{{{members},\n  \n}}\n")
    code = open_window(root)
    code.open_file(".ai-audit/config.json")
    code.hover(1, members.index("assurance_level") + 4, "how much is recorded")
    code.go_to(2, 3)
    code.type('"dur')
    code.wait_for(".suggest-widget.visible .monaco-list-row", "durability")
    code.picture(PICTURES / "config-completion.png")
    code.page.keyboard.press("Enter")
    code.until(lambda: '"durability": "normal"' in code.painted(2), "the member with its default")
    for _ in 'normal"':
        code.page.keyboard.press("Backspace")
    code.type('often"')
    code.command("Problems: Focus on Problems View")
    code.until(lambda: any("durability" in each for each in code.problems()), "the finding")
    code.picture(PICTURES / "config-problem.png")
