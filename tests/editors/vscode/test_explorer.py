"""Badges in the Explorer: off unless the user turns them on; what waits is what the queue has."""

from __future__ import annotations

from pathlib import Path

from tests.demo.workspace import build
from tests.editors.vscode.conftest import Open
from tests.editors.vscode.window import Window

_BADGES = """rows => Object.fromEntries(rows.map(row => {
    const label = row.querySelector('.monaco-icon-label');
    const name = row.querySelector('.label-name')?.textContent ?? '';
    const badge = getComputedStyle(label, '::after').content;
    return [name, badge === 'none' || badge === 'normal' ? '' : JSON.parse(badge)];
}))"""


def _badges(code: Window) -> dict[str, str]:
    rows = code.page.locator(".explorer-folders-view .monaco-list-row")
    return {name: badge for name, badge in rows.evaluate_all(_BADGES).items() if badge}


def test_badges_show_what_waits_or_the_share(open_window: Open, tmp_path: Path) -> None:
    workspace = build(tmp_path / "shop")
    code = open_window(
        workspace.root, vibes__reviewer="Ada Example", problems__decorations__enabled=False
    )
    code.open_file("src/limits.py")
    code.open_file("src/auth.py")
    code.marks_on([*range(13, 21), 23, 24, 25, 27])
    assert _badges(code) == {}

    code.command("VIBES: Choose Badges in the Explorer…")
    code.choose("Edits to review")
    waiting = code.until(
        lambda: found if {"auth.py", "limits.py"} <= (found := _badges(code)).keys() else None,
        "badges",
    )
    assert (waiting["auth.py"], waiting["limits.py"]) == ("✦1", "✦3")
    label = code.page.locator(".explorer-folders-view .monaco-list-row .monaco-icon-label")
    title = "1 AI edit to review, risk up to critical"
    spoken = label.filter(has_text="auth.py").first.get_attribute("aria-label") or ""
    assert title in spoken

    code.go_to(24)
    code.command("VIBES: Mark Reviewed…")
    code.answer("", "Mark reviewed")
    code.until(lambda: "auth.py" not in _badges(code), "nothing that waits in the file")

    code.program.choose({"vibes.explorer.badge": "share"})
    code.until(lambda: _badges(code).get("auth.py") == "44", "the share")
    code.program.choose({"vibes.explorer.badge": "off"})
    code.until(lambda: not _badges(code), "no badges")
