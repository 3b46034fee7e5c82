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
from vibes_lsp.agents.agent import Scope
from vibes_lsp.cli.init_agents import (
    SetupChanges,
    add_setup,
    ask_agents,
    choose_agents,
    print_next_step,
    print_setup,
    remove_setup,
)
from vibes_lsp.cli.options import examples, json_option
from vibes_lsp.cli.output import escape, print_json, print_line, print_warning
from vibes_lsp.cli.project import now
from vibes_lsp.errors import RefusedWrite, VibesError
from vibes_lsp.git.missing_trail import refuse_missing_trail
from vibes_lsp.maintenance.hook_installation import (
    HookChange,
    HookResult,
    install_hook,
    remove_hook,
)
from vibes_lsp.model.members import Members
from vibes_lsp.model.vocabulary import AssuranceLevel
from vibes_lsp.store.audit_dir import AuditDir
from vibes_lsp.store.git_folders import nearest_marker
from vibes_lsp.store.initialise import InitResult, enable_risk_scoring, initialise
from vibes_lsp.store.trail_search import AUDIT_DIR_NAME
from vibes_lsp.store.waiting import waiting_files


@click.command(
    "init",
    epilog=examples(
        "vibes init --agents detected",
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
@click.option("--prism", is_flag=True, help="Risk scores, which `vibes gate` needs.")
@click.option(
    "--git-hooks",
    "hooks",
    flag_value="install",
    help="Pre-commit hook that writes records into the commits they belong to."
    "  [default: in a git repository]",
)
@click.option(
    "--no-git-hooks",
    "hooks",
    flag_value="none",
    help="No hook: records change the audit trail at once.",
)
@click.option(
    "--remove-git-hooks", "hooks", flag_value="remove", help="Removal of the pre-commit hook."
)
@click.option(
    "--agents",
    metavar="NAMES",
    help="Coding agents to hook up: names, all, detected or none."
    "  [default: a question on a terminal]",
)
@click.option("--mcp", is_flag=True, help="Also the MCP server `vibes mcp` for these agents.")
@click.option(
    "--remove-agents", "removed", metavar="NAMES", help="Coding agents to remove the hooks of."
)
@click.option(
    "--instructions",
    multiple=True,
    metavar="FILE",
    help="File with instructions for agents without hooks, such as AGENTS.md; repeatable.",
)
@click.option(
    "--remove-instructions",
    "removed_instructions",
    multiple=True,
    metavar="FILE",
    help="File to remove the instructions from; repeatable.",
)
@click.option(
    "--user", is_flag=True, help="Agents' configuration in the home folder, not the project."
)
@json_option
def command(  # noqa: PLR0917  # one branch for each option
    folder: Path,
    project_name: str | None,
    assurance_level: str,
    extensions: str | None,
    prism: bool,
    hooks: str | None,
    agents: str | None,
    mcp: bool,
    removed: str | None,
    instructions: tuple[str, ...],
    removed_instructions: tuple[str, ...],
    user: bool,
    as_json: bool,
) -> int:
    """Create the audit trail of a project.

    Creates .ai-audit/ or completes an existing one; existing records and settings do not change.
    A pre-commit hook that already exists runs before the one installed here.

    With --agents, coding agents record by hooks in their own configuration; --instructions is for
    those without hooks. Other settings and text stay as they are. With --user or an option that
    removes, no trail is created. docs/agents.md has the details.
    """
    project = folder.absolute()
    scope = Scope.USER if user else Scope.PROJECT
    if removed is not None or removed_instructions or hooks == "remove":
        if agents is not None or instructions or hooks == "install" or mcp:
            raise click.UsageError("cannot add and remove at once; run `vibes init` twice")
        hook = _remove_hook(project) if hooks == "remove" else None
        done = remove_setup(
            () if removed is None else choose_agents(removed), scope, removed_instructions, project
        )
        return _print({}, hook, done, project, as_json=as_json)
    if user:
        if agents is None or instructions or hooks == "install":
            raise click.UsageError("--user is only for --agents and --remove-agents")
        done = add_setup(choose_agents(agents), scope, (), project, program=program_path(), mcp=mcp)
        return _print({}, None, done, project, as_json=as_json)
    chosen = ask_agents(project, as_json=as_json) if agents is None else choose_agents(agents)
    if mcp and not chosen:
        raise click.UsageError("--mcp is for the agents of --agents, and there are none")
    refuse_missing_trail(project)
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
    if prism:
        _turn_on_prism(made, as_json=as_json)
    hook = None if hooks == "none" else _install_hook(project, is_required=hooks == "install")
    done = add_setup(chosen, scope, instructions, project, program=program_path(), mcp=mcp)
    members: Members = {
        "path": str(made.directory.path),
        "created": list(made.created),
        "completed": list(made.completed),
        "kept": list(made.unchanged),
    }
    code = _print(members, hook, done, project, as_json=as_json)
    if not as_json:
        if made.created:
            print_line("Commit .ai-audit/ with your code. Check the setup with `vibes doctor`.")
        print_next_step(done, project, agents, is_new=bool(made.created))
    return code


def _install_hook(project: Path, *, is_required: bool) -> HookResult | None:
    """Install the hook; without being asked for it, only where that is possible."""
    if not is_required and nearest_marker(os.path.realpath(project)) is None:
        return None
    try:
        return install_hook(project, program=program_path())
    except RefusedWrite as error:
        if is_required:
            raise
        print_warning(f"no git hook: {error.message}; {error.hint}")
        return None


def _remove_hook(project: Path) -> HookResult:
    """Remove the hook, and write what it would have written."""
    hook = remove_hook(project)
    directory = AuditDir(project / AUDIT_DIR_NAME)
    if any(path.is_file() for path in waiting_files(directory)):
        from vibes_lsp.maintenance.flush import flush  # noqa: PLC0415

        flush(directory)
    return hook


def _turn_on_prism(made: InitResult, *, as_json: bool) -> None:
    is_changed = enable_risk_scoring(made.directory)
    if not as_json:
        print_line(f"Risk scores: {'turned on' if is_changed else 'on already'}")


def _print(
    members: Members,
    hook: HookResult | None,
    done: SetupChanges,
    project: Path,
    *,
    as_json: bool,
) -> int:
    """Print what was done, and return the exit code."""
    if as_json:
        hooked = {} if hook is None else _hook_members(hook)
        print_json({**members, **hooked, **done.members()})
    else:
        if hook is not None:
            _print_hook(hook)
        print_setup(done, project)
    return 2 if done.errors else 0


_HOOK_TEXTS = {
    HookChange.INSTALLED: "installed; records wait for the commit of their lines",
    HookChange.UPDATED: "updated",
    HookChange.KEPT: "already installed",
    HookChange.REMOVED: "removed",
    HookChange.ABSENT: "not installed",
}


def _print_files(made: InitResult) -> None:
    if not (made.created or made.completed):
        print_line(f"{escape(made.directory.path)}: complete already; config.json has its settings")
        return
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
        print_line(f"  the previous hook runs before it: {escape(changed.before.name)}")
    if changed.in_work_tree and changed.change in {HookChange.INSTALLED, HookChange.UPDATED}:
        print_line("  it is in the work tree (core.hooksPath): commit it to share it")


def program_path() -> str:
    """Return the path of `vibes`, for hooks that git runs where PATH lacks it, as in an editor."""
    beside = Path(sysconfig.get_path("scripts")) / ("vibes.exe" if os.name == "nt" else "vibes")
    program = str(beside) if beside.is_file() else shutil.which("vibes")
    return Path(program).absolute().as_posix() if program else ""


def _as_utf8(name: str) -> str:
    """Return a name from the system with undecodable bytes as U+FFFD: config.json is UTF-8."""
    return name.encode("utf-8", "surrogateescape").decode("utf-8", "replace")


def _parse_extensions(text: str | None) -> list[str] | None:
    if text is None:
        return None
    extensions = [extension.strip() for extension in text.split(",")]
    wrong = [
        extension for extension in extensions if not extension.startswith(".") or len(extension) < 2
    ]
    if wrong:
        raise VibesError(f"invalid extension {wrong[0]!r}: expected a list such as .py,.ts")
    return extensions
