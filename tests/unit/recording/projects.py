"""A project that is recorded into, and what an independent reader finds in its trail."""

from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import count
from typing import TYPE_CHECKING, Any, Final

from tests.trails import annotation_id, context_hash
from vibes_lsp.model.vocabulary import AssuranceLevel
from vibes_lsp.recording import Model, Origin, Prompt, PromptType, Recorder, StartSession, Tool
from vibes_lsp.store.initialise import initialise

if TYPE_CHECKING:
    from pathlib import Path

START: Final = datetime(2026, 2, 3, 10, tzinfo=UTC)
TOOL: Final = Tool("Some Tool", "1.2.3")
MODEL: Final = Model("some-model", "20260101", {"temperature": 0.5})
PROMPT: Final = Prompt("Write a digest.", PromptType.USER_INSTRUCTION)
SOURCE: Final = "import hashlib\n\n\ndef digest(data):\n    found = hashlib.sha256(data)\n    return found.hexdigest()\n\n\ndef same(one, other):\n    return one == other\n"
"""Lines 4 to 6 and 9 to 10 are functions."""


@dataclass
class Project:
    """A project with its trail.

    Attributes:
        root: Its folder.
        recorder: Its clock advances by a second with every request; its sessions are `s1`, `s2`, ….
    """

    root: Path
    recorder: Recorder

    def file(self, path: str, text: str | bytes = SOURCE) -> Path:
        """Write a file of the project, newlines as given."""
        file = self.root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(text.encode() if isinstance(text, str) else text)
        return file

    def session(self, **more: Any) -> str:
        """Start a session."""
        return self.recorder.execute(StartSession(tool=TOOL, model=MODEL, **more)).session_id

    def annotate(
        self,
        session: str,
        start: int,
        end: int,
        action: str = "create",
        *,
        path: str = "a.py",
        text: str | None = None,
    ) -> str:
        """Record an edit of a session; return the id of the annotation."""
        origin = session_origin(session)
        done = self.recorder.annotate_lines(path, start, end, action, origin, text=text)
        assert done.annotation_id is not None
        return done.annotation_id

    def records(self, kind: str | None = None) -> list[dict[str, Any]]:
        """Return the records of a type in the order of the log; every id is checked."""
        log = (self.root / ".ai-audit" / "annotations.jsonl").read_bytes()
        assert log == b"" or log.endswith(b"\n")
        found = [json.loads(line) for line in log.split(b"\n")[:-1]]
        for record in found:
            assert annotation_id(record) == record["annotation_id"]
        return [record for record in found if kind is None or record["type"] == kind]

    def edges(self, kind: str) -> list[tuple[str, str]]:
        """Return source and target of the edges of a type, in the order of the log."""
        return [
            (edge["source_ref"], edge["target_ref"])
            for edge in self.records("edge")
            if edge["edge_type"] == kind
        ]

    def entries(self, kind: str | None = None) -> dict[str, dict[str, Any]]:
        """Return the manifest's entries of a type; every hash is checked."""
        self.recorder.close()
        found = json.loads((self.root / ".ai-audit" / "manifest.json").read_bytes())["entries"]
        for key, entry in found.items():
            assert context_hash(entry) == key
        return {key: entry for key, entry in found.items() if kind is None or entry["type"] == kind}

    def entry(self, key: str) -> dict[str, Any]:
        """Return one entry."""
        return self.entries()[key]

    def written(self) -> bytes:
        """Return all that stands anywhere in the trail."""
        return b"".join(
            path.read_bytes()
            for path in sorted((self.root / ".ai-audit").rglob("*"))
            if path.is_file()
        )


def new_project(root: Path, level: str = "medium", **config: object) -> Project:
    """Make a project with an empty trail and the file `a.py`."""
    root.mkdir(parents=True, exist_ok=True)
    initialise(
        root,
        project_name="project",
        level=AssuranceLevel(level),
        extensions=None,
        tool_version="0.0.1",
        now=START,
    )
    if config:
        path = root / ".ai-audit" / "config.json"
        path.write_text(json.dumps({**json.loads(path.read_text()), **config}))
    seconds, names = count(1), count(1)
    recorder = Recorder(
        root, now=lambda: START + timedelta(seconds=next(seconds)), new_id=lambda: f"s{next(names)}"
    )
    project = Project(root, recorder)
    project.file("a.py")
    return project


def session_origin(session: str, **more: Any) -> Origin:
    """Return the origin of an edit of a session."""
    return Origin(session_id=session, **more)
