"""`vibes init`: create an audit directory (R13), and install what keeps it up to date (R4).

`cli.init_agents` hooks up coding agents.
"""

from __future__ import annotations

import os
import shutil
import sysconfig
from pathlib import Path

import click

from vibes_lsp import __version__
from vibes_lsp.agent_setup.agents import Scope
from vibes_lsp.cli.init_agents import (
    add_agents,
    ask_agents,
    choose_agents,
    print_agents,
    print_next_step,
    remove_agents,
)
from vibes_lsp.cli.options import examples, json_option
from vibes_lsp.cli.output import escape, print_json, print_line
from vibes_lsp.cli.project import now
from vibes_lsp.errors import VibesError
from vibes_lsp.maintenance.hook_installation import (
    HookChange,
    HookResult,
    install_hook,
    remove_hook,
)
from vibes_lsp.model.members import Members
from vibes_lsp.model.vocabulary import AssuranceLevel
from vibes_lsp.store.initialise import InitResult, initialise


@click.command(
    "init",
    epilog=examples(
        "vibes init --git-hooks --agents detected",
        "vibes init --project-name shop --extensions .py,.ts",
        "vibes init --remove-git-hooks",
    ),
)
@click.argument(
    "folder",
    type=click.Path(path_type=Path, exists=True, file_okay=False),
    default=Path(),
    help="Folder of the project.  [default: current folder]",
)
@click.option("--project-name", metavar="NAME", help="Project name.  [default: name of the folder]")
@click.option(
    "--assurance-level",
    type=click.Choice([level.value for level in AssuranceLevel]),
    default="medium",
    show_default=True,
    help="Recorded detail: tool and model (low), also prompts (medium), also reasoning (high).",
)
@click.option(
    "--extensions", metavar=".A,.B", help="Extensions of tracked files.  [default: all files]"
)
@click.option(
    "--git-hooks/--remove-git-hooks",
    "hooks",
    default=None,
    help="Pre-commit hook that updates the audit trail: installation or removal."
    "  [default: no change]",
)
@click.option(
    "--agents",
    metavar="NAMES",
    help="Coding agents to hook up: names, all, detected or none."
    "  [default: a question on a terminal]",
)
@click.option(
    "--remove-agents", "removed", metavar="NAMES", help="Coding agents to remove the hooks of."
)
@click.option(
    "--user", is_flag=True, help="Agents' configuration in the home folder, not the project."
)
@json_option
def command(  # noqa: PLR0917
    folder: Path,
    project_name: str | None,
    assurance_level: str,
    extensions: str | None,
    hooks: bool | None,
    agents: str | None,
    removed: str | None,
    user: bool,
    as_json: bool,
) -> int:
    """Create the audit trail of a project.

    Creates .ai-audit/ or completes an existing one; existing records and settings do not change.
    A pre-commit hook that already exists still runs after the one installed here.

    With --agents, coding agents record by hooks in their own configuration, as docs/agents.md
    says; other settings stay as they are. With --user, or to remove, nothing else is done.
    """
    project = folder.absolute()
    if removed is not None or user:
        return _change_agents(
            agents, removed, Scope.USER if user else Scope.PROJECT, project, as_json
        )
    if hooks is False:
        return _remove_hook(project, as_json=as_json)
    chosen = ask_agents(project, as_json=as_json) if agents is None else choose_agents(agents)
    made = initialise(
        folder,
        project_name=_as_utf8(
            project_name or os.path.normpath(folder.absolute()).rpartition(os.sep)[2]
        ),
        level=AssuranceLevel(assurance_level),
        extensions=_parse_extensions(extensions),
        tool_version=__version__,
        now=now(),
    )
    if not as_json:
        _print_files(made)
    hook = install_hook(project, program=program_path()) if hooks else None
    if hook is not None and not as_json:
        _print_hook(hook)
    done = add_agents(chosen, Scope.PROJECT, project, program=program_path())
    if as_json:
        print_json(
            {
                "path": str(made.directory.path),
                "created": list(made.created),
                "completed": list(made.completed),
                "kept": list(made.unchanged),
                **({} if hook is None else _hook_members(hook)),
                **({} if agents is None else done.members()),
            }
        )
    else:
        print_agents(done, project)
        if made.created:
            print_line("Commit this folder with your code. Check the setup with `vibes doctor`.")
        print_next_step(done)
    return done.exit_code


def _remove_hook(project: Path, *, as_json: bool) -> int:
    change = remove_hook(project)
    if as_json:
        print_json(_hook_members(change))
    else:
        _print_hook(change)
    return 0


def _change_agents(
    agents: str | None, removed: str | None, scope: Scope, project: Path, as_json: bool
) -> int:
    """Remove agents' hooks, or add them to the person's own configuration."""
    if removed is not None and agents is not None:
        raise click.UsageError("--agents and --remove-agents exclude each other")
    if removed is not None:
        done = remove_agents(choose_agents(removed), scope, project)
    elif agents is not None:
        done = add_agents(choose_agents(agents), scope, project, program=program_path())
    else:
        raise click.UsageError("--user needs --agents or --remove-agents")
    if as_json:
        print_json(done.members())
    else:
        print_agents(done, project)
    return done.exit_code


_HOOK_TEXTS = {
    HookChange.INSTALLED: "installed; each commit updates the audit trail",
    HookChange.UPDATED: "updated",
    HookChange.KEPT: "already installed",
    HookChange.REMOVED: "removed",
    HookChange.ABSENT: "not installed",
}


def _print_files(made: InitResult) -> None:
    print_line(escape(made.directory.path))
    for name in made.created:
        print_line(f"  created  {name}")
    for name in made.completed:
        print_line(f"  completed {name}")
    for name in made.unchanged:
        print_line(f"  kept     {name}")


def _hook_members(changed: HookResult) -> Members:
    before = None if changed.before is None else str(changed.before)
    return {"hook": {"file": str(changed.file), "change": changed.change.value, "before": before}}


def _print_hook(changed: HookResult) -> None:
    """Print what happened to the pre-commit hook."""
    print_line(f"hook {escape(changed.file)}: {_HOOK_TEXTS[changed.change]}")
    if changed.change is HookChange.REMOVED and changed.before is not None:
        print_line("  the previous hook is restored")
    elif changed.before is not None:
        print_line(f"  the previous hook runs after it: {escape(changed.before.name)}")
    if changed.in_work_tree and changed.change in {HookChange.INSTALLED, HookChange.UPDATED}:
        print_line("  it is in the work tree (core.hooksPath): commit it to share it")


def program_path() -> str:
    """Return the path of `vibes`, for hooks that git runs where PATH lacks it, as in an editor."""
    beside = Path(sysconfig.get_path("scripts")) / ("vibes.exe" if os.name == "nt" else "vibes")
    found = str(beside) if beside.is_file() else shutil.which("vibes")
    return Path(found).absolute().as_posix() if found else ""


def _as_utf8(name: str) -> str:
    """Return a name from the system with undecodable bytes as U+FFFD: config.json is UTF-8."""
    return name.encode("utf-8", "surrogateescape").decode("utf-8", "replace")


def _parse_extensions(given: str | None) -> list[str] | None:
    if given is None:
        return None
    extensions = [extension.strip() for extension in given.split(",")]
    wrong = [
        extension for extension in extensions if not extension.startswith(".") or len(extension) < 2
    ]
    if wrong:
        raise VibesError(f"invalid extension {wrong[0]!r}: expected a list such as .py,.ts")
    return extensions
