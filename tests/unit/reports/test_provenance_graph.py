"""The provenance graph: causes and effects over edges, members, sessions and delegations; bounded, whatever the trail says."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.trails import CompleteTrail, TrailWriter, complete
from vibes_lsp.reports.mermaid import as_mermaid, inert
from vibes_lsp.reports.provenance_graph import MAX_NODES, ProvenanceGraph, provenance_graph
from vibes_lsp.store.audit_dir import AuditDir
from vibes_lsp.trail.lookup import look_up
from vibes_lsp.trail.trail import Trail

if TYPE_CHECKING:
    from pathlib import Path

LABEL = re.compile(r'  n\d+[\[({]{1,2}"[^"\\`<>$%]*(<br/>“[^"\\`<>$%]*”)?"[\])}]{1,2}')
LINK = re.compile(r'  n\d+ -- "[^"\\`<>$%]*" --> n\d+')
REST = re.compile(r'flowchart TD|  style n0 stroke-width:3px|  more\["\d+ more not shown"\]')


def graph_of(root: Path, identifier: str, depth: int = 2, limit: int = 60) -> ProvenanceGraph:
    trail = Trail(AuditDir(root / ".ai-audit"))
    trail.refresh()
    return provenance_graph(trail, look_up(trail, identifier), depth=depth, limit=limit)


def relations(graph: ProvenanceGraph) -> set[tuple[str, str, str]]:
    return {(link.cause.id, link.type, link.effect.id) for link in graph.links}


def ids(graph: ProvenanceGraph) -> set[str]:
    return {node.id for node in graph.nodes}


@pytest.fixture
def trail(tmp_path: Path) -> CompleteTrail:
    return complete(tmp_path, "high")


@pytest.fixture
def writer(tmp_path: Path) -> TrailWriter:
    writer = TrailWriter(tmp_path)
    writer.environment()
    return writer


def test_an_edit_has_its_causes_and_its_reviewer(trail: CompleteTrail) -> None:
    graph = graph_of(trail.root, trail.created, depth=1)
    assert graph.root == trail.created
    (reviewer,) = [node for node in graph.nodes if node.author == "Ada"]
    assert relations(graph) == {
        (trail.prompt, "caused_by", trail.created),
        (trail.command, "command_hash", trail.created),
        (trail.decision, "decision_hash", trail.created),
        (trail.reasoning, "reasoning_hash", trail.created),
        (trail.session, "in_session", trail.created),
        (trail.created, "reviewed_by", reviewer.id),
    }
    assert graph.nodes[0].as_json() == {
        "id": trail.created,
        "kind": "annotation",
        "type": "line",
        "text": "create src/auth.py:1-8",
        "author": "claude-opus-4-5",
        "filePath": "src/auth.py",
        "timestamp": graph.nodes[0].timestamp,
        "recordedLineStart": 1,
        "recordedLineEnd": 8,
    }


def test_what_was_read_informs(trail: CompleteTrail) -> None:
    assert (trail.read_command, "informed_by", trail.modified) in relations(
        graph_of(trail.root, trail.modified, depth=1)
    )


def test_all_records_of_an_edit_are_one_node(trail: CompleteTrail) -> None:
    found = [graph_of(trail.root, each) for each in trail.lineage]
    assert {each.root for each in found} == {trail.remapped}
    assert not ids(found[0]) & {trail.pending, trail.committed}


def test_a_prompt_leads_to_its_edits_with_and_without_edges(writer: TrailWriter) -> None:
    prompt, other = writer.prompt("Write it."), writer.prompt("Something else.")
    told = writer.line("a.py", 1, 2, prompt=prompt)
    writer.cause(told, prompt)
    named = writer.function("b.py", "f", prompt=prompt)
    writer.line("c.py", 1, 2, prompt=other)
    graph = graph_of(writer.root, prompt)
    assert relations(graph) == {(prompt, "caused_by", told), (prompt, "prompt_hash", named)}


def test_a_session_leads_to_its_edits_and_those_it_delegated_to(writer: TrailWriter) -> None:
    parent = writer.session_start(description="All of it")
    child = writer.session_start(parent=parent)
    told = writer.session_start()
    writer.delegation(parent, told, task="The rest")
    line = writer.line("a.py", 1, 2, session=child)
    assert relations(graph_of(writer.root, parent)) == {(parent, "delegated_to", told)}
    writer.edge("delegated_to", parent, child, source_type="session", target_type="session")
    assert relations(graph_of(writer.root, parent)) == {
        (parent, "delegated_to", child),
        (parent, "delegated_to", told),
        (child, "in_session", line),
    }
    assert (parent, "delegated_to", child) in relations(graph_of(writer.root, line))


def test_a_later_edit_follows_from_the_one_that_it_replaces(writer: TrailWriter) -> None:
    old, new = writer.line("a.py", 1, 2), writer.line("a.py", 1, 2, action="modify")
    writer.edge("supersedes", new, old, target_type="annotation", metadata={"reason": "covers"})
    assert relations(graph_of(writer.root, old)) == {(old, "supersedes", new)}


@pytest.mark.parametrize("by", ["edge", "session"])
def test_an_edge_or_a_session_record_is_what_it_is_about(trail: CompleteTrail, by: str) -> None:
    expected = trail.created if by == "edge" else trail.session
    named = trail.causes[0] if by == "edge" else trail.session
    assert graph_of(trail.root, named).root == expected


def test_a_cycle_ends(writer: TrailWriter) -> None:
    one, two, three = (writer.line(f"{name}.py", 1, 2) for name in "abc")
    for source, target in ((one, two), (two, three), (three, one), (one, one)):
        writer.edge("informed_by", source, target, target_type="annotation")
    graph = graph_of(writer.root, one, depth=20)
    assert ids(graph) == {one, two, three}
    assert relations(graph) == {
        (two, "informed_by", one),
        (three, "informed_by", two),
        (one, "informed_by", three),
    }
    assert graph.left_out == 0


def test_an_end_that_is_not_there_is_a_node_of_unknown_kind(writer: TrailWriter) -> None:
    line = writer.line("a.py", 1, 2)
    writer.edge("caused_by", line, "nowhere")
    writer.edge("", line, "")
    graph = graph_of(writer.root, line)
    assert [(node.id, node.kind) for node in graph.nodes] == [
        (line, "annotation"),
        ("nowhere", "unknown"),
    ]


def test_what_is_left_out_is_counted(writer: TrailWriter) -> None:
    prompt = writer.prompt("Write them.")
    lines = [writer.line(f"{number}.py", 1, 2, prompt=prompt) for number in range(9)]
    informed = writer.line("later.py", 1, 2)
    writer.edge("informed_by", informed, lines[0], target_type="annotation")
    assert graph_of(writer.root, prompt, limit=4).left_out == 6 + 1
    shallow = graph_of(writer.root, prompt, depth=1)
    assert (len(shallow.nodes), shallow.left_out) == (10, 1)
    assert "1 more not shown" in as_mermaid(shallow)
    assert graph_of(writer.root, prompt).left_out == 0


def test_a_hub_is_read_in_part_only(writer: TrailWriter) -> None:
    prompt = writer.prompt("Write them all.")
    for number in range(150):
        writer.cause(writer.line(f"{number}.py", 1, 2, prompt=prompt), prompt)
    graph = graph_of(writer.root, prompt, limit=MAX_NODES)
    assert len(graph.nodes) == 101
    assert graph.left_out >= 1


HOSTILE = (
    '"] --> evil["x',
    "`**bold**`",
    "<img src=x onerror=alert(1)>",
    '"; click n0 "javascript:alert(1)"',
    "%%{init: {'securityLevel': 'loose'}}%%",
    "end\nsubgraph x\n1. item",
    "#quot;#35; $$x$$ \\u0022",
)


@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_text_stays_in_its_label(writer: TrailWriter, text: str) -> None:
    prompt = writer.prompt(text)
    line = writer.line(text.replace("\n", " "), 1, 2, prompt=prompt)
    writer.edge(text, line, text)
    drawn = as_mermaid(graph_of(writer.root, line))
    for each in drawn.splitlines():
        assert LABEL.fullmatch(each) or LINK.fullmatch(each) or REST.fullmatch(each), each
    assert len(drawn.splitlines()) == 1 + 3 + 2 + 1


@given(st.text())
def test_inert_text_has_no_mark_of_mermaid_and_can_be_read_back(text: str) -> None:
    found = inert(text, 1_000)
    assert not set(found) & set("\"'`<>[](){}|\\$%&=*~:@^\n\r")
    assert re.sub(r"#\d+;", "", found).count("#") == 0
    read = re.sub(r"#(\d+);", lambda match: chr(int(match[1])), found)
    assert "".join(read.split()) == "".join(read.split()).strip()
    if text.isalnum():
        assert found == text[:1_000]
