"""`vibes graph ID`: what caused something and what came of it, as a diagram or as JSON."""

from __future__ import annotations

from pathlib import Path

import click

from vibes_lsp.cli.options import (
    audit_dir_option,
    examples,
    git_option,
    json_option,
    limit_option,
)
from vibes_lsp.cli.output import print_json, print_line
from vibes_lsp.cli.project import open_project
from vibes_lsp.index.lookup import look_up
from vibes_lsp.reports.located_graph import with_current_lines
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
@git_option
@audit_dir_option
@json_option
def command(
    *,
    identifier: str,
    depth: int,
    limit: int,
    git: bool,
    audit_dir: Path | None,
    as_json: bool,
) -> None:
    """Show what caused an edit and what came of it.

    Prompt, command, decision, reasoning, session and what was read lead to an edit; later edits and
    reviews follow from it. Edits have the lines where they are now. Prints a Mermaid flowchart,
    which GitHub and GitLab draw in Markdown.
    """
    project = open_project(audit_dir)
    found = look_up(project.trail, identifier)
    graph = provenance_graph(project.trail, found, depth=depth, limit=limit)
    with project.locator(use_git=git, use_cache=True) as locator:
        graph = with_current_lines(graph, locator)
    if as_json:
        print_json(graph.as_json())
    else:
        print_line(as_mermaid(graph).rstrip("\n"))
