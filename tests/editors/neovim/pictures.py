"""Takes the pictures of Neovim for the documentation (`make screenshots`)."""

from __future__ import annotations

import io
import re
import tempfile
from pathlib import Path
from typing import Final

from rich.console import Console
from rich.style import Style
from rich.terminal_theme import TerminalTheme
from rich.text import Text

from tests.demo.workspace import build
from tests.editors.neovim.conftest import NEW
from tests.editors.neovim.program import Neovim
from tests.requirements import REPOSITORY, require_editor
from tests.server.knowledge_base import KnowledgeFiles

PICTURES: Final = REPOSITORY / "docs/pictures"
_SIZE: Final = (80, 30)
_INIT: Final = """
vim.o.termguicolors, vim.o.background, vim.o.signcolumn, vim.o.number = true, '{background}', 'yes', true
vim.o.laststatus, vim.o.ruler, vim.o.statusline = 2, false, " %f %=%{{get(b:,'vibes_status','')}} "
vim.g.vibes = {{ settings = {{ reviewer = 'Ada Example' }} }}
"""
_GROUND: Final = {"dark": ((20, 22, 27), (224, 226, 234)), "light": ((224, 226, 234), (20, 22, 27))}
"""Background and foreground of Neovim's default colours."""
_UNDERLINE_COLOUR: Final = re.compile(r"\x1b\[58;2;\d+;\d+;\d+m")
"""Rich reads the 2 in it as dim."""
_FRAME: Final = """<svg viewBox="0 0 {width} {height}" xml:space="preserve" xmlns="http://www.w3.org/2000/svg">
<style>
.{unique_id}-matrix {{ font-family: Menlo, Consolas, "DejaVu Sans Mono", monospace; font-size: {char_height}px; line-height: {line_height}px; }}
{styles}
</style>
<defs><clipPath id="{unique_id}-clip-terminal"><rect x="0" y="0" width="{terminal_width}" height="{terminal_height}"/></clipPath>{lines}</defs>
<rect fill="GROUND" y="30" width="{width}" height="{height}" rx="8"/>
<g transform="translate({terminal_x}, {terminal_y})" clip-path="url(#{unique_id}-clip-terminal)">{backgrounds}<g class="{unique_id}-matrix">{matrix}</g></g>
</svg>
"""


def main() -> None:
    """Take all pictures."""
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as scratch:
        for background in ("dark", "light"):
            shop = build(Path(scratch) / background).root
            _add_claims(shop)
            init = _INIT.format(background=background)
            program = require_editor(f"nvim-{NEW}")
            with Neovim(program, shop, "src/auth.py", init, size=_SIZE) as editor:
                _marks(editor, background)
                _blame(editor, background)
                _annotation(editor, background)
                _claims(editor, background)


def _add_claims(shop: Path) -> None:
    """Write a knowledge base with a claim and a proposal about the risky function."""
    files = KnowledgeFiles(shop)
    text = (shop / "src/auth.py").read_text(encoding="utf-8")
    source, lines = files.source("src/auth.py", text), text.splitlines()
    for name, first, last in (("salt", 25, 25), ("digest", 26, 27)):
        quote = "\n".join(lines[first - 1 : last])
        files.evidence(f"ev-{name}", source, f"L{first}-L{last}", quote=quote)
    files.claim("salted", "Every password has its own random salt.", "ev-salt")
    files.proposal("p-1", "Passwords are stored as salt and digest.", "ev-digest")


def _marks(editor: Neovim, background: str) -> None:
    """Show signs, text at the line's end and the status line."""
    editor.until(lambda: editor.signs().get(27) == "│", "the signs as git's history has them")
    editor.go_to(24, 8)
    editor.terminal.shows("AI: claude-opus-4-5", "to review")
    editor.until(lambda: any(map(_has_underline, _rows(editor))), "the underlined problem")
    _save(editor, f"neovim-marks-{background}", background)


def _blame(editor: Neovim, background: str) -> None:
    """Show the blame window."""
    editor.command("Vibes blame")
    editor.terminal.shows("VIBES blame", "months ago")
    _save(editor, f"neovim-blame-{background}", background)
    editor.command("Vibes blame")


def _annotation(editor: Neovim, background: str) -> None:
    """Show prompt and history in their window."""
    editor.command("Vibes show")
    editor.terminal.shows("VIBES annotation", "Store passwords safely", "a approve")
    _save(editor, f"neovim-annotation-{background}", background)


def _claims(editor: Neovim, background: str) -> None:
    """Show the claims about the function in their window."""
    editor.command("close")
    editor.go_to(24, 8)
    editor.command("23,27Vibes claims")
    editor.terminal.shows("VIBES claims", "its own random salt", "proposed by codex")
    _save(editor, f"neovim-claims-{background}", background)


def _rows(editor: Neovim) -> list[Text]:
    """Return the rows of the screen with their colours."""
    screen = _UNDERLINE_COLOUR.sub("", editor.terminal.coloured_screen())
    return [Text.from_ansi(row) for row in screen.splitlines()]


def _has_underline(row: Text) -> bool:
    return any(isinstance(each.style, Style) and each.style.underline for each in row.spans)


def _save(editor: Neovim, name: str, background: str) -> None:
    """Write the screen as a picture."""
    ground, text = _GROUND[background]
    console = Console(record=True, width=_SIZE[0], file=io.StringIO(), force_terminal=True)
    for row in _rows(editor):
        console.print(row, soft_wrap=False, overflow="crop", no_wrap=True)
    frame = _FRAME.replace("GROUND", "#{:02x}{:02x}{:02x}".format(*ground))
    theme = TerminalTheme(ground, text, [(0, 0, 0)] * 8)
    picture = console.export_svg(title="", theme=theme, code_format=frame, unique_id="nvim")
    (PICTURES / f"{name}.svg").write_text(_without_title(picture), encoding="utf-8")


def _without_title(picture: str) -> str:
    """Crop the space that rich leaves for a title."""
    return re.sub(
        r'viewBox="0 0 (\S+) (\d+)',
        lambda found: f'viewBox="0 30 {found[1]} {int(found[2]) - 30}',
        picture,
        count=1,
    )


if __name__ == "__main__":
    main()
