"""While somebody types, nothing that is shown goes away, not for one frame."""

from __future__ import annotations

from pathlib import Path

from tests.demo.workspace import build
from tests.editors.vscode.conftest import Open

WATCH = """root => {
    const filled = () => [...root.querySelectorAll('.codelens-decoration')].filter(lens => /\\S/.test(lens.textContent)).length;
    const marks = () => [...root.querySelectorAll('.glyph-margin-widgets .cgmr')]
        .filter(mark => getComputedStyle(mark).backgroundImage.includes('svg')).length;
    window.frames_ = [];
    const look = () => { window.frames_.push([filled(), marks()]); window.look_ = requestAnimationFrame(look); };
    look();
}"""
FILLED = """root => {
    const lenses = [...root.querySelectorAll('.codelens-decoration')];
    return lenses.every(lens => /\\S/.test(lens.textContent)) ? lenses.length : 0;
}"""
STOP = "() => { cancelAnimationFrame(window.look_); return window.frames_; }"


def test_nothing_goes_away_while_somebody_types(open_window: Open, tmp_path: Path) -> None:
    workspace = build(tmp_path / "shop")
    code = open_window(workspace.root)
    code.open_file("src/auth.py")
    code.lens("critical risk")
    shown = len(code.marks_on([*range(13, 21), 23, 24, 25, 27]))
    lenses = code.until(lambda: code.editor.evaluate(FILLED), "the text of every lens")

    code.go_to(1)
    code.editor.evaluate(WATCH)
    for words in ("# one", " two", " three", " four", "\n# five", " six", "\n"):
        code.type(words)
    code.lens("critical risk", at=25)
    frames = code.page.evaluate(STOP)
    assert len(frames) > 10
    assert min(count for count, _ in frames) >= lenses, f"a lens was gone: {frames}"
    assert min(count for _, count in frames) >= shown, f"a mark was gone: {frames}"

    code.go_to(15)
    code.type(" ")
    assert code.until(lambda: "edited" in code.painted(15), "the line to count as edited")
    code.type("x")
    code.until(lambda: 15 not in code.marks(), "the line to be the edit's no longer")
