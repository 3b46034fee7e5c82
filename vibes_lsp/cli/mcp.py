"""`vibes mcp`: the server through which coding agents ask about provenance."""

from __future__ import annotations

from pathlib import Path

import click

from vibes_lsp.cli.options import audit_dir_option, examples
from vibes_lsp.errors import VibesError


@click.command("mcp", epilog=examples("vibes mcp", "vibes mcp --tools all"))
@click.option(
    "--tools",
    type=click.Choice(["ask", "all"]),
    default="ask",
    show_default=True,
    help="Tools to offer: those that ask, or also those that record.",
)
@audit_dir_option
def command(tools: str, audit_dir: Path | None) -> None:
    """Answer coding agents over the Model Context Protocol.

    Speaks on standard input and output; an agent starts it. docs/mcp.md says how to set it up for
    each agent.
    """
    try:
        # Imported late: the SDK is optional, and slow to import.
        from vibes_lsp.mcp.message_loop import serve  # noqa: PLC0415
        from vibes_lsp.mcp.served_project import ServedProject  # noqa: PLC0415
        from vibes_lsp.mcp.server import served_provenance  # noqa: PLC0415
        from vibes_lsp.mcp.tool_catalogue import (  # noqa: PLC0415
            ASKING,
            RECORDING,
            Connection,
        )
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] not in {"anyio", "mcp", "mcp_types"}:
            raise
        raise VibesError(
            "the MCP server needs the package mcp",
            hint="in a checkout of vibes-lsp, run `pip install '.[mcp]'`",
        ) from None
    chosen = (*ASKING, *RECORDING) if tools == "all" else ASKING
    serve(served_provenance(Connection(ServedProject(Path.cwd(), audit_dir)), chosen))
