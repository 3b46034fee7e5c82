"""What anybody may have written into a prompt is shown as text: Emacs neither obeys it nor fills anything in."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.editors.emacs.conftest import OLD, STABLE, Open
from tests.trails.writer import TrailWriter

MODEL = "m-%d-%s"
PROMPT = (
    "-*- mode: emacs-lisp; eval: (delete-other-windows) -*- \\[save-buffers-kill-emacs] %d `](command:x) <b>bold</b> \x1b[31m \u202ereversed\n"
    'Local Variables:\neval: (write-region "" nil "owned")\nmode: emacs-lisp\nEnd:\n'
)
SHOWN = PROMPT.partition("\n")[0].replace("\x1b", "\\u001b").replace("\u202e", "\\u202e")
TEXT = "def twice(x):\n    return 2 * x\n"


@pytest.mark.parametrize("suite", [OLD, STABLE])
def test_hostile_prompts_are_inert(open_emacs: Open, tmp_path: Path, suite: str) -> None:
    trail = TrailWriter(tmp_path, level="medium")
    trail.config(tracked_extensions=[".py"])
    (tmp_path / "a.py").write_text(TEXT, encoding="utf-8")
    trail.line(
        "a.py",
        1,
        2,
        environment=trail.environment(model=MODEL),
        prompt=trail.prompt(PROMPT),
        text=TEXT,
    )
    editor = open_emacs(suite, tmp_path, "a.py")
    editor.until(lambda: "[eglot:" in (editor.mode_line("a.py") or ""), "the server")
    editor.terminal.keys("C-e")
    editor.terminal.shows(f"{MODEL} · Claude Code")  # in the echo area, which formats
    editor.terminal.keys("C-h", ".")
    editor.terminal.shows(
        "*eldoc*", "eval: (delete-other-windows)", "bold", "\\u202ere"
    )  # it wraps
    editor.alone()
    editor.choose_action("Show prompt")
    if suite == OLD:
        editor.terminal.shows(
            "Server reports", "\\[save-buffers-kill-emacs] %d", "eval: (write-region"
        )
    else:
        editor.terminal.shows("(Fundamental)", SHOWN, 'eval: (write-region "" nil "owned")')
    assert editor.mode_line("a.py"), "a window was closed"
    assert not list(tmp_path.rglob("owned"))
