"""`vibes init`: create what is missing of an audit directory (R13), and the hook that keeps it up to date (R4)."""

from __future__ import annotations

import os
import shutil
import sysconfig
from pathlib import Path

import click

from vibes_lsp import __version__
from vibes_lsp.cli.options import json_option, now
from vibes_lsp.cli.output import plain, print_json, print_line
from vibes_lsp.errors import VibesError
from vibes_lsp.maintenance.hook_installation import (
    HookChange,
    HookResult,
    install_hook,
    remove_hook,
)
from vibes_lsp.model.members import Members
from vibes_lsp.model.vocabulary import AssuranceLevel
from vibes_lsp.store.initialise import initialise


@click.command("init")
@click.argument("folder", type=click.Path(path_type=Path), default=Path())
@click.option(
    "--project-name", metavar="NAME", help="Name of the project; by default its folder's."
)
@click.option(
    "--assurance-level", type=click.Choice([level.value for level in AssuranceLevel]), default="medium", show_default=True,
    help="low: tool and model; medium: prompts as well; high: reasoning as well.",
)  # fmt: skip
@click.option("--extensions", metavar=".A,.B", help="Track only files with these extensions.")
@click.option(
    "--git-hooks/--remove-git-hooks",
    "hooks",
    default=None,
    help="Have each commit bring the trail up to date, by a pre-commit hook that runs the one that is there as well; or undo that, and no more.",
)
@json_option
def command(  # noqa: PLR0917
    folder: Path,
    project_name: str | None,
    assurance_level: str,
    extensions: str | None,
    hooks: bool | None,
    as_json: bool,
) -> None:
    """Create .ai-audit/ in FOLDER, or complete one; existing records and settings stay unchanged."""
    if hooks is False:
        _show({}, remove_hook(folder.absolute()), as_json=as_json)
        return
    made = initialise(
        folder,
        project_name=_text(
            project_name or os.path.normpath(folder.absolute()).rpartition(os.sep)[2]
        ),
        level=AssuranceLevel(assurance_level),
        extensions=_extensions(extensions),
        tool_version=__version__,
        now=now(),
    )
    if not as_json:
        print_line(plain(made.directory.path))
        for name in made.created:
            print_line(f"  created  {name}")
        for name in made.completed:
            print_line(f"  completed {name}")
        for name in made.unchanged:
            print_line(f"  kept     {name}")
    result: Members = {
        "path": str(made.directory.path),
        "created": list(made.created),
        "completed": list(made.completed),
        "kept": list(made.unchanged),
    }
    _show(
        result,
        install_hook(folder.absolute(), program=program()) if hooks else None,
        as_json=as_json,
    )


_WORDS = {
    HookChange.INSTALLED: "each commit brings the trail up to date",
    HookChange.UPDATED: "brought up to date",
    HookChange.KEPT: "is there already",
    HookChange.REMOVED: "taken away",
    HookChange.ABSENT: "there was none of ours",
}


def _show(result: Members, changed: HookResult | None, *, as_json: bool) -> None:
    if as_json:
        before = None if changed is None or changed.before is None else str(changed.before)
        hook: Members = (
            {}
            if changed is None
            else {
                "hook": {
                    "file": str(changed.file),
                    "change": changed.change.value,
                    "before": before,
                }
            }
        )
        print_json({**result, **hook})
        return
    if changed is None:
        return
    print_line(f"hook {plain(changed.file)}: {_WORDS[changed.change]}")
    if changed.change is HookChange.REMOVED and changed.before is not None:
        print_line("  the hook that was there before has its name again")
    elif changed.before is not None:
        print_line(f"  after it runs the one that was there before: {plain(changed.before.name)}")
    if changed.in_work_tree and changed.change in {HookChange.INSTALLED, HookChange.UPDATED}:
        print_line("  it lies in the work tree (core.hooksPath): commit it to have it everywhere")


def program() -> str:
    """Return this program's path, for commits from where PATH lacks it, such as an editor's own menu."""
    beside = Path(sysconfig.get_path("scripts")) / ("vibes.exe" if os.name == "nt" else "vibes")
    found = str(beside) if beside.is_file() else shutil.which("vibes")
    return Path(found).absolute().as_posix() if found else ""


def _text(name: str) -> str:
    """What is no text in a name that the system gave us becomes U+FFFD: config.json is UTF-8."""
    return name.encode("utf-8", "surrogateescape").decode("utf-8", "replace")


def _extensions(given: str | None) -> list[str] | None:
    if given is None:
        return None
    extensions = [extension.strip() for extension in given.split(",")]
    wrong = [
        extension for extension in extensions if not extension.startswith(".") or len(extension) < 2
    ]
    if wrong:
        raise VibesError(f"{wrong[0]!r} is not an extension", hint="write them like .py,.ts")
    return extensions
