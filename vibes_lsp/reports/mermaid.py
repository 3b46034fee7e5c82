"""A provenance graph as a Mermaid flowchart, whose texts are inert.

Recorded text stands in labels only. All of it but letters, digits and a few marks becomes numeric
entities of Mermaid, so that it cannot end its label, nor be read as a directive, HTML or Markdown.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from vibes_lsp.model.escaping import single_line
from vibes_lsp.reports.provenance_graph import GraphNode, ProvenanceGraph

_MAX_TEXT: Final = 80
_MAX_NAME: Final = 40
_PLAIN: Final = frozenset(" _-./,")
_SHAPES: Final = {
    "annotation": ("[", "]"),
    "prompt": ("([", "])"),
    "decision": ("{{", "}}"),
    "session": ("[[", "]]"),
}
_OTHER_SHAPE: Final = ("(", ")")


def as_mermaid(graph: ProvenanceGraph) -> str:
    """Return a graph as a flowchart from causes to effects."""
    return "\n".join(_lines(graph)) + "\n"


def _lines(graph: ProvenanceGraph) -> Iterator[str]:
    yield "flowchart TD"
    names = {node.id: f"n{number}" for number, node in enumerate(graph.nodes)}
    for node in graph.nodes:
        opening, closing = _SHAPES.get(node.type) or _SHAPES.get(node.kind) or _OTHER_SHAPE
        yield f'  {names[node.id]}{opening}"{_label(node)}"{closing}'
    for link in graph.links:
        words = link.words or inert(link.type, _MAX_NAME)
        yield f'  {names[link.cause.id]} -- "{words}" --> {names[link.effect.id]}'
    yield f"  style {names[graph.root]} stroke-width:3px"
    if graph.left_out:
        yield f'  more["{graph.left_out} more not shown"]'


def _label(node: GraphNode) -> str:
    head = inert(f"{node.type or node.kind} {node.id[:8]}", _MAX_NAME)
    author = f" by {inert(node.author, _MAX_NAME)}" if node.author else ""
    text = f"<br/>“{inert(node.text, _MAX_TEXT)}”" if node.text.strip() else ""
    return f"{head}{author}{text}"


def inert(text: str, limit: int) -> str:
    """Return untrusted text for a label of Mermaid, on one line and cut to `limit` characters."""
    return "".join(
        character if character.isalnum() or character in _PLAIN else f"#{ord(character)};"
        for character in single_line(text, limit)
    )
