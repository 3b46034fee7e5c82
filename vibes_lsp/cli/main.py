"""Entry point of `vibes`: finds the subcommand's module, runs it, and turns errors into exit codes.

Exit codes: 0 success, 1 findings, 2 wrong use, broken input or a fault of this program, with one line on standard error.
"""

from __future__ import annotations

import contextlib
import importlib
import io
import os
import sys
from typing import Final

import click
from click import Command, Context
from typing_extensions import override

from vibes_lsp import __version__
from vibes_lsp.cli.output import ReaderGone, print_error, print_usage_error
from vibes_lsp.errors import VibesError, report

COMMANDS: Final = {
    "init": "Create .ai-audit/, or what is missing of it.",
    "check": "Check the trail: the compliance report, and every finding with its place.",
    "blame": "Say for each line of a file which annotation owns it, and whether that still holds.",
    "find": "Find current annotations, and where their lines are now.",
    "review": "Review what AIs wrote, the riskiest first, with one key for each verdict.",
    "diff": "Show the AI's lines of a change, and only those.",
    "gate": "Stop what is too risky, or what the project's rules want reviewed.",
    "coverage": "Say how much of the project an AI wrote.",
    "log": "List the records, the newest last.",
    "show": "Show a record, a context entry or a session with its relations.",
    "sessions": "List the sessions.",
    "models": "Say which tools and models wrote how much.",
    "stats": "Give the trail in numbers.",
    "db": "Make the derived database, audit.db.",
    "query": "Ask the trail in SQL.",
    "export": "Write a trail of current records only.",
    "record": "Record what an AI did, from a shell or a program: JSON in, JSON out.",
    "backfill": "Write into the log which commits brought annotations.",
    "remap": "Write anew where annotations are whose commit was rewritten.",
    "merge": "Settle conflicts in the trail, and take over what another revision has.",
    "demo": "Make a small real workspace to look at.",
    "doctor": "Say why nothing shows.",
}
"""Name and one line of help of every subcommand; its code is `vibes_lsp.cli.NAME.command`, imported when it is run."""


class _Commands(click.Group):
    """Imports a subcommand only when it is asked for: `vibes --help` needs none of them."""

    @override
    def list_commands(self, ctx: Context) -> list[str]:
        return list(COMMANDS)

    @override
    def get_command(self, ctx: Context, cmd_name: str) -> Command | None:
        if cmd_name not in COMMANDS:
            return None
        module = importlib.import_module(f"vibes_lsp.cli.{cmd_name}")
        command: Command = module.command
        return command

    @override
    def format_commands(self, ctx: Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl(list(COMMANDS.items()))

    @override
    def invoke(self, ctx: Context) -> object:
        try:
            return super().invoke(ctx)
        except BrokenPipeError:  # click would end the program with 1
            raise ReaderGone from None


@click.group(cls=_Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="vibes")
def vibes() -> None:
    """Which AI wrote this line, what was it asked, how risky is it, has a person looked at it, and is that still true?"""


def main(arguments: list[str] | None = None) -> None:
    """Run the command line and exit."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(encoding="utf-8", errors="backslashreplace")
    if os.environ.get("VIBES_DEBUG"):
        import logging  # noqa: PLC0415  # only those who look for a fault need it

        logging.basicConfig(level=logging.DEBUG)
    sys.exit(run(arguments))


def run(arguments: list[str] | None = None) -> int:
    """Run the command line and return its exit code; whatever goes wrong, no exception leaves it."""
    try:
        return _run(arguments)
    except Exception as error:  # noqa: BLE001  # the outermost net
        print_error(report(error))
        return 2


def _run(arguments: list[str] | None) -> int:
    try:
        code = vibes.main(arguments, prog_name="vibes", standalone_mode=False)
        sys.stdout.flush()
    except VibesError as error:
        print_error(error)
        return 2
    except click.exceptions.NoArgsIsHelpError as error:
        click.echo(error.format_message(), err=True)
        return 2
    except click.ClickException as error:
        print_usage_error(error.format_message())
        return 2
    except (click.Abort, KeyboardInterrupt):
        return 130
    except (BrokenPipeError, ReaderGone):  # the reader, `head` for example, has seen enough
        with contextlib.suppress(OSError):
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except OSError as error:
        print_error(
            VibesError(f"{error.filename}: {error.strerror}" if error.filename else str(error))
        )
        return 2
    return code if isinstance(code, int) else 0
