"""Requests check their members: the error names the wrong one, and nothing is written."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tests.unit.recording.request_builders import decision_request, edge_request, review_request
from vibes_lsp import recording
from vibes_lsp.model.canonical_json import parse_json
from vibes_lsp.recording import (
    Command,
    CommandType,
    Decision,
    DecisionOption,
    Model,
    Origin,
    Part,
    Position,
    Prompt,
    PromptType,
    Range,
    RecordCommand,
    RecordDelegation,
    Recorder,
    RecordInlineCompletion,
    RiskSignal,
    StartSession,
    Tool,
    VibesError,
    WrongArgument,
)
from vibes_lsp.recording.requests import REQUESTS
from vibes_lsp.recording.requests import parse as parse_request
from vibes_lsp.store.audit_dir import AuditDir
from vibes_lsp.trail.rows import LogLineKind
from vibes_lsp.trail.trail import Trail

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.unit.recording.projects import Project

ANY: Any = None
WRONG_FILES: Any = (5,)
WRONG_CODE: Any = "1"
TOOL, MODEL = Tool("t", "1"), Model("m", "1")


def nested(depth: int) -> dict[str, Any]:
    value: dict[str, Any] = {}
    for _ in range(depth):
        value = {"a": value}
    return value


def in_itself() -> dict[str, Any]:
    value: dict[str, Any] = {}
    value["a"] = [value]
    return value


def with_shared_parts(depth: int) -> dict[str, Any]:
    """Return few objects that as JSON are many: each is twice in the one around it."""
    value: dict[str, Any] = {}
    for _ in range(depth):
        value = {"a": value, "b": value}
    return value


def origin(**members: Any) -> Origin:
    everything: dict[str, Any] = {"tool": TOOL, "model": MODEL} | members
    return Origin(**everything)


def annotate(
    start: Any = 1, end: Any = 1, given: Any = None, **members: Any
) -> Callable[[Recorder], object]:
    return lambda recorder: recorder.annotate_lines(
        "a.py", start, end, "create", given or origin(**members)
    )


def edit(**members: Any) -> Callable[[Recorder], object]:
    given: dict[str, Any] = {
        "file": "a.py",
        "line_start": 1,
        "line_end": 1,
        "action": "create",
    } | members
    return lambda recorder: recorder.execute(recording.RecordAnnotation(**given))


def completion(given: Any = None, **members: Any) -> Callable[[Recorder], object]:
    start = Position(0, 0)
    everything: dict[str, Any] = {
        "file": "a.py",
        "completion_id": "c",
        "range": Range(start, start),
        "new_text": "x",
        "tool": TOOL,
        "model": MODEL,
    } | members
    return lambda recorder: recorder.execute(given or RecordInlineCompletion(**everything))


WRONG: dict[str, list[Callable[[Recorder], object]]] = {
    "line_start": [annotate("1"), annotate(1.5), annotate(True)],
    "line_end": [annotate(1, None), edit(line_end=None)],
    "new_text": [completion(new_text=ANY)],
    "range.start": [completion(range=Range(ANY, Position(0, 0)))],
    "range.start.line": [completion(range=Range(Position(-1, 0), Position(0, 0)))],
    "completion_id": [completion(completion_id="")],
    "partial.part": [completion(partial=Part(0, final=True))],
    "model": [
        lambda recorder: recorder.execute(RecordDelegation(parent_session_id="s", model=WRONG_CODE))
    ],
    "file": [edit(file=5), edit(file=None), completion(file=None)],
    "text": [edit(text=b"x = 1\n")],
    "origin": [
        lambda recorder: recorder.annotate_lines("a.py", 1, 1, "create", ANY),
        annotate(given="me"),
    ],
    "request": [completion("a.py"), lambda recorder: recorder.execute(ANY)],
    "sesion_id": [edit(sesion_id="s")],
    "tool": [
        annotate(tool="t"),
        lambda recorder: recorder.execute(StartSession(tool=ANY, model=MODEL)),
    ],
    "tool.name": [
        annotate(tool=Tool(ANY, "1")),
        lambda recorder: recorder.execute(StartSession(tool=Tool(ANY, "1"), model=MODEL)),
    ],
    "model.parameters": [
        annotate(model=Model("m", "1", {"a": nested(10_000)})),
        annotate(model=Model("m", "1", nested(61))),
        annotate(model=Model("m", "1", in_itself())),
        annotate(model=Model("m", "1", with_shared_parts(17))),
        annotate(model=Model("m", "1", {"a": [0] * 100_000})),
        annotate(model=Model("m", "1", {"a": object()})),
        annotate(model=Model("m", "1", {"a": [float("nan")]})),
        annotate(model=Model("m", "1", {"a": {ANY: 1}})),
        annotate(model=Model("m", "1", {ANY: 1})),
        lambda recorder: recorder.execute(
            StartSession(tool=TOOL, model=Model("m", "1", nested(63)))
        ),
    ],
    "prompt.text": [annotate(prompt=Prompt(ANY, PromptType.CHAT_MESSAGE))],
    "prompt.context_files": [annotate(prompt=Prompt("x", PromptType.CHAT_MESSAGE, ANY))],
    "prompt.context_files.0": [annotate(prompt=Prompt("x", PromptType.OTHER, WRONG_FILES))],
    "informed_by": [annotate(informed_by="a.py")],
    "signals.0.value": [annotate(signals=(RiskSignal("org:x", ANY),))],
    "command.exit_code": [
        lambda recorder: recorder.execute(
            RecordCommand(session_id="s", command=Command("x", CommandType.OTHER, WRONG_CODE))
        )
    ],
    "options.0.id": [
        lambda recorder: recorder.execute(
            decision_request(Decision("d", (DecisionOption(ANY, "x"),), "x", "y"))
        )
    ],
    "decision.options.0.id": [
        annotate(decision=Decision("d", (DecisionOption(ANY, "x"),), "x", "y"))
    ],
    "decision": [annotate(decision=5)],
    "edge_type": [
        lambda recorder: recorder.execute(edge_request(ANY, "a", "session", "b", "session"))
    ],
    "metadata": [
        lambda recorder: recorder.execute(
            edge_request("informed_by", "a", "session", "b", "session", metadata=nested(100))
        )
    ],
    "verdict": [lambda recorder: recorder.execute(review_request(ANY, "a.py", (1, 1)))],
    "range": [
        lambda recorder: recorder.execute(recording.Reanchor(annotation_id="a", file="a.py"))
    ],
}


@pytest.mark.parametrize(
    ("member", "wrong"), [(member, wrong) for member, all_ in WRONG.items() for wrong in all_]
)
def test_the_error_names_the_wrong_member(
    project: Project, member: str, wrong: Callable[[Recorder], object]
) -> None:
    (project.root / "a.py").write_text("x = 1\n")
    log = project.root / ".ai-audit" / "annotations.jsonl"
    before = log.read_bytes() if log.exists() else b""
    with Recorder(project.root) as recorder, pytest.raises(WrongArgument) as caught:
        wrong(recorder)
    assert caught.value.member == member
    assert (log.read_bytes() if log.exists() else b"") == before


def test_lists_and_names_of_enumerations_are_accepted(project: Project) -> None:
    (project.root / "a.py").write_text("x = 1\n")
    parameters = {
        "b": [1, 2.5, None, True, "x", {"b": (1, 2)}],
        "c": with_shared_parts(9),
        **nested(60),
    }
    prompt = Prompt("x", "chat_message", ["b.py"])  # type: ignore[arg-type]  # as many write it
    with Recorder(project.root) as recorder:
        assert annotate(model=Model("m", "1", parameters), prompt=prompt)(recorder)
    trail = Trail(AuditDir(project.root / ".ai-audit"))
    trail.refresh()
    (record,) = trail.log.records_of(LogLineKind.LINE)
    assert trail.manifest.entry(record.text("environment_hash") or "") is not None
    assert parse_json((project.root / ".ai-audit" / "manifest.json").read_bytes())


@pytest.mark.parametrize(
    ("more", "error"),
    [
        ({"line_start": 1}, "line_start: is not a member; there are action,"),
        (
            {"prompt": {"text": "x", "type": "other", "context_files": []}},
            "prompt.context_files: is not a member of it",
        ),
        ({"lineStart": 1.0, "lineEnd": 2}, "lineStart: "),
        ({"lineStart": 1}, "lineEnd: is required, as both are given together"),
        ({"decision": 7}, "decision: expected a hash or a decision"),
        ({"decision": {"decisionPoint": "x"}}, "decision.options: is required"),
        ({"signals": [{"signal": "a", "value": 1}]}, "signals.0.signal: is a name with"),
    ],
)
def test_json_has_only_names_in_camel_case(more: dict[str, Any], error: str) -> None:
    with pytest.raises(WrongArgument, match=re.escape(error)):
        parse_request(REQUESTS["annotate"], {"file": "a.py", "action": "create", **more})


def test_the_documented_errors_can_be_imported() -> None:
    page = (Path(__file__).parents[3] / "docs" / "recording.md").read_text("utf-8")
    said = page[page.index("A failed request raises a") :].split("\n\n")[0]
    names = re.findall(r"`([A-Z]\w+)`", said)
    assert len(names) > 5
    for name in names:
        assert name in recording.__all__
        assert issubclass(getattr(recording, name), VibesError)
