"""`vibes graph ID`: what caused something and what came of it, as a diagram or as JSON."""

from __future__ import annotations

from pathlib import Path

import click

from vibes_lsp.cli.options import audit_dir_option, examples, json_option, limit_option
from vibes_lsp.cli.output import print_json, print_line
from vibes_lsp.cli.project import open_trail
from vibes_lsp.index.lookup import look_up
from vibes_lsp.reports.mermaid import as_mermaid
from vibes_lsp.reports.provenance_graph import (
    DEFAULT_DEPTH,
    DEFAULT_NODES,
    MAX_DEPTH,
    MAX_NODES,
    provenance_graph,
)


@click.command(
    "graph", epilog=examples("vibes graph 3f2a9c1b", "vibes graph 3f2a9c1b --depth 4 --json")
)
@click.argument(
    "identifier",
    metavar="ID",
    help="Id of an annotation, edge, context or session, or its beginning.",
)
@click.option(
    "--depth",
    type=click.IntRange(1, MAX_DEPTH),
    default=DEFAULT_DEPTH,
    show_default=True,
    metavar="N",
    help="Maximum distance in each direction.",
)
@limit_option("nodes", default=DEFAULT_NODES, largest=MAX_NODES)
@audit_dir_option
@json_option
def command(
    *,
    identifier: str,
    depth: int,
    limit: int,
    audit_dir: Path | None,
    as_json: bool,
) -> None:
    """Show what caused an edit and what came of it.

    Prompt, command, decision, reasoning, session and what was read lead to an edit; later edits and
    reviews follow from it. Prints a Mermaid flowchart, which GitHub and GitLab draw in Markdown.
    """
    trail = open_trail(audit_dir)
    graph = provenance_graph(trail, look_up(trail, identifier), depth=depth, limit=limit)
    if as_json:
        print_json(graph.as_json())
    else:
        print_line(as_mermaid(graph).rstrip("\n"))
