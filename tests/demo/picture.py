"""Draws the picture of the README from the output of the demonstration."""

from __future__ import annotations

import io
import os
import subprocess
import sys
from pathlib import Path
from typing import Final

from rich.console import Console
from rich.text import Text

PICTURE: Final = Path("docs/images/demo.svg")
_WIDTH: Final = 124
_LAST: Final = "$ vibes find"
_FRAME: Final = """<svg class="rich-terminal" viewBox="0 0 {width} {height}" xml:space="preserve" xmlns="http://www.w3.org/2000/svg">
<style>
.{unique_id}-matrix {{ font-family: Menlo, Consolas, "DejaVu Sans Mono", monospace; font-size: {char_height}px; line-height: {line_height}px; }}
{styles}
</style>
<defs><clipPath id="{unique_id}-clip-terminal"><rect x="0" y="0" width="{terminal_width}" height="{terminal_height}"/></clipPath>{lines}</defs>
<rect fill="#0c0c0c" width="{width}" height="{height}" rx="8"/>
<g transform="translate({terminal_x}, {terminal_y})" clip-path="url(#{unique_id}-clip-terminal)">{backgrounds}<g class="{unique_id}-matrix">{matrix}</g></g>
</svg>
"""


def main() -> None:
    """Run the demonstration and write a picture of its first part."""
    environment = {**os.environ, "FORCE_COLOR": "1", "COLUMNS": str(_WIDTH)}
    done = subprocess.run(
        [sys.executable, "-m", "tests.demo"],
        capture_output=True,
        text=True,
        check=True,
        env=environment,
    )
    shown = done.stdout.partition(_LAST)[0].rpartition("\n")[0].strip("\n")
    console = Console(record=True, width=_WIDTH, file=io.StringIO(), force_terminal=True)
    console.print(Text.from_ansi(shown), soft_wrap=False)
    PICTURE.parent.mkdir(exist_ok=True)
    PICTURE.write_text(
        console.export_svg(title="", code_format=_FRAME, unique_id="demo"), encoding="utf-8"
    )


if __name__ == "__main__":
    main()
