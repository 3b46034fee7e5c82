"""`vibes hook`: an event of a coding agent on standard input. `vibes_lsp.__main__` runs it."""

from __future__ import annotations

import click

from vibes_lsp.ingest import hook_spool


@click.command(
    "hook",
    context_settings={"ignore_unknown_options": True, "allow_extra_args": True},
)
def command() -> None:
    """Store an agent's event from standard input.

    Prints nothing and always succeeds; extra arguments are ignored. The next command that records,
    the language server and the pre-commit hook record what was stored. docs/agents.md says how to
    set it up for each agent.
    """
    hook_spool.receive_event()
