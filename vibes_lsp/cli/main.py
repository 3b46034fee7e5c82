"""Entry point of `vibes`: lists the commands, runs one, and turns errors into exit codes.

Exit codes: 0 success, 1 findings, 2 wrong use, broken input or an internal error, 130 interrupted.
A command returns its exit code; `_run` maps exceptions to one.
"""

from __future__ import annotations

import contextlib
import importlib
import io
import os
import sys
from collections.abc import Mapping
from itertools import takewhile
from pathlib import Path
from typing import Final

import click
from click import Command, Context
from typing_extensions import override

from vibes_lsp import __version__
from vibes_lsp.cli.output import (
    OutputClosed,
    forget_output,
    has_printed,
    print_error,
    print_usage_error,
)
from vibes_lsp.cli.plugins import command_names, load_command
from vibes_lsp.errors import AuditDirNotFound, OutdatedIndex, VibesError, report

SECTIONS: Final[Mapping[str, Mapping[str, str]]] = {
    "Start": {
        "init": "Create the audit trail of a project.",
        "doctor": "Diagnose missing annotations.",
        "demo": "Create a small sample repository.",
    },
    "Inspect": {
        "blame": "Show which annotation owns each line of a file.",
        "show": "Show who wrote a line and why, or a record.",
        "find": "Find annotations and where their lines are now.",
        "log": "List log records, newest last.",
        "diff": "Show only the AI lines of a change.",
        "stats": "Show statistics of the audit trail.",
        "query": "Query the audit trail with SQL.",
        "export": "Export current records to a trail or another format.",
    },
    "Review": {
        "review": "Review AI code, highest risk first.",
        "merge": "Resolve merge conflicts in the audit trail.",
        "check": "Check the audit trail for compliance.",
        "gate": "Block code that is too risky or needs review.",
    },
    "Record": {
        "record": "Record what an AI did.",
        "import": "Import what other tools recorded.",
        "flush": "Write waiting records into the log.",
        "backfill": "Write into the log which commit each annotation is from.",
        "mcp": "Answer coding agents over the Model Context Protocol.",
    },
    "Trust": {
        "attest": "Sign the audit trail as it is now.",
        "verify": "Verify an attestation and what it still covers.",
        "keys": "Manage the keys that sign attestations.",
        "badge": "Print a badge with AI share, assurance level and tier.",
        "kb": "Keep claims with evidence, reviewed before they count.",
    },
}
"""The commands with the first line of their help, as `vibes --help` prints them."""

COMMANDS: Final[Mapping[str, str]] = {
    **{name: summary for section in SECTIONS.values() for name, summary in section.items()},
    "completion": "Print a script that completes `vibes` in a shell.",
    "hook": "Store an agent's event from standard input.",
}
"""All commands; those that no section has are for agents and shells."""

FORMER_COMMANDS: Final[Mapping[tuple[str, ...], tuple[str, ...]]] = {
    ("coverage",): ("stats", "--by", "file"),
    ("db", "build"): ("query", "--build"),
    ("disclose",): ("attest", "--disclose"),
    ("graph",): ("show", "--graph"),
    ("models",): ("stats", "--by", "model"),
    ("remap",): ("backfill",),
    ("sessions",): ("stats", "--by", "session"),
    ("tag",): ("attest", "--tag"),
    ("kb", "list-claims"): ("kb", "list", "claims"),
    ("kb", "list-entities"): ("kb", "list", "entities"),
    ("kb", "list-pages"): ("kb", "list", "pages"),
    ("kb", "list-relations"): ("kb", "list", "relations"),
    ("kb", "read-claim"): ("kb", "read", "--kind", "claim"),
    ("kb", "read-entity"): ("kb", "read", "--kind", "entity"),
    ("kb", "read-page"): ("kb", "read", "--kind", "page"),
    ("kb", "read-relation"): ("kb", "read", "--kind", "relation"),
}
"""What commands of earlier versions are called now; they still work."""

_HELP: Final = ("-h", "--help")
_REPEATABLE: Final = frozenset({"blame", "show", "find", "log", "diff", "stats"})
"""Commands that only show: run again, they do nothing twice."""


def _present_arguments(arguments: list[str]) -> list[str]:
    """Return the arguments with a command's present name."""
    for former, present in FORMER_COMMANDS.items():
        if tuple(arguments[: len(former)]) == former:
            rest = arguments[len(former) :]
            if set(_HELP) & set(rest):
                return [*takewhile(lambda word: not word.startswith("-"), present), "--help"]
            return [*present, *rest]
    return arguments


_MODULES: Final = {"import": "exchange"}
"""The module of a command that is not called like it."""

_EXTRAS: Final = {
    "asyncssh": "agent",
    "cryptography": "attest",
    "httpx2": "attest",
    "securesystemslib": "attest",
}
"""Packages that only some commands need, and the extra that installs each."""


def _missing_extra(error: ModuleNotFoundError) -> Exception:
    """Return the error for a package that an extra installs; for others the one that was raised."""
    package = (error.name or "").partition(".")[0]
    if package not in _EXTRAS:
        return error
    return VibesError(
        f"this command needs the package {package}",
        hint=f"in a checkout of vibes-lsp, run `{sys.executable} -m pip install"
        f" '.[{_EXTRAS[package]}]'`",
    )


def _unusable(name: str, error: VibesError) -> Command:
    """Return a command that has help, and raises an error when it runs."""

    def fail(**_: object) -> None:
        raise error

    summary = f"{COMMANDS[name]}\n\n" if name in COMMANDS else ""
    command = Command(name, callback=fail, help=f"{summary}{error.message}; {error.hint}")
    command.params.append(click.Argument(["arguments"], nargs=-1))
    command.context_settings = {"ignore_unknown_options": True}
    return command


def _added_commands() -> list[str]:
    """Return the names of the commands that other distributions add."""
    return [name for name in command_names() if name not in COMMANDS]


def _added_command(name: str) -> Command | None:
    """Return a command of another distribution, or one that says why it cannot run."""
    try:
        return load_command(name)
    except VibesError as error:
        return _unusable(name, error)


def _summaries_of_added_commands() -> dict[str, str]:
    """Return what help lists of other distributions; print why one cannot be loaded."""
    summaries = {}
    for name in _added_commands():
        try:
            command = load_command(name)
        except VibesError as error:
            print_error(error)
        else:
            summaries[name] = command.help.partition("\n")[0] if command and command.help else ""
    return summaries


class _Commands(click.Group):
    """Imports the module of a command only when it runs: `vibes --help` needs none of them."""

    @override
    def list_commands(self, ctx: Context) -> list[str]:
        return [*(name for section in SECTIONS.values() for name in section), *_added_commands()]

    @override
    def get_command(self, ctx: Context, cmd_name: str) -> Command | None:
        if cmd_name not in COMMANDS:
            return _added_command(cmd_name)
        name = _MODULES.get(cmd_name, cmd_name)
        try:
            command: Command = importlib.import_module(f"vibes_lsp.cli.{name}").command
        except ModuleNotFoundError as error:
            missing = _missing_extra(error)
            if not isinstance(missing, VibesError):
                raise
            return _unusable(cmd_name, missing)
        return command

    @override
    def resolve_command(
        self, ctx: Context, args: list[str]
    ) -> tuple[str | None, Command | None, list[str]]:
        try:
            return super().resolve_command(ctx, _present_arguments(args))
        except click.exceptions.NoSuchCommand as error:  # click suggests imported commands only
            raise click.exceptions.NoSuchCommand(
                error.command_name, possibilities=self.list_commands(ctx), ctx=ctx
            ) from None

    @override
    def format_commands(self, ctx: Context, formatter: click.HelpFormatter) -> None:
        sections = {**SECTIONS, "Plugins": _summaries_of_added_commands()}
        width = max(len(name) for commands in sections.values() for name in commands)
        for title, commands in sections.items():
            if commands:
                with formatter.section(title):
                    formatter.write_dl([(f"{name:<{width}}", commands[name]) for name in commands])

    @override
    def invoke(self, ctx: Context) -> object:
        try:
            return super().invoke(ctx)
        except BrokenPipeError:  # click would exit with 1
            raise OutputClosed from None
        except ModuleNotFoundError as error:
            raise _missing_extra(error) from None


@click.group(
    cls=_Commands,
    context_settings={"help_option_names": list(_HELP)},
    epilog="Exit codes: 0 success, 1 findings, 2 wrong use or broken input.",
)
@click.version_option(__version__, prog_name="vibes")
def vibes() -> None:
    """Show, review and record which code an AI wrote."""


def main(arguments: list[str] | None = None) -> None:
    """Run the command line and exit."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(encoding="utf-8", errors="backslashreplace")
    if os.environ.get("VIBES_DEBUG"):
        import logging  # noqa: PLC0415  # only for debugging

        logging.basicConfig(level=logging.DEBUG)
    sys.exit(run(arguments))


def run(arguments: list[str] | None = None) -> int:
    """Run the command line and return its exit code; no exception escapes."""
    try:
        return _run(arguments)
    except Exception as error:  # noqa: BLE001  # the last resort: one line with a report id
        print_error(report(error))
        return 2


def _usage_hint(error: click.ClickException) -> str:
    """Return the help to read; empty for an invalid value, whose message has what was expected."""
    invalid = isinstance(error, click.BadParameter) and not isinstance(
        error, click.MissingParameter
    )
    if not isinstance(error, click.UsageError) or error.ctx is None or invalid:
        return ""
    if error.format_message().endswith(("?", "?)")):  # it suggests a name
        return ""
    return f"see `{error.ctx.command_path} --help`"


def _invoke(arguments: list[str]) -> object:
    """Run a command; again, if its index was outdated and a second run cannot be noticed."""
    kept_input: dict[str, bytes] = {}
    forget_output()
    try:
        return vibes.main(arguments, "vibes", standalone_mode=False, obj=kept_input)
    except OutdatedIndex:  # it is dropped; the next attempt reads the log itself
        if _present_arguments(arguments)[0] not in _REPEATABLE or has_printed():
            raise
        return vibes.main(arguments, "vibes", standalone_mode=False, obj=kept_input)


def _run(arguments: list[str] | None) -> int:
    try:
        code = _invoke(sys.argv[1:] if arguments is None else arguments)
        sys.stdout.flush()
    except AuditDirNotFound as error:
        from vibes_lsp.git.missing_trail import explained  # noqa: PLC0415

        print_error(explained(error, Path.cwd()))
        return 2
    except VibesError as error:
        print_error(error)
        return 2
    except click.exceptions.NoArgsIsHelpError as error:
        click.echo(error.format_message(), err=True)
        return 2
    except click.ClickException as error:
        print_usage_error(error.format_message(), hint=_usage_hint(error))
        return 2
    except (click.Abort, KeyboardInterrupt):
        return 130
    except (BrokenPipeError, OutputClosed):  # the reader, such as `head`, has exited
        with contextlib.suppress(OSError):
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except OSError as error:
        print_error(
            VibesError(f"{error.filename}: {error.strerror}" if error.filename else str(error))
        )
        return 2
    return code if isinstance(code, int) else 0
