"""Answers about a file change only with its dependencies; other files do not affect them."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Sequence
from hashlib import sha256
from pathlib import Path
from typing import Final

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.server.project import Project, let_records_wait
from tests.trails import Repository, TrailWriter
from vibes_lsp.anchors.text import Text
from vibes_lsp.index.live_risk import Scorer
from vibes_lsp.index.placement_dependencies import PlacementDependencies
from vibes_lsp.placing.project_owners import KnownFile, place_file
from vibes_lsp.reports.placements import PlacementReport
from vibes_lsp.risk.policy import Policy
from vibes_lsp.store.audit_dir import AuditDir
from vibes_lsp.trail.trail import Trail

IDS: Final = [sha256(f"annotation {number}".encode()).hexdigest() for number in range(6)]
KEYS: Final = [sha256(f"entry {number}".encode()).hexdigest() for number in range(3)]
TEXT: Final = Text("".join(f"line {number}\n" for number in range(9)))
POLICY: Final = Policy(enabled=True)

Step = tuple[str, object]
numbers, keys = st.integers(0, len(IDS) - 1), st.integers(0, len(KEYS) - 1)


def annotation(
    number: int, path: str, session: str, key: int, *, is_hashed: bool = False
) -> dict[str, object]:
    return {
        "type": "line",
        "annotation_id": IDS[number],
        "file_path": path,
        "line_start": 1 + number,
        "line_end": 3 + number,
        "action": "create",
        "session_id": session,
        "prompt_hash": KEYS[key],
        "timestamp": f"2026-02-03T10:00:0{number}.000Z",
        **({"line_hashes": hashes(1 + number, 3 + number)} if is_hashed else {}),
    }


def hashes(start: int, end: int) -> str:
    lines = TEXT.lines[start - 1 : end]
    return "".join(sha256(line.encode()).hexdigest()[:8] for line in lines)


def edge(kind: str, source: int, target: int) -> dict[str, object]:
    reviewed = kind == "reviewed_by"
    return {
        "type": "edge",
        "edge_type": kind,
        "source_ref": IDS[source],
        "target_ref": "s" if reviewed else IDS[target],
        "target_type": "session" if reviewed else "annotation",
        "timestamp": "2026-02-03T11:00:00.000Z",
        "metadata": {"reason": "covers", "verdict": "approved", "kind": "human"},
    }


records = st.builds(
    annotation,
    numbers,
    st.sampled_from(("a.py", "./a.py", "b.py", "c.py")),
    st.sampled_from("st"),
    keys,
    is_hashed=st.booleans(),
) | st.builds(edge, st.sampled_from(("supersedes", "reviewed_by", "depends_on")), numbers, numbers)
steps = st.lists(
    st.one_of(
        st.tuples(st.just("log"), st.lists(records, min_size=1, max_size=2)),
        st.tuples(
            st.sampled_from(("journal", "manifest")),
            st.tuples(keys, st.sampled_from(("Write it.", "Write it well. " * 9))),
        ),
        st.tuples(st.sampled_from(("fold", "lose")), st.none()),
        st.tuples(st.just("cut"), st.integers(0, 3)),
    ),
    max_size=8,
)


class Disk:
    """A trail that grows, is folded and loses records."""

    def __init__(self, root: Path) -> None:
        self.directory = AuditDir(root)
        begun = (
            annotation(0, "a.py", "s", 0),
            annotation(1, "b.py", "t", 1),
            edge("reviewed_by", 0, 0),
        )
        self.lines: list[str] = list(map(json.dumps, begun))
        self.entries: dict[str, str] = {KEYS[0]: "Write it."}
        self.journal: dict[str, str] = {}
        self._write()

    def take(self, step: Step) -> None:
        match step:
            case "log", list(some):
                taken = {
                    json.loads(line)["annotation_id"]
                    for line in self.lines
                    if '"annotation_id"' in line
                }
                self.lines += [
                    json.dumps(each) for each in some if each.get("annotation_id") not in taken
                ]  # records with equal ids are one
            case "journal", (int(number), str(prompt)):
                self.journal[KEYS[number]] = prompt
            case "manifest", (int(number), str(prompt)):
                self.entries[KEYS[number]] = prompt
            case "fold", _:
                self.entries, self.journal = {**self.journal, **self.entries}, {}
            case "lose", _:
                self.entries.clear()
            case _, int(number):
                del self.lines[number : number + 1]
        self._write()

    def _write(self) -> None:
        self.directory.journal.mkdir(exist_ok=True)
        self.directory.log.write_text("".join(f"{line}\n" for line in self.lines))
        entries = {
            key: {"type": "prompt", "prompt_text": prompt} for key, prompt in self.entries.items()
        }
        manifest = json.dumps({"standard": "VIBES", "version": "1.0", "entries": entries})
        if not self.directory.manifest.exists() or self.directory.manifest.read_text() != manifest:
            self.directory.manifest.write_text(manifest)
        waiting = self.directory.journal / "entries.jsonl"
        if self.journal:
            lines = [
                json.dumps({key: {"type": "prompt", "prompt_text": prompt}})
                for key, prompt in self.journal.items()
            ]
            waiting.write_text("".join(f"{line}\n" for line in lines))
        else:
            waiting.unlink(missing_ok=True)


def answers(directory: AuditDir, names: tuple[str, ...]) -> Sequence[object]:
    """Return what a new reader answers about `a.py`."""
    trail = Trail(directory)
    trail.refresh()
    return PlacementReport(trail, TEXT, scorer=Scorer(trail, POLICY)).placements(
        place_file(trail, names, TEXT, KnownFile())
    )


@given(steps, st.sampled_from((("a.py",), ("a.py", "b.py"))))
def test_answers_are_equal_while_dependencies_are_unchanged(
    written: list[Step], names: tuple[str, ...]
) -> None:
    with tempfile.TemporaryDirectory() as folder:
        disk = Disk(Path(folder))
        trail = Trail(disk.directory)
        trail.refresh()
        dependencies, known = (
            PlacementDependencies(trail, names, ()),
            answers(disk.directory, names),
        )
        for step in written:
            disk.take(step)
            trail.refresh()
            if dependencies.are_unchanged():
                assert answers(disk.directory, names) == known
            else:
                dependencies, known = (
                    PlacementDependencies(trail, names, ()),
                    answers(disk.directory, names),
                )


class TestWhatTheyStandOn:
    @pytest.fixture
    def writer(self, tmp_path: Path) -> TrailWriter:
        writer = TrailWriter(tmp_path)
        writer.config()
        writer.environment()
        return writer

    @pytest.fixture
    def session(self, writer: TrailWriter) -> str:
        session = writer.session_start()
        for path in ("a.py", "b.py"):
            writer.line(path, 1, 3, prompt=writer.prompt(f"Write {path}."), session=session)
        return session

    @pytest.fixture
    def trail(self, tmp_path: Path, session: str) -> Trail:  # noqa: ARG002  # used before the read
        trail = Trail(AuditDir(tmp_path / ".ai-audit"))
        trail.refresh()
        return trail

    def test_an_edit_of_another_file_changes_nothing(
        self, trail: Trail, writer: TrailWriter, session: str
    ) -> None:
        dependencies = PlacementDependencies(trail, ("a.py",), ())
        prompt = writer.prompt("Write more.")
        writer.cause(writer.line("b.py", 5, 6, prompt=prompt, session=session), prompt)
        trail.refresh()
        assert dependencies.are_unchanged()

    @pytest.mark.parametrize(
        "path", ["a.py", "c.py"], ids=["the file", "a new file of the session"]
    )
    def test_an_edit_of_the_session_changes_them(
        self, trail: Trail, writer: TrailWriter, session: str, path: str
    ) -> None:
        dependencies = PlacementDependencies(trail, ("a.py",), ())
        writer.line(path, 5, 6, session=session)
        trail.refresh()
        assert not dependencies.are_unchanged()

    def test_an_entry_that_arrives_later_changes_them(
        self, tmp_path: Path, writer: TrailWriter
    ) -> None:
        environment = "e0" * 32
        writer.line("a.py", 1, 3, environment=environment)
        trail = Trail(AuditDir(tmp_path / ".ai-audit"))
        trail.refresh()
        dependencies = PlacementDependencies(trail, ("a.py",), ())
        writer.prompt("Of another file.")
        trail.refresh()
        assert dependencies.are_unchanged()
        writer.entry({"type": "environment", "tool_name": "Some Tool"}, key=environment)
        trail.refresh()
        assert not dependencies.are_unchanged()

    def test_a_record_that_waits_changes_them(self, tmp_path: Path, writer: TrailWriter) -> None:
        project = Project(tmp_path)
        waiting = let_records_wait(Repository(tmp_path))
        environment = writer.environment()
        project.hashed("a.py", 4, 7, environment=environment)
        trail = Trail(AuditDir(tmp_path / ".ai-audit"))
        trail.refresh()
        dependencies = PlacementDependencies(trail, ("a.py",), ())
        project.files.waiting = waiting
        project.hashed("b.py", 10, 13, environment=environment)
        trail.refresh()
        assert dependencies.are_unchanged()
        project.hashed("a.py", 10, 13, environment=environment)
        trail.refresh()
        assert not dependencies.are_unchanged()

    def test_a_review_changes_them(self, trail: Trail, writer: TrailWriter) -> None:
        (lineage,) = trail.lineages_in("a.py")
        dependencies = PlacementDependencies(trail, ("a.py",), ())
        writer.review(lineage.current.id)
        trail.refresh()
        assert not dependencies.are_unchanged()
