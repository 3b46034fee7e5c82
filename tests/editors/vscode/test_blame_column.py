"""The blame column: off until the user turns it on; once per block whose it is, how old and how risky."""

from __future__ import annotations

import re
from pathlib import Path

from tests.demo.workspace import build
from tests.editors.vscode.conftest import Open
from tests.editors.vscode.window import Window

FIRST_LINES = [13, 23, 27]
"""The first lines of the blocks of the demonstration's `src/auth.py`."""
AI_LINES = [*range(13, 21), 23, 24, 25, 27]


def _said(code: Window) -> dict[int, str]:
    """Wait until the column has git's history, which verifies all lines; return its text by line."""

    def said() -> dict[int, str] | None:
        cells = code.blame()
        found = {line: cell["text"] for line, cell in cells.items() if cell["text"]}
        return found if len(cells) >= 27 and sorted(found) == FIRST_LINES else None

    return code.until(said, "the column")


def _heated(code: Window) -> list[int]:
    """Return the lines whose cell has a visible edge."""
    return [line for line, cell in code.blame().items() if cell["colour"] != "rgba(0, 0, 0, 0)"]


def test_it_is_a_toggle_and_says_once_per_block_whose_it_is(
    open_window: Open, tmp_path: Path
) -> None:
    code = open_window(build(tmp_path / "shop").root)
    code.open_file("src/auth.py")
    code.marks_on(AI_LINES)
    assert code.blame() == {}, "nothing is drawn over code unasked"

    code.page.keyboard.press("Control+K")
    code.page.keyboard.press("b")
    said = _said(code)
    assert re.fullmatch(r" claude-opus-4-5 +\d+(mo|y) +low", said[13])
    assert re.fullmatch(r" claude-opus-4-5 +\d+(mo|y) +critical", said[23])
    assert _heated(code) == AI_LINES
    by_age = {cell["colour"] for line, cell in code.blame().items() if line in AI_LINES}
    assert len(by_age) == 1, "both edits are of one day"

    code.command("VIBES: Switch Blame Column Heat: Age, Risk")
    code.until(lambda: code.blame()[13]["colour"] != code.blame()[23]["colour"], "heat by risk")

    code.command("VIBES: Toggle Marks")
    code.until(lambda: not code.blame(), "nothing of ours over the code")
    code.command("VIBES: Toggle Blame Column")
    _said(code)
    code.command("VIBES: Toggle Blame Column")
    code.until(lambda: not code.blame(), "no column")
    code.open_file("README.md")
    code.program.choose({"vibes.blame.enable": True})
    code.open_file("src/auth.py")
    _said(code)


WATCH = """root => {
    window.widths_ = [];
    const look = () => {
        for (const line of root.querySelectorAll('.view-line')) {
            const cells = [...line.querySelectorAll('[class*=ced-]')]
                .map(each => getComputedStyle(each, '::before')).filter(each => each.borderRightWidth == '3px');
            window.widths_.push(cells.reduce((sum, each) => sum + Math.round(parseFloat(each.width)), 0));
        }
        window.look_ = requestAnimationFrame(look);
    };
    look();
}"""
STOP = "() => { cancelAnimationFrame(window.look_); return window.widths_; }"


def test_it_moves_with_the_text_while_somebody_types(open_window: Open, tmp_path: Path) -> None:
    code = open_window(build(tmp_path / "shop").root, vibes__blame__enable=True)
    code.open_file("src/auth.py")
    _said(code)
    (width,) = {cell["width"] for cell in code.blame().values()}
    code.go_to(14)
    code.page.keyboard.press("End")
    code.editor.evaluate(WATCH)
    for spaces in (" ", "  ", " "):
        code.type(spaces)
    widths = code.page.evaluate(STOP)
    assert set(widths) == {width}, "the code moved while somebody typed within a line"

    code.type("\n# mine\n# mine, too")
    code.until(
        lambda: (
            sorted(line for line, cell in code.blame().items() if cell["text"])
            == [13, 14, 17, 25, 29]
        ),
        "blocks around lines that no record names, and a mark on the edited line",
    )
    cells = code.blame()
    assert cells[14]["text"] == "~"
    assert cells[14]["edge"] == "dotted"
    assert (cells[15]["colour"], cells[16]["colour"]) == ("rgba(0, 0, 0, 0)",) * 2
    for _ in range(2):
        code.page.keyboard.press("Control+Shift+K")  # deletes a line
    code.until(
        lambda: (
            sorted(line for line, cell in code.blame().items() if cell["text"]) == [13, 14, 23, 27]
        ),
        "one block again",
    )
    assert {cell["width"] for cell in code.blame().values()} == {width}
