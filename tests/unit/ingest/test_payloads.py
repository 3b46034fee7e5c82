"""Which agent sent a payload, and what damaged payloads come to: nothing."""

from __future__ import annotations

import copy
import random
from typing import Any, Final

import pytest

from tests.unit.ingest.generated_edits import KINDS, generate
from vibes_lsp.ingest.edited_lines import resolve_edits
from vibes_lsp.ingest.events import Agent, AgentEvent, FilesEdited
from vibes_lsp.ingest.payloads import agent_of, read_event

SESSION: Final = {"session_id": "s1", "cwd": "/p", "hook_event_name": "SessionEnd"}
WRONG: Final[list[Any]] = [
    None,
    True,
    -1,
    10**30,
    1.5,
    "",
    "\0",
    "\ud800",
    "x" * 99,
    [],
    [[]],
    {},
    {"a": None},
]
MUTATIONS: Final = 400
"""For each kind of payload."""


@pytest.mark.parametrize("kind", KINDS)
def test_an_agent_is_known_by_its_payload(kind: str) -> None:
    shape, report = KINDS[kind]
    agent = agent_of(report(generate(random.Random(1), **shape)))
    assert agent is not None
    assert agent.name.lower().startswith(kind.split("-", maxsplit=1)[0])


@pytest.mark.parametrize(
    ("members", "agent"),
    [
        ({"transcript_path": "/h/.claude/projects/p/s1.jsonl"}, Agent.CLAUDE_CODE),
        (
            {"transcript_path": "C:\\h\\.claude\\projects\\p\\s1.jsonl", "model": "m"},
            Agent.CLAUDE_CODE,
        ),
        ({"transcript_path": "/h/.codex/sessions/rollout-2026-s1.jsonl"}, Agent.CODEX),
        ({"transcript_path": None, "model": "m"}, Agent.CODEX),
        ({"timestamp": "t", "transcript_path": "/h/.gemini/session-s1.jsonl"}, Agent.GEMINI_CLI),
        (
            {"timestamp": "t", "transcript_path": "/h/s1.jsonl", "permission_mode": "yolo"},
            Agent.QWEN_CODE,
        ),
        ({"timestamp": "t"}, Agent.COPILOT_CLI),
        ({"timestamp": "t", "transcript_path": "/h/events.jsonl"}, Agent.COPILOT_CLI),
        ({"session_id": None}, None),
    ],
)
def test_the_end_of_a_session_names_its_agent(members: dict[str, Any], agent: Agent | None) -> None:
    assert agent_of({**SESSION, **members}) == agent


@pytest.mark.parametrize("payload", [{}, {"hook_event_name": 1}, {"sessionId": "x"}, {"a": [1]}])
def test_other_objects_are_of_no_agent(payload: dict[str, Any]) -> None:
    assert read_event(payload) is None


@pytest.mark.parametrize("kind", KINDS)
def test_a_damaged_payload_is_read_without_an_error(kind: str) -> None:
    shape, report = KINDS[kind]
    rng = random.Random(kind)
    for _ in range(MUTATIONS):
        edit = generate(rng, **shape)
        payload = damaged(rng, report(edit))
        event = read_event(payload)
        assert event is None or isinstance(event, AgentEvent)
        if event is not None and isinstance(event.action, FilesEdited):
            for each in resolve_edits(event.action.edits, edit.saved):
                lines = 0 if each is None else len(each.after.splitlines())
                assert each is None or all(
                    1 <= found.start <= found.end <= lines for found in each.ranges
                ), payload


def damaged(rng: random.Random, payload: dict[str, Any]) -> dict[str, Any]:
    """Return a payload in which some members are wrong, missing or cut."""
    found = copy.deepcopy(payload)
    for _ in range(rng.randint(1, 3)):
        holder: Any = found
        while True:
            keys = list(holder) if isinstance(holder, dict) else list(range(len(holder)))
            if not keys:
                break
            key = rng.choice(keys)
            if isinstance(holder[key], dict | list) and rng.random() < 0.8:
                holder = holder[key]
                continue
            if isinstance(holder, dict) and rng.random() < 0.2:
                del holder[key]
            elif isinstance(holder[key], str) and rng.random() < 0.4:
                holder[key] = holder[key][: rng.randint(0, len(holder[key]))]
            else:
                holder[key] = copy.deepcopy(rng.choice(WRONG))
            break
    return found


def test_a_failed_edit_is_no_edit() -> None:
    base = {"session_id": "s1", "cwd": "/p", "tool_use_id": "t"}
    failed: list[dict[str, Any]] = [
        {
            **base,
            "hook_event_name": "PostToolUseFailure",
            "tool_name": "Edit",
            "tool_input": {"file_path": "/p/a", "old_string": "a", "new_string": "b"},
            "error": "not found",
        },
        {
            **base,
            "timestamp": "2026-11-22T08:31:07Z",
            "transcript_path": "/h/session-s1.jsonl",
            "hook_event_name": "AfterTool",
            "tool_name": "replace",
            "tool_input": {"file_path": "a", "old_string": "a", "new_string": "b"},
            "tool_response": {"error": {"message": "not found"}},
        },
        {
            "sessionId": "s1",
            "timestamp": 1,
            "cwd": "/p",
            "toolName": "edit",
            "toolArgs": {"path": "/p/a", "old_str": "a", "new_str": "b"},
            "error": "not found",
        },
    ]
    assert [read_event(each) for each in failed] == [None, None, None]
