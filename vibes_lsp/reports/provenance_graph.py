"""The provenance graph around a record: what caused it, and what came of it.

Nodes are edits (one for each lineage), context entries and sessions. Links follow the edges of the
log, the members that name entries and sessions, and delegations. Everything is looked up by id, and
bounded: a trail is untrusted, and may have cycles, hubs and ends that are not there.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Final, Literal, TypeAlias

from vibes_lsp.model.members import JsonValue, Members, text
from vibes_lsp.model.paths import normal_path
from vibes_lsp.model.vocabulary import EdgeType, NodeType, Verdict
from vibes_lsp.reports.authors import UNKNOWN, Authors
from vibes_lsp.reports.record_text import action_of, entry_text, subject_of
from vibes_lsp.trail.lineage import Lineage
from vibes_lsp.trail.lookup import LookupResult
from vibes_lsp.trail.records import Edge, recorded_lines
from vibes_lsp.trail.trail import Trail

DEFAULT_DEPTH: Final = 2
MAX_DEPTH: Final = 20
DEFAULT_NODES: Final = 60
MAX_NODES: Final = 400
_MAX_LINKS: Final = 100
"""Links of one node and direction that are read: the newest."""
_MAX_RELATIONS: Final = 2_000
"""Relations of one node that are read."""
_MAX_DELEGATIONS: Final = 1_000
_MAX_TEXT: Final = 1_000
_CAUSING_MEMBERS: Final = ("prompt_hash", "command_hash", "decision_hash", "reasoning_hash")
"""An environment causes nothing that a reader asks for, and would join everything."""
IN_SESSION: Final = "in_session"

_WORDS: Final[dict[str, str]] = {
    EdgeType.CAUSED_BY: "caused",
    EdgeType.INFORMED_BY: "informed",
    EdgeType.DEPENDS_ON: "is needed by",
    EdgeType.SUPERSEDES: "superseded by",
    EdgeType.REVIEWED_BY: "reviewed by",
    EdgeType.DELEGATED_TO: "delegated to",
    "prompt_hash": "caused",
    "command_hash": "wrote",
    "decision_hash": "decided",
    "reasoning_hash": "led to",
    IN_SESSION: "made",
}

NodeKind: TypeAlias = Literal["annotation", "context", "session", "unknown"]
Direction: TypeAlias = Literal["causes", "effects"]


@dataclass(frozen=True, slots=True)
class GraphNode:
    """A thing of the trail.

    Attributes:
        id: Its whole id; of an edit the id of the current record.
        kind: What it is; unknown if the trail does not have it.
        type: Type of the record or entry, such as `line` or `prompt`.
        text: What it is about; untrusted.
        author: The model, or the agent of a session; untrusted.
        path: The recorded file of an edit.
        lines: The recorded lines of an edit.
        timestamp: When it was recorded, as recorded.
        state: How its lines were found in the file as it is now; empty if they were not searched.
        now: The lines of an edit that was found.
    """

    id: str
    kind: NodeKind
    type: str = ""
    text: str = ""
    author: str | None = None
    path: str | None = None
    lines: tuple[int, int] | None = None
    timestamp: str | None = None
    state: str = ""
    now: tuple[int, int] | None = None

    def as_json(self) -> Members:
        """Return the node as JSON, with the names of a placement; what it has not is left out."""
        lines: Members = {}
        if self.state:
            lines["lineStart"], lines["lineEnd"] = self.now or (None, None)
        if self.lines is not None:
            lines["recordedLineStart"], lines["recordedLineEnd"] = self.lines
        members: Members = {
            "type": self.type,
            "text": self.text,
            "author": self.author,
            "filePath": self.path,
            "timestamp": self.timestamp,
            "state": self.state,
        }
        present = {name: value for name, value in members.items() if value}
        return {"id": self.id, "kind": self.kind, **present, **lines}


@dataclass(frozen=True, slots=True)
class GraphLink:
    """A relation, as an edge of the log has it: source [type] target.

    The target came first, except in reviews and delegations (RFC 7.6).

    Attributes:
        source: A node.
        target: A node.
        type: The edge's type, the member that names the target, or `in_session`.
        is_source_first: Whether the source came first.
        verdict: The verdict of a review; empty of others.
    """

    source: GraphNode
    target: GraphNode
    type: str
    is_source_first: bool = False
    verdict: str = ""

    @property
    def cause(self) -> GraphNode:
        """The end that came first."""
        return self.source if self.is_source_first else self.target

    @property
    def effect(self) -> GraphNode:
        """The other end."""
        return self.target if self.is_source_first else self.source

    def as_json(self) -> Members:
        """Return the link as JSON; only a review has a verdict."""
        verdict: Members = {"verdict": self.verdict} if self.verdict else {}
        return {"source": self.source.id, "target": self.target.id, "type": self.type, **verdict}

    @property
    def words(self) -> str | None:
        """What the cause has to do with the effect, such as `informed`; None of unknown types."""
        return f"{self.verdict} by" if self.verdict else _WORDS.get(self.type)


@dataclass(frozen=True, slots=True)
class ProvenanceGraph:
    """A bounded part of the graph.

    Attributes:
        root: The id of the node that was asked about.
        depth: How many links the nodes are away at most.
        nodes: The nodes, the root first, nearer ones before others.
        links: The links between them.
        left_out: How many neighbours of these nodes are not in it.
    """

    root: str
    depth: int
    nodes: tuple[GraphNode, ...]
    links: tuple[GraphLink, ...]
    left_out: int

    def as_json(self) -> Members:
        """Return the graph as JSON."""
        nodes: list[JsonValue] = [node.as_json() for node in self.nodes]
        links: list[JsonValue] = [link.as_json() for link in self.links]
        return {
            "root": self.root,
            "depth": self.depth,
            "nodes": nodes,
            "edges": links,
            "leftOut": self.left_out,
        }


@dataclass(frozen=True, slots=True)
class Neighbours:
    """The neighbours of a node in one direction, nearest kind first.

    Attributes:
        links: One link for each neighbour.
        nodes: The neighbours, parallel to it.
        left_out: How many more there are at least.
    """

    links: tuple[GraphLink, ...] = ()
    nodes: tuple[GraphNode, ...] = ()
    left_out: int = 0


class GraphReader:
    """Reads nodes and links of a trail, which was refreshed. Used for one answer."""

    def __init__(self, trail: Trail) -> None:
        self._trail = trail
        self._authors = Authors(trail)
        self._nodes: dict[tuple[str, str], GraphNode] = {}
        self._lineages: dict[str, Lineage] = {}

    def root(self, lookup: LookupResult) -> GraphNode:
        """Return the node of something that was looked up; of an edge or session record its own.

        An edge becomes its source, a delegation its child session.
        """
        if lookup.record is None:
            return self.node(lookup.id, "context" if lookup.kind == "entry" else "session")
        record = lookup.record
        if record.is_annotation:
            return self.node(lookup.id, "annotation")
        source = record.text("source_ref") or record.text("source_id")
        if source:
            return self.node(source, record.text("source_type"))
        session = record.text("session_id") or record.text("child_session_id")
        return self.node(session or lookup.id, "session" if session else None)

    def node(self, identifier: str, kind: str | None = None) -> GraphNode:
        """Return the node with an id.

        Args:
            identifier: A whole id.
            kind: What an edge says that it is; another kind is found, too.
        """
        key = identifier, kind or ""
        if key not in self._nodes:
            self._nodes[key] = self._read(identifier, kind)
        return self._nodes[key]

    def neighbours(self, node: GraphNode, direction: Direction) -> Neighbours:
        """Return what caused a node, or what came of it; each neighbour once."""
        links: dict[str, GraphLink] = {}
        nodes: list[GraphNode] = []
        left_out = set[str]()
        for link in islice(self._related(node, direction), _MAX_RELATIONS):
            own_node, neighbour = link.effect, link.cause
            if direction == "effects":
                own_node, neighbour = neighbour, own_node
            if own_node.id != node.id or neighbour.id in {node.id, *links}:
                continue
            if len(links) == _MAX_LINKS:
                left_out.add(neighbour.id)
                continue
            links[neighbour.id] = link
            nodes.append(neighbour)
        return Neighbours(tuple(links.values()), tuple(nodes), len(left_out))

    def edits_of(self, node: GraphNode) -> list[GraphNode]:
        """Return the edits that came of a prompt, a decision, a session or an edit."""
        effects = self.neighbours(node, "effects")
        return [effect for effect in effects.nodes if effect.kind == "annotation"]

    def _read(self, identifier: str, kind: str | None) -> GraphNode:
        order = [kind or "", NodeType.ANNOTATION, NodeType.CONTEXT, NodeType.SESSION]
        for node_type in dict.fromkeys(order):
            node: GraphNode | None = None
            if node_type == NodeType.ANNOTATION:
                node = self._edit(identifier)
            elif node_type == NodeType.CONTEXT:
                node = self._entry(identifier)
            elif node_type == NodeType.SESSION:
                node = self._session(identifier)
            if node is not None:
                return node
        return GraphNode(identifier, "unknown")

    def _edit(self, identifier: str) -> GraphNode | None:
        lineage = self._trail.lineage_of(identifier)
        if lineage is None:
            return None
        record = lineage.current
        self._lineages[record.id] = lineage
        author = self._author(record.text("environment_hash"))
        return GraphNode(
            record.id,
            "annotation",
            record.type,
            f"{lineage.action or action_of(record)} {subject_of(record)}"[:_MAX_TEXT],
            author,
            normal_path(record.text("file_path") or "") or None,
            recorded_lines(record),
            lineage.first.text("timestamp"),
        )

    def _entry(self, key: str) -> GraphNode | None:
        if key not in self._trail.manifest:
            return None
        entry = self._trail.manifest.entry(key) or {}
        return GraphNode(
            key,
            "context",
            text(entry, "type") or "",
            entry_text(entry)[:_MAX_TEXT],
            timestamp=text(entry, "created_at"),
        )

    def _session(self, identifier: str) -> GraphNode | None:
        session = self._trail.log.session(identifier)
        if session is None:
            return None
        start = session.start
        author = session.text("agent_name") or self._author(session.text("environment_hash"))
        return GraphNode(
            identifier,
            "session",
            "session",
            (session.text("description") or "")[:_MAX_TEXT],
            author,
            timestamp=start.text("timestamp") if start is not None else None,
        )

    def _author(self, environment: str | None) -> str | None:
        author = self._authors.of(environment).short_label
        return None if author == UNKNOWN else author

    def _related(self, node: GraphNode, direction: Direction) -> Iterator[GraphLink]:
        """Yield the relations of a node: edges, then what its record names, or what names it.

        Edits that name it are read only where effects are wanted, which takes longest.
        """
        if node.kind == "annotation":
            lineage = self._lineages[node.id]
            yield from self._by_edges(lineage.ids)
            yield from self._by_members(node, lineage)
        elif node.kind == "session":
            yield from self._by_edges([node.id])
            yield from self._of_session(node, direction)
        else:
            yield from self._by_edges([node.id])
            if direction == "causes":
                return
            for lineage in self._trail.lineages_naming(node.id, _MAX_LINKS + 1):
                yield GraphLink(self._edit_node(lineage), node, f"{node.type}_hash")

    def _by_members(self, node: GraphNode, lineage: Lineage) -> Iterator[GraphLink]:
        for name in _CAUSING_MEMBERS:
            key = lineage.current.text(name)
            if key is not None:
                yield GraphLink(node, self.node(key, NodeType.CONTEXT), name)
        session = lineage.current.text("session_id")
        if session is not None:
            yield GraphLink(node, self.node(session, NodeType.SESSION), IN_SESSION)

    def _of_session(self, node: GraphNode, direction: Direction) -> Iterator[GraphLink]:
        log = self._trail.log
        session = log.session(node.id)
        parent = None if session is None else session.text("parent_session_id")
        if parent is not None:
            yield self._delegation(parent, node.id)
        for record in self._trail.last_delegations(_MAX_DELEGATIONS):
            ends = record.text("parent_session_id") or "", record.text("child_session_id") or ""
            if all(ends) and node.id in ends:
                yield self._delegation(*ends)
        if direction == "causes":
            return
        for lineage in self._trail.lineages_of_session(node.id, _MAX_LINKS + 1):
            yield GraphLink(self._edit_node(lineage), node, IN_SESSION)

    def _delegation(self, parent: str, child: str) -> GraphLink:
        source, target = (self.node(session, NodeType.SESSION) for session in (parent, child))
        return GraphLink(source, target, EdgeType.DELEGATED_TO, is_source_first=True)

    def _by_edges(self, identifiers: Iterable[str]) -> Iterator[GraphLink]:
        for identifier in identifiers:
            for edge in self._trail.log.edges(
                source=identifier, target=identifier, limit=_MAX_LINKS + 1
            ):
                if edge.source and edge.target:
                    source = self.node(edge.source, edge.source_type)
                    target = self.node(edge.target, edge.target_type)
                    is_source_first = self._is_source_first(edge, source, target)
                    kind, verdict = edge.type or "edge", _verdict(edge)
                    yield GraphLink(source, target, kind, is_source_first, verdict)

    def _is_source_first(self, edge: Edge, source: GraphNode, target: GraphNode) -> bool:
        """Whether the source of an edge came first; some tools write reviews the other way (R6)."""
        if edge.type != EdgeType.REVIEWED_BY:
            return edge.type == EdgeType.DELEGATED_TO
        review = self._lineages.get(source.id)
        is_turned = source.kind == "session" and target.kind == "annotation"
        return not (is_turned or (review is not None and review.is_review))

    def _edit_node(self, lineage: Lineage) -> GraphNode:
        return self.node(lineage.current.id, NodeType.ANNOTATION)


def _verdict(edge: Edge) -> str:
    """Return the verdict of a review; empty of other edges, and if it has none."""
    verdict = text(edge.metadata, "verdict") if edge.type == EdgeType.REVIEWED_BY else None
    return verdict if verdict in set(Verdict) else ""


def provenance_graph(
    trail: Trail,
    lookup: LookupResult,
    *,
    depth: int = DEFAULT_DEPTH,
    limit: int = DEFAULT_NODES,
) -> ProvenanceGraph:
    """Return the causes of something with their causes, and its effects with theirs.

    Causes of effects are not followed: siblings of the same prompt have no part in it.

    Args:
        trail: The trail, refreshed.
        lookup: What the graph is about.
        depth: How many links to follow in each direction, at most `MAX_DEPTH`.
        limit: How many nodes it has at most, up to `MAX_NODES`.
    """
    reader = GraphReader(trail)
    root = reader.root(lookup)
    nodes, links = {root.id: root}, dict[tuple[str, str], GraphLink]()
    left_out, more = set[str](), 0
    depth, limit = min(depth, MAX_DEPTH), min(limit, MAX_NODES)
    frontiers: dict[Direction, list[GraphNode]] = {"causes": [root], "effects": [root]}
    seen: dict[Direction, set[str]] = {"causes": {root.id}, "effects": {root.id}}
    for distance in range(depth + 1):
        for direction, frontier in frontiers.items():
            following: list[GraphNode] = []
            for node in frontier:
                around = reader.neighbours(node, direction)
                more += around.left_out
                for link, neighbour in zip(around.links, around.nodes, strict=True):
                    is_new = neighbour.id not in nodes
                    if is_new and (distance == depth or len(nodes) >= limit):
                        left_out.add(neighbour.id)
                        continue
                    nodes[neighbour.id] = neighbour
                    links.setdefault((link.cause.id, link.effect.id), link)
                    if neighbour.id not in seen[direction]:
                        seen[direction].add(neighbour.id)
                        following.append(neighbour)
            frontiers[direction] = following
    return ProvenanceGraph(
        root.id,
        depth,
        tuple(nodes.values()),
        tuple(links.values()),
        len(left_out - nodes.keys()) + more,
    )
