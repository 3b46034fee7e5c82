"""A trail recorded with every use case, at each level, as an independent reader sees it."""

from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Final

from tests.unit.recording.projects import MODEL, SOURCE, TOOL
from tests.unit.recording.request_builders import (
    Completion,
    edge_request,
    function_request,
    read_request,
    review_request,
)
from vibes_lsp.model.vocabulary import AssuranceLevel
from vibes_lsp.recording import (
    Command,
    CommandType,
    Decision,
    DecisionOption,
    EndSession,
    Model,
    Origin,
    Prompt,
    PromptType,
    Reasoning,
    RecordCommand,
    RecordDelegation,
    Recorder,
    StartSession,
)
from vibes_lsp.recording.results import Recorded
from vibes_lsp.store.initialise import initialise

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

LEVELS: Final = ("low", "medium", "high")
REASONING_TEXTS: Final = {
    "inline": "Think.",
    "compressed": "Think it over. " * 1_000,
    "external": "And over again. " * 8_000,
}
SECRET: Final = "ghp_" + "a1B2" * 9
OUTPUT: Final = f"token {SECRET}\n" + "ü" * 4_000


@dataclass(frozen=True)
class RecordedTrail:
    """The content of a recorded trail.

    Attributes:
        root: The project folder.
        level: The assurance level.
        log: The log's bytes.
        records: Its records.
        manifest: The manifest.
        config: The policy.
        names: Ids of records, sessions and entries by their names in the test.
    """

    root: Path
    level: str
    log: bytes
    records: list[dict[str, Any]]
    manifest: dict[str, Any]
    config: dict[str, Any]
    names: dict[str, str]

    def of(self, kind: str) -> list[dict[str, Any]]:
        """Return the records of a type."""
        return [record for record in self.records if record["type"] == kind]

    def annotations(self) -> list[dict[str, Any]]:
        """Return the line and function records."""
        return [record for record in self.records if record["type"] in ("line", "function")]

    def record(self, name: str) -> dict[str, Any]:
        """Return a record by its name in the test."""
        return next(
            record for record in self.records if record["annotation_id"] == self.names[name]
        )

    def entries(self, kind: str) -> dict[str, dict[str, Any]]:
        """Return the entries of a type."""
        return {
            key: entry for key, entry in self.manifest["entries"].items() if entry["type"] == kind
        }

    def edges(self, kind: str) -> set[tuple[str, str]]:
        """Return source and target of the edges of a type."""
        return {
            (edge["source_ref"], edge["target_ref"])
            for edge in self.of("edge")
            if edge["edge_type"] == kind
        }

    def everything(self) -> bytes:
        """Return all bytes of the trail."""
        return b"".join(
            path.read_bytes()
            for path in sorted((self.root / ".ai-audit").rglob("*"))
            if path.is_file()
        )


def record_everything(root: Path, level: str) -> RecordedTrail:
    """Record one of each kind, and read the trail back."""
    root.mkdir(parents=True)
    initialise(
        root,
        project_name="project",
        level=AssuranceLevel(level),
        extensions=[".py"],
        tool_version="0.0.1",
        now=datetime.now(UTC),
    )
    (root / "src").mkdir()
    (root / "src" / "a.py").write_text(SOURCE, encoding="utf-8", newline="\n")
    with Recorder(root) as recorder:
        names = _record_all(recorder)
    audit = root / ".ai-audit"
    log = (audit / "annotations.jsonl").read_bytes()
    return RecordedTrail(
        root,
        level,
        log,
        [json.loads(line) for line in log.splitlines()],
        json.loads((audit / "manifest.json").read_bytes()),
        json.loads((audit / "config.json").read_bytes()),
        names,
    )


def _record_all(recorder: Recorder) -> dict[str, str]:
    session = recorder.execute(
        StartSession(
            tool=TOOL,
            model=MODEL,
            description="All of it",
            agent_name="lead",
            agent_type="orchestrator",
        )
    ).session_id
    read = recorder.execute(read_request(session, "src/a.py")).command_hash
    command = Command("make digest", CommandType.SHELL, 0, OUTPUT, "src")
    ran = recorder.execute(RecordCommand(session_id=session, command=command)).command_hash
    decision = Decision(
        "Which way",
        (DecisionOption("l", "left", ("short",), ("steep",)), DecisionOption("r", "right")),
        "l",
        "no time",
    )
    prompt = Prompt("Write a digest.", PromptType.USER_INSTRUCTION, ("src/a.py",))
    mine = Origin(
        session_id=session,
        prompt=prompt,
        reasoning=Reasoning(REASONING_TEXTS["inline"], 2),
        command=command,
        decision=decision,
    )
    line = recorder.annotate_lines("src/a.py", 4, 6, "create", mine)
    function = recorder.execute(
        function_request("src/a.py", "same", "create", mine, signature="(one, other)")
    )
    changed = recorder.annotate_lines(
        "src/a.py",
        5,
        5,
        "modify",
        Origin(
            session_id=session,
            command=command,
            reasoning=Reasoning(REASONING_TEXTS["compressed"], 9),
        ),
    )
    bare = recorder.annotate_lines(
        "src/a.py", 10, 10, "modify", Origin(tool=TOOL, model=Model("other", "1"))
    )
    removed = recorder.annotate_lines("src/a.py", 9, 10, "delete", mine, text=SOURCE)
    typed = Origin(session_id=session, prompt=Prompt("value =", PromptType.INLINE_COMPLETION))
    completion = Completion(
        "src/a.py", "completion-1", (10, 0), (10, 0), "value = 1\n", text=SOURCE
    )
    completed = [recorder.execute(completion.request(typed)) for _ in range(2)][-1]
    assert isinstance(completed, Recorded)
    child = recorder.execute(
        RecordDelegation(
            parent_session_id=session,
            task_description="Check it",
            delegated_files=("src/a.py",),
            agent_name="worker-1",
            agent_type="some-agent",
        )
    ).child_session_id
    looked = recorder.annotate_lines(
        "src/a.py",
        4,
        6,
        "review",
        Origin(
            session_id=child, prompt=prompt, reasoning=Reasoning(REASONING_TEXTS["external"], 99)
        ),
    )
    own = recorder.execute(
        StartSession(
            tool=TOOL,
            model=MODEL,
            parent_session_id=session,
            agent_name="worker-2",
            agent_type="some-agent",
        )
    ).session_id
    edge = recorder.execute(
        edge_request(
            "depends_on",
            function.annotation_id or "",
            "annotation",
            line.annotation_id or "",
            "annotation",
        )
    )
    recorder.execute(review_request("approved", "src/a.py", (4, 6), reviewer="Ada"))
    for each in (own, child, session):
        recorder.execute(EndSession(session_id=each))
    edits = {
        "line": line,
        "function": function,
        "changed": changed,
        "bare": bare,
        "removed": removed,
        "looked": looked,
        "completed": completed,
    }
    return {
        "session": session, "child": child, "own child": own, "read": read, "command": ran, "edge": edge.edge_id,
        **{name: each.annotation_id or "" for name, each in edits.items()},
    }  # fmt: skip


def missing_members(members: dict[str, Any], required: Iterable[str]) -> set[str]:
    """Return the required members that are missing or null."""
    return {name for name in required if members.get(name) is None}
