"""What other distributions add to `vibes` by entry points: commands, and times for `vibes verify`.

Entry points come from the Python environment, never from a project. They are looked up only when
the product lacks a name, and for help: `importlib.metadata` is slow.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any, Final

from click import Command

from vibes_lsp.errors import VibesError

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint, EntryPoints

_COMMANDS: Final = "vibes.commands"
"""The group of commands: the name of each, and the click command."""
_TIMES: Final = "vibes.independent_times"
"""The group of functions that `vibes verify` asks for times; `cli.verify` calls them."""
_SERVICES: Final = "vibes-lsp-services"
_SERVICE_COMMANDS: Final = frozenset({"cosign-server", "registry", "timestamp"})


def command_names() -> list[str]:
    """Return the names of all commands that other distributions add."""
    return sorted(_entries(_COMMANDS).names)


def load_command(name: str) -> Command | None:
    """Return a command of another distribution; None if no distribution has it.

    Raises:
        VibesError: It cannot be loaded, or is in a distribution of ours that is not installed.
    """
    entry = _find(_COMMANDS, name)
    if entry is None:
        if name in _SERVICE_COMMANDS:
            raise _missing_services(f"`vibes {name}`")
        return None
    command = _load(entry)
    if not isinstance(command, Command):
        raise VibesError(f"{entry.value} of {_distribution(entry)} is not a command")
    return command


def load_time_source(name: str, needed_by: str) -> Any:
    """Return a function that gives independent times.

    Args:
        name: Its name, `timestamp` or `registry`.
        needed_by: What needs it, for the error.

    Raises:
        VibesError: It cannot be loaded, or no installed distribution has it.
    """
    entry = _find(_TIMES, name)
    if entry is None:
        raise _missing_services(needed_by)
    return _load(entry)


def _entries(group: str) -> EntryPoints:
    from importlib.metadata import entry_points  # noqa: PLC0415  # slow to import

    return entry_points(group=group)


def _find(group: str, name: str) -> EntryPoint | None:
    return next(iter(_entries(group).select(name=name)), None)


def _load(entry: EntryPoint) -> object:
    try:
        return entry.load()
    except Exception as error:  # code of others: its faults stop only what needs it
        raise VibesError(
            f"{entry.name} of {_distribution(entry)} cannot be loaded: {error}",
            hint="install it again, or remove it",
        ) from error


def _distribution(entry: EntryPoint) -> str:
    return f"{entry.dist.name} {entry.dist.version}" if entry.dist else "an unknown package"


def _missing_services(needed_by: str) -> VibesError:
    return VibesError(
        f"{needed_by} needs the package {_SERVICES}",
        hint=f"in a checkout of vibes-lsp, run `{sys.executable} -m pip install . ./services`",
    )
