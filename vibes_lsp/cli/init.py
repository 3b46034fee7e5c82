"""`vibes init`: create what is missing of an audit directory (R13)."""

from __future__ import annotations

import os
from pathlib import Path

import click

from vibes_lsp import __version__
from vibes_lsp.cli.options import json_option, now
from vibes_lsp.cli.output import plain, print_json, print_line
from vibes_lsp.errors import VibesError
from vibes_lsp.model.vocabulary import AssuranceLevel
from vibes_lsp.store.initialise import initialise


@click.command("init")
@click.argument("folder", type=click.Path(path_type=Path), default=Path())
@click.option("--project-name", metavar="NAME", help="Name of the project; by default its folder's.")
@click.option(
    "--assurance-level", type=click.Choice([level.value for level in AssuranceLevel]), default="medium", show_default=True,
    help="low: tool and model; medium: prompts as well; high: reasoning as well.",
)  # fmt: skip
@click.option("--extensions", metavar=".A,.B", help="Track only files with these extensions.")
@json_option
def command(folder: Path, project_name: str | None, assurance_level: str, extensions: str | None, as_json: bool) -> None:  # noqa: FBT001
    """Create .ai-audit/ in FOLDER, or what is missing of it; what is there stays as it is."""
    made = initialise(
        folder,
        project_name=_text(project_name or os.path.normpath(folder.absolute()).rpartition(os.sep)[2]),
        level=AssuranceLevel(assurance_level),
        extensions=_extensions(extensions),
        tool_version=__version__,
        now=now(),
    )
    if as_json:
        print_json({"path": str(made.directory.path), "created": list(made.created), "kept": list(made.kept)})
        return
    print_line(plain(made.directory.path))
    for name in made.created:
        print_line(f"  created  {name}")
    for name in made.kept:
        print_line(f"  kept     {name}")


def _text(name: str) -> str:
    """What is no text in a name that the system gave us becomes U+FFFD: config.json is UTF-8."""
    return name.encode("utf-8", "surrogateescape").decode("utf-8", "replace")


def _extensions(given: str | None) -> list[str] | None:
    if given is None:
        return None
    extensions = [extension.strip() for extension in given.split(",")]
    wrong = [extension for extension in extensions if not extension.startswith(".") or len(extension) < 2]
    if wrong:
        raise VibesError(f"{wrong[0]!r} is not an extension", hint="write them like .py,.ts")
    return extensions
