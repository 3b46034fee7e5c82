"""`vibes demo`: a small real workspace to look at, made in a folder of the user's."""

from __future__ import annotations

from pathlib import Path

import click

from vibes_lsp.cli.init import program
from vibes_lsp.cli.options import json_option
from vibes_lsp.cli.output import plain, print_json, print_line

TRIES = (
    ("blame src/auth.py", "line by line: who wrote it, and is that still true?"),
    ("find --unreviewed", "what no person has reviewed, wherever it is now"),
    ("show {hashing}", "a risky edit, and all that led to it"),
    ("diff", "what people have changed of the AI's lines"),
    ("check", "whether the trail is whole"),
)
"""What to type in the workspace, and what it answers."""


@click.command("demo")
@click.argument("folder", type=click.Path(path_type=Path), default=Path("vibes-demo"))
@json_option
def command(folder: Path, as_json: bool) -> None:
    """Make a small repository in FOLDER, which has to be new or empty: three AI tools wrote a shop, and people changed it since."""
    from vibes_lsp.demo.story import tell  # noqa: PLC0415
    from vibes_lsp.maintenance.hook_installation import install_hook  # noqa: PLC0415

    told = tell(folder.absolute())
    install_hook(told.root, program=program())
    if as_json:
        print_json({"path": str(told.root)})
        return
    print_line(
        f"{plain(told.root)}: three AI tools wrote a small shop; since then people have inserted a block, edited a line,"
    )
    print_line("moved a function and taken one out. Go there, and try:")
    print_line()
    for words, answer in TRIES:
        print_line(f"  vibes {words.format(hashing=told.hashing[:8]):<20} {answer}")
    print_line()
    print_line("Or open src/auth.py in an editor that runs vibes-lsp.")
