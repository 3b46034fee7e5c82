"""What marks and text at line ends look like, as the user chooses."""

from __future__ import annotations

from pathlib import Path

from tests.demo.workspace import build
from tests.editors.vscode.conftest import Open
from tests.editors.vscode.window import Window

MARKED = [*range(13, 21), 23, 24, 25, 27]
"""The lines of the demonstration's `src/auth.py` that an AI wrote."""
BY_CLAUDE = "AI: claude-opus-4-5, "


def test_marks_and_text_at_line_ends_are_as_the_user_chooses(
    open_window: Open, tmp_path: Path
) -> None:
    workspace = build(tmp_path / "shop")
    code = open_window(workspace.root)
    code.open_file("src/auth.py")
    by_band = code.marks_on(MARKED)
    assert by_band[13] != by_band[23], "low and critical risk look alike"

    code.program.choose({"vibes.marks.by": "model"})
    by_model = code.until(
        lambda: (
            found if sorted(found := code.marks()) == MARKED and found[13] != by_band[13] else None
        ),
        "marks by model",
    )
    assert by_model[13] == by_model[23], "two ranges of one model look different"

    code.program.choose({"vibes.marks.enable": False})
    code.until(lambda: not code.marks(), "no marks")
    code.program.choose({"vibes.marks.enable": True, "vibes.marks.by": "band"})
    code.until(lambda: code.marks() == by_band, "marks by band again")

    code.command("VIBES: Toggle Marks")
    code.until(lambda: not code.marks(), "no marks")
    code.command("VIBES: Toggle Marks")
    code.until(lambda: code.marks() == by_band, "the marks again")

    _check_line_text(code)


def _check_line_text(code: Window) -> None:
    """Text is at the end of the cursor's line, of all first lines, or nowhere."""
    code.go_to(24)
    first_lines = (13, 23)
    code.until(lambda: BY_CLAUDE in code.painted(24), "text at the end of the cursor's line")
    assert not [line for line in first_lines if BY_CLAUDE in code.painted(line)]

    code.command("VIBES: Switch Text at Line Ends: Off, Line, All")
    code.until(
        lambda: all(BY_CLAUDE in code.painted(line) for line in first_lines),
        "text on the first lines of all ranges",
    )
    assert BY_CLAUDE not in code.painted(24)

    code.command("VIBES: Switch Text at Line Ends: Off, Line, All")
    code.until(
        lambda: not [line for line in (*first_lines, 24) if BY_CLAUDE in code.painted(line)],
        "no text at any line's end",
    )

    code.command("VIBES: Switch Text at Line Ends: Off, Line, All")
    code.until(lambda: BY_CLAUDE in code.painted(24), "text at the end of the cursor's line again")
