"""Say of the edits of a provenance graph where their lines are now."""

from __future__ import annotations

from dataclasses import replace

from vibes_lsp.placing.placements import Placement
from vibes_lsp.placing.project_locator import ProjectLocator
from vibes_lsp.reports.provenance_graph import GraphNode, ProvenanceGraph


def with_current_lines(graph: ProvenanceGraph, locator: ProjectLocator) -> ProvenanceGraph:
    """Return a graph whose edits are where the files of the project have them."""
    recorded = (node.path for node in graph.nodes if node.path is not None)
    paths = dict.fromkeys(map(locator.names.current_name, dict.fromkeys(recorded)))
    placements = {
        identifier: placement
        for path in paths
        for placement in locator.read_and_locate(path)[1]
        for identifier in placement.lineage.ids
    }
    nodes = tuple(
        _located(node, placements[node.id]) if node.id in placements else node
        for node in graph.nodes
    )
    return replace(graph, nodes=nodes)


def _located(node: GraphNode, placement: Placement) -> GraphNode:
    start, end = placement.located.start, placement.located.end
    state = placement.located.state.value
    action = node.text.partition(" ")[0]
    if start is None or end is None:
        return replace(node, state=state, text=f"{node.text}, {state}")
    name = placement.current.text("function_name")
    place = f"{placement.path}:{start}-{end}" + (f" {name}" if name else "")
    return replace(node, state=state, now=(start, end), text=f"{action} {place}")
