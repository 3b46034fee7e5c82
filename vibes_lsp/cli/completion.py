"""`vibes completion SHELL`: completion of commands, options and their values in a shell."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

import click
from click.shell_completion import BashComplete, FishComplete, ShellComplete, ZshComplete

from vibes_lsp.cli.options import examples
from vibes_lsp.cli.output import print_line

_SHELLS: Final[Mapping[str, type[ShellComplete]]] = {
    "bash": BashComplete,
    "zsh": ZshComplete,
    "fish": FishComplete,
}
_VARIABLE: Final = "_VIBES_COMPLETE"
"""The environment variable by which the script asks `vibes`, as click names it."""


@click.command("completion", epilog=examples("vibes completion bash"))
@click.argument("shell", type=click.Choice(list(_SHELLS)), help="The shell.")
@click.pass_context
def command(context: click.Context, shell: str) -> None:
    """Print a script that completes `vibes` in a shell.

    In a startup file such as ~/.bashrc, write: eval "$(vibes completion bash)"
    """
    completion = _SHELLS[shell](context.find_root().command, {}, "vibes", _VARIABLE)
    print_line(completion.source())
