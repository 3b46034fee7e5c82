"""`vibes demo`: create a sample repository."""

from __future__ import annotations

from pathlib import Path

import click

from vibes_lsp.cli.init import program_path
from vibes_lsp.cli.options import examples, json_option
from vibes_lsp.cli.output import escape, print_json, print_line

SUGGESTIONS = (
    ("blame src/auth.py", "who wrote each line, and is that verified?"),
    ("find --unreviewed", "AI code that no person has reviewed"),
    ("show src/auth.py:24", "who wrote a line, what was asked, how risky is it?"),
    ("diff", "the AI's lines in what changed since the last commit"),
    ("check", "is the audit trail complete and correct?"),
)
"""Commands to try in the sample repository, and what they show."""


@click.command("demo", epilog=examples("vibes demo", "vibes demo shop"))
@click.argument(
    "folder",
    type=click.Path(path_type=Path),
    default=Path("vibes-demo"),
    help="New or empty folder.  [default: vibes-demo]",
)
@json_option
def command(folder: Path, as_json: bool) -> None:
    """Create a small sample repository.

    Three AI tools wrote its code; people have reviewed and changed some of it since.
    """
    from vibes_lsp.demo.story import create_demo  # noqa: PLC0415
    from vibes_lsp.maintenance.hook_installation import install_hook  # noqa: PLC0415

    demo = create_demo(folder.absolute())
    install_hook(demo.root, program=program_path())
    if as_json:
        print_json({"path": str(demo.root)})
        return
    print_line(f"{escape(demo.root)}: a small shop that three AI tools wrote.")
    print_line("Since the last commit, people have inserted a block, edited a line,")
    print_line("moved a function and removed one. In that folder, try:")
    print_line()
    for words, answer in SUGGESTIONS:
        print_line(f"  vibes {words:<20} {answer}")
    print_line()
    print_line("Or open src/auth.py in an editor that runs vibes-lsp.")
