"""From the spool, only what our programs can have written there is recorded."""

from __future__ import annotations

import json
import logging
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from tests.unit.recording.projects import (
    MODEL,
    PROMPT,
    SOURCE,
    TOOL,
    Project,
    new_project,
    session_origin,
)
from tests.unit.recording.request_builders import read_request
from tests.unit.recording.test_inline_completions import ORIGIN, PUT, WITH_HALF
from vibes_lsp.recording import Origin, Recorder, RiskSignal

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

SECRET = "../../outside.py"


def held(project: Project) -> Path:
    """Hold a part of a completion; return its file."""
    project.recorder.execute(replace(PUT, final=False).request(ORIGIN))
    [file] = (project.root / ".ai-audit/spool/held").iterdir()
    return file


def first(found: dict[str, Any], **members: Any) -> dict[str, Any]:
    """Return what is held with other members of its annotation."""
    record, *edges = found["records"]
    return {**found, "records": [{**record, **members}, *edges]}


def another(found: dict[str, Any], **members: Any) -> dict[str, Any]:
    """Return what is held with another edge, which has these members besides or instead."""
    return {**found, "records": [*found["records"], {**found["records"][1], **members}]}


SPOILT: dict[str, Callable[[dict[str, Any]], Any]] = {
    "no object": lambda _: [],
    "no records": lambda found: {**found, "records": []},
    "not held": lambda found: {**found, "lines": None},
    "no id": lambda found: {
        **found,
        "records": [
            {name: value for name, value in found["records"][0].items() if name != "annotation_id"}
        ],
    },
    "no edge": lambda found: {**found, "records": found["records"][:1]},
    "another id": lambda found: first(found, annotation_id="0" * 64),
    "another type": lambda found: first(found, type="function"),
    "another action": lambda found: {**first(found, action="review"), "action": "review"},
    "another file": lambda found: first(found, file_path="b.py"),
    "a file elsewhere": lambda found: {**first(found, file_path=SECRET), "path": SECRET},
    "other lines": lambda found: first(found, line_start=1),
    "lines that are none": lambda found: {**found, "lines": [0, "x"]},
    "a commit": lambda found: first(found, commit_hash="a" * 40),
    "another member": lambda found: first(found, more=1),
    "another time": lambda found: {**found, "timestamp": "tomorrow"},
    "another session": lambda found: {
        **found,
        "contexts": {**found["contexts"], "session_id": "s9"},
    },
    "a hash of nothing": lambda found: {
        **found,
        "contexts": {**found["contexts"], "hashes": {"prompt_hash": "x"}},
    },
    "a signal": lambda found: {
        **found,
        "contexts": {**found["contexts"], "signals": [{"signal": "a:b", "value": -1}]},
    },
    "an approval": lambda found: another(found, edge_type="reviewed_by"),
    "an edge from elsewhere": lambda found: another(found, source_ref="s1"),
    "an end of its commit": lambda found: another(
        found, edge_type="supersedes", metadata={"reason": "orphan"}
    ),
    "a session": lambda found: {
        **found,
        "records": [*found["records"], {"type": "session", "event": "start", "session_id": "s9"}],
    },
}


@pytest.mark.parametrize("spoil", list(SPOILT.values()), ids=list(SPOILT))
def test_a_forged_pending_completion_is_ignored(
    project: Project, spoil: Callable[[dict[str, Any]], Any], caplog: pytest.LogCaptureFixture
) -> None:
    file = held(project)
    file.write_text(json.dumps(spoil(json.loads(file.read_bytes()))))
    recorder = Recorder(project.root)
    with caplog.at_level(logging.WARNING, "vibes_lsp.recording"):
        for text in (None, WITH_HALF, SOURCE):
            recorder.record_pending_completions(None if text is None else {"a.py": text})
        recorder.flush()
    assert project.records() == []
    assert file.exists()
    assert not recorder.has_pending_completions()
    assert [each.getMessage().count(file.name) for each in caplog.records] == [1], "it is said once"
    recorder.annotate_lines("a.py", 1, 1, "create", ORIGIN)
    assert [record["line_start"] for record in project.records("line")] == [1], (
        "and nobody is kept from recording"
    )


@pytest.mark.parametrize("moved", [False, True])
def test_any_program_records_all_records_of_a_completion(tmp_path: Path, moved: bool) -> None:
    project = new_project(
        tmp_path / "project",
        level="high",
        risk_scoring={"enabled": True, "weights": {"org:secret": 0.5}},
    )
    session = project.session()
    project.recorder.annotate_lines("a.py", 4, 6, "create", session_origin(session))
    project.recorder.execute(read_request(session, "a.py"))
    signals = (RiskSignal("org:secret", 1, "it is"), RiskSignal("org:part", 0.25, None))
    origin = Origin(
        session_id=session,
        tool=TOOL,
        model=MODEL,
        prompt=PROMPT,
        informed_by=("a.py",),
        signals=signals,
    )
    digest = SOURCE[SOURCE.index("def digest") : SOURCE.index("\n\ndef same")]
    new = f"# Digests, as they are asked for.\n{digest}# And no more.\n"
    over = replace(PUT, start=(3, 0), end=(6, 0), new_text=new, final=False)
    project.recorder.execute(over.request(origin))
    before = len(project.records())
    after = SOURCE.replace(digest, new)
    assert Recorder(project.root).record_pending_completions(
        {"a.py": "# above\n" + after} if moved else None
    )
    annotation, *edges = project.records()[before:]
    assert (annotation["line_start"], annotation["line_end"]) == ((5, 9) if moved else (4, 8))
    assert {"org:secret", "org:part"} <= {each["signal"] for each in annotation["risk_factors"]}
    assert {each["edge_type"] for each in edges} >= {"caused_by", "informed_by", "supersedes"}
    again = project.recorder.execute(over.request(origin))
    assert again == Recorder(project.root).execute(over.request(origin))
    assert len(project.records()) == before + 1 + len(edges)
