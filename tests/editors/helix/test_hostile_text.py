"""What anybody may have written into a prompt is shown as text: Helix renders nothing of it."""

from __future__ import annotations

from pathlib import Path

from tests.editors.helix.conftest import Open
from tests.trails.writer import TrailWriter

PROMPT = "`](command:x) <b>bold</b> **loud** \x1b[31m \u202ereversed %sh{touch owned}\n# Heading\n<!-- hidden -->"
SHOWN = "](command:x) <b>bold</b> **loud** \\u001b[31m \\u202ereversed %sh{touch owned}"
TEXT = "def twice(x):\n    return 2 * x\n"


def test_hostile_prompts_are_inert(open_helix: Open, tmp_path: Path) -> None:
    trail = TrailWriter(tmp_path, level="medium")
    trail.config(tracked_extensions=[".py"])
    (tmp_path / "a.py").write_text(TEXT, encoding="utf-8")
    trail.line(
        "a.py", 1, 2, environment=trail.environment(), prompt=trail.prompt(PROMPT), text=TEXT
    )
    terminal = open_helix(tmp_path, "a.py")
    terminal.shows("def twice")
    terminal.text(" k")

    def hover() -> str | None:
        screen = terminal.screen()
        if (
            "No configured language server" in screen or "No hover results" in screen
        ):  # it is still starting
            terminal.text(" k")
        return screen if SHOWN in screen else None

    shown = terminal.until(hover, "the hover")
    assert "# Heading" in shown
    assert "<!-- hidden -->" in shown
    assert not list(tmp_path.rglob("owned"))
