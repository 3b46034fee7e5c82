"""Options that several commands share, each with one name, one metavar and one help text."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final, TypeVar

import click

from vibes_lsp.errors import VibesError
from vibes_lsp.model.ages import moment_before
from vibes_lsp.model.vocabulary import Band

_F = TypeVar("_F", bound=Callable[..., Any])
_PLACE: Final = re.compile(r"(.+?):([0-9]{1,4000})(?:-([0-9]{1,4000})|:[0-9]+)?")
"""A file and lines; `int` takes no more digits. Compilers print a column after the line."""


def parse_place(text: str) -> tuple[Path, int, int] | None:
    """Return file, first and last line of `FILE:LINE` or `FILE:START-END`; None for other text.

    The column in `FILE:LINE:COLUMN` is ignored.

    Raises:
        VibesError: There are no such lines.
    """
    match = _PLACE.fullmatch(text)
    if match is None:
        return None
    start, end = int(match[2]), int(match[3] or match[2])
    if not 1 <= start <= end:
        what = "lines count from 1" if start < 1 else f"line {end} is before line {start}"
        raise VibesError(f"invalid place {text!r}: {what}")
    return Path(match[1]), start, end


def refuse_combined(**formats: object) -> None:
    """Stop where several forms of output are chosen.

    Args:
        **formats: Whether each option is given, by its name.

    Raises:
        VibesError: Several are.
    """
    chosen = [f"--{name}" for name, is_given in formats.items() if is_given]
    if len(chosen) > 1:
        raise VibesError(f"{' and '.join(chosen)} cannot be combined", hint="use one of them")


def examples(*lines: str) -> str:
    """Return the end of a command's help: example calls, one a line."""
    return "\n".join(["\b", "Examples:", *(f"  {line}" for line in lines)])


audit_dir_option: Final = click.option(
    "--audit-dir",
    type=click.Path(path_type=Path),
    metavar="DIR",
    help="Audit directory.  [default: nearest .ai-audit/]",
)
json_option: Final = click.option("--json", "as_json", is_flag=True, help="JSON output.")
sarif_option: Final = click.option(
    "--sarif", is_flag=True, help="SARIF 2.1.0 output for code scanning."
)
git_option: Final = click.option(
    "--no-git",
    "git",
    flag_value=False,
    default=True,
    help="Answers from the files and the trail alone.",
)
dry_run_option: Final = click.option("--dry-run", is_flag=True, help="Preview without any change.")
model_option: Final = click.option("--model", metavar="TEXT", help="Part of the model name.")
tool_option: Final = click.option("--tool", metavar="TEXT", help="Part of the tool name.")
prompt_option: Final = click.option("--prompt", metavar="TEXT", help="Part of the prompt.")
session_option: Final = click.option("--session", metavar="ID", help="Session id or its beginning.")
band_option: Final = click.option(
    "--band", type=click.Choice([band.value for band in Band]), help="Risk band."
)
file_option: Final = click.option(
    "--file", type=click.Path(path_type=Path), metavar="PATH", help="File or folder."
)


def limit_option(what: str, *, default: int, largest: int | None = None) -> Callable[[_F], _F]:
    """Return a decorator that adds `--limit N`.

    Args:
        what: What is limited, in the plural.
        default: The limit where none is given.
        largest: The largest limit that is accepted.
    """
    return click.option(
        "--limit",
        type=click.IntRange(1, largest),
        default=default,
        show_default=True,
        metavar="N",
        help=f"Maximum number of {what}.",
    )


def since_option(what: str) -> Callable[[_F], _F]:
    """Return a decorator that adds `--since DATE`, a time or None.

    Args:
        what: What is left out if it is older.
    """

    def parse(
        _context: click.Context, _parameter: click.Parameter, text: str | None
    ) -> datetime | None:
        return None if text is None else _parse_since(text)

    return click.option(
        "--since",
        metavar="DATE",
        callback=parse,
        help=f"Earliest time of {what}, such as 2026-02-03, or an age, such as '2 days ago'.",
    )


def _parse_since(text: str) -> datetime:
    """Return the time that a person means; a date or time without an offset is local."""
    moment = moment_before(text, datetime.now(UTC))
    try:
        return moment or datetime.fromisoformat(text).astimezone(UTC)
    except (ValueError, OverflowError):
        raise VibesError(
            f"invalid date {text!r} for --since: expected a date such as 2026-02-03,"
            " a time such as 2026-02-03T10:00Z, or an age such as '2 days ago' or 2d"
        ) from None
