"""`vibes hook`: an event of a coding agent on standard input. `vibes_lsp.__main__` runs it."""

from __future__ import annotations

from pathlib import Path

import click

from vibes_lsp.cli.options import audit_dir_option
from vibes_lsp.cli.project import audit_directory
from vibes_lsp.ingest import hook


@click.command(
    "hook",
    context_settings={"ignore_unknown_options": True, "allow_extra_args": True},
)
@click.option("--wait", is_flag=True, help="Read no event; wait until stored events are recorded.")
@audit_dir_option
def command(wait: bool, audit_dir: Path | None) -> None:
    """Store an agent's event from standard input.

    Prints nothing and always succeeds; extra arguments are ignored. A process in the background
    records what is stored, and ends soon after the last event. docs/agents.md says how to set it up
    for each agent.
    """
    if not wait:
        hook.receive_event()
        return
    from vibes_lsp.ingest.fold import wait_until_folded  # noqa: PLC0415

    wait_until_folded(audit_directory(audit_dir))
