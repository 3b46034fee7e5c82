"""What enters the log together, and what goes on waiting (R29)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.trails import annotation_id
from vibes_lsp.maintenance.waiting_selection import select
from vibes_lsp.model.canonical_json import canonical_json, parse_object
from vibes_lsp.store.waiting_lines import parse_waiting

if TYPE_CHECKING:
    from vibes_lsp.model.members import Members


class Story:
    """Records in the order of receipt."""

    def __init__(self) -> None:
        self.names: dict[str, str] = {}
        self.lines: list[bytes] = []

    def add(self, name: str, **members: object) -> str:
        record: Members = {"timestamp": "2026-01-01T00:00:00.000Z", "note": name, **members}  # type: ignore[dict-item]
        identifier = annotation_id(record)
        self.names[identifier] = name
        self.lines.append(canonical_json({**record, "annotation_id": identifier}) + b"\n")
        return identifier

    def edit(self, name: str, session: str | None = None, **members: object) -> str:
        return self.add(name, type="line", file_path="a.py", session_id=session, **members)

    def session(self, name: str, parent: str | None = None) -> None:
        self.add(
            f"{name} start", type="session", event="start", session_id=name,
            parent_session_id=parent,
        )  # fmt: skip

    def end(self, name: str) -> None:
        self.add(f"{name} end", type="session", event="end", session_id=name)

    def edge(self, name: str, kind: str, source: str, target: str, **members: object) -> None:
        self.add(
            name, type="edge", edge_type=kind, source_ref=source, target_ref=target,
            **{"source_type": "annotation", "target_type": "annotation", **members},
        )  # fmt: skip

    def selected(self, *due: str, logged: tuple[str, ...] = ()) -> list[str]:
        """Return the names of what enters with some edits."""
        waiting = parse_waiting(b"".join(self.lines)).records
        ids = {name: identifier for identifier, name in self.names.items()}

        edits = {
            record.id: [parse_object(record.data)]
            for record in waiting
            if self.names[record.id] in due
        }
        written = {
            record.id: [record.id]
            for record in waiting
            if record.members.is_annotation and self.names[record.id] in logged
        }
        found = select(waiting, frozenset(ids[name] for name in logged), written, edits)
        return [str(record["note"]) for record in found]


def test_an_edit_brings_its_session_and_that_sessions_parents() -> None:
    story = Story()
    story.session("top")
    story.session("middle", parent="top")
    story.session("own", parent="middle")
    story.session("other")
    story.edit("edit", session="own")
    assert story.selected() == []
    assert story.selected("edit") == ["top start", "middle start", "own start", "edit"]


def test_the_end_of_a_session_comes_once_its_start_is_there() -> None:
    story = Story()
    story.session("own")
    story.edit("edit", session="own")
    story.end("own")
    story.end("other")
    assert story.selected(logged=("own start", "edit")) == ["own end"]
    assert story.selected() == []


def test_a_delegation_comes_with_the_session_that_got_the_work() -> None:
    story = Story()
    story.session("parent")
    story.session("child")
    story.add("work", type="delegation", parent_session_id="parent", child_session_id="child")
    story.edge(
        "work edge", "delegated_to", "parent", "child",
        source_type="session", target_type="session",
    )  # fmt: skip
    story.edit("of the child", session="child")
    story.edit("of the parent", session="parent")
    assert story.selected("of the parent") == ["parent start", "of the parent"]
    assert story.selected("of the child") == [
        "parent start", "child start", "work", "work edge", "of the child",
    ]  # fmt: skip


def test_an_edge_between_edits_comes_once_both_are_there() -> None:
    story = Story()
    first, second = story.edit("first"), story.edit("second")
    story.edge("covers", "supersedes", second, first, metadata={"reason": "covers"})
    story.edge("cause", "caused_by", second, "c" * 64, target_type="context")
    assert story.selected("second") == ["second", "cause"], "it brings no other edit"
    assert story.selected("first", logged=("second", "cause")) == ["first", "covers"]


def test_a_verdict_comes_with_its_edit_or_after_it() -> None:
    story = Story()
    edit = story.edit("edit")
    story.session("reviewer")
    story.edge("verdict", "reviewed_by", edit, "reviewer", target_type="session")
    story.end("reviewer")
    both = ["reviewer start", "verdict", "reviewer end"]
    assert story.selected() == []
    assert story.selected("edit") == ["edit", *both]
    assert story.selected(logged=("edit",)) == both


def test_a_correction_comes_after_what_it_corrects() -> None:
    story = Story()
    edit = story.edit("edit")
    lost = story.edit("lost", action="rebase_orphan")
    story.edge("corrects", "supersedes", lost, edit, metadata={"reason": "orphan"})
    assert story.selected() == []
    assert story.selected("edit") == ["edit", "lost", "corrects"]
    assert story.selected(logged=("edit",)) == ["lost", "corrects"]


def test_an_edge_is_written_for_each_hunk_of_its_ends() -> None:
    story = Story()
    edit, other = story.edit("edit"), story.edit("other")
    story.edge("cause", "caused_by", edit, "c" * 64, target_type="context")
    story.edge("covers", "supersedes", edit, other, metadata={"reason": "covers"})
    waiting = parse_waiting(b"".join(story.lines)).records
    hunk: Members = {"type": "line", "note": "second", "edit": edit}
    hunk["annotation_id"] = annotation_id(hunk)
    first, third = "1" * 64, "3" * 64
    found = select(
        waiting, frozenset({first, third}), {edit: [first], other: [third]}, {edit: [hunk]}
    )
    ends = [(each.get("source_ref"), each.get("target_ref")) for each in found[1:]]
    second = hunk["annotation_id"]
    assert found[0] == hunk
    assert ends == [(first, "c" * 64), (second, "c" * 64), (first, third), (second, third)]
    for edge in found[1:]:
        assert edge["annotation_id"] == annotation_id(edge)
