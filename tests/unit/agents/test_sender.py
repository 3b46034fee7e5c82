"""Which agent sent a payload, and what damaged payloads come to: nothing."""

from __future__ import annotations

import copy
import random
from typing import TYPE_CHECKING, Any, Final

import pytest

from tests.unit.agents.captured import payloads
from tests.unit.agents.payload_kinds import KINDS
from vibes_lsp.agents.all_agents import read_event
from vibes_lsp.agents.edited_lines import resolve_edits
from vibes_lsp.agents.events import Agent, AgentEvent, FilesEdited
from vibes_lsp.agents.sender import agent_of, parse_payload
from vibes_lsp.errors import MalformedJson

if TYPE_CHECKING:
    from pathlib import Path

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
MUTATIONS: Final = 200
"""For each kind of payload."""


HOOK: Final = {"hook_event_name", "session_id"}
DECIDING: Final = {
    Agent.CLAUDE_CODE: [HOOK],
    Agent.CODEX: [HOOK | {"turn_id"}],
    Agent.GEMINI_CLI: [HOOK | {"timestamp"}],
    Agent.COPILOT_CLI: [{"sessionId", "timestamp"}, HOOK | {"timestamp", "tool_result"}],
    Agent.QWEN_CODE: [
        HOOK | {"timestamp", "permission_mode"},
        HOOK | {"timestamp", "tool_call_id"},
    ],
    Agent.OPENCODE: [{"opencode"}],
    Agent.CLINE: [{"clineVersion", "hookName"}],
    Agent.CURSOR: [
        {"cursor_version"},
        {"conversation_id", "generation_id"},
        {"conversation_id", "workspace_roots"},
    ],
    Agent.WINDSURF: [{"agent_action_name"}],
    Agent.COPILOT_VSCODE: [
        HOOK | {"timestamp", "tool_use_id"},
        HOOK | {"timestamp", "transcript_path"},
        {"hookEventName", "sessionId"},
    ],
    Agent.AMP: [{"amp"}],
}
"""Members of which one set is enough to tell a tool call's agent, whatever else is missing."""
CAPTURED: Final = {
    "claude": Agent.CLAUDE_CODE,
    "codex-code": Agent.CODEX,
    "codex-direct": Agent.CODEX,
    "gemini": Agent.GEMINI_CLI,
    "copilot-edit": Agent.COPILOT_CLI,
    "copilot-patch": Agent.COPILOT_CLI,
    "qwen": Agent.QWEN_CODE,
    "opencode-edit": Agent.OPENCODE,
    "opencode-patch": Agent.OPENCODE,
    "cline": Agent.CLINE,
}


@pytest.mark.parametrize("kind", KINDS)
def test_an_agent_is_known_by_its_payload_also_without_optional_members(kind: str) -> None:
    rng = random.Random(kind)
    payload = KINDS[kind].report(KINDS[kind].generate(rng))
    assert agent_of(payload) == KINDS[kind].agent
    enough = [needed for needed in DECIDING[KINDS[kind].agent] if needed <= payload.keys()]
    assert enough
    for needed in enough:
        optional = sorted(payload.keys() - needed)
        for _ in range(50):
            kept = needed | set(rng.sample(optional, rng.randint(0, len(optional))))
            assert agent_of({name: payload[name] for name in kept}) == KINDS[kind].agent, kept


@pytest.mark.parametrize("capture", CAPTURED)
def test_no_captured_payload_is_taken_for_one_of_another_agent(
    capture: str, tmp_path: Path
) -> None:
    for payload, _ in payloads(capture, tmp_path):
        assert agent_of(payload) == CAPTURED[capture]


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
        ({"transcript_path": ""}, None),
        (
            {
                "timestamp": "t",
                "transcript_path": "C:\\u\\5f\\GitHub.copilot-chat\\transcripts\\s1.jsonl",
            },
            Agent.COPILOT_VSCODE,
        ),
        ({"conversation_id": "s1", "workspace_roots": ["/p"]}, Agent.CURSOR),
        ({"session_id": None}, None),
    ],
)
def test_the_end_of_a_session_names_its_agent(members: dict[str, Any], agent: Agent | None) -> None:
    assert agent_of({**SESSION, **members}) == agent


@pytest.mark.parametrize("payload", [{}, {"hook_event_name": 1}, {"sessionId": "x"}, {"a": [1]}])
def test_other_objects_are_of_no_agent(payload: dict[str, Any]) -> None:
    assert read_event(payload) is None


@pytest.mark.parametrize("end", [b"\0", b"\n\0\0", b'\n{"b": 2}', b" garbage", b'{"a": 3}'])
@pytest.mark.parametrize("start", [b"", b" \n"])
@pytest.mark.parametrize("value", ["x", "x\ty", "\u00e9"])
def test_what_follows_the_first_document_is_left_out(start: bytes, value: str, end: bytes) -> None:
    data = b'%b{"a": "%b"}%b' % (start, value.encode(), end)
    assert parse_payload(data) == {"a": value}


def test_raw_control_characters_in_strings_are_read() -> None:
    data = b'{\n\t"agent_action_name": "pre_user_prompt",\n "a": "x\ny\t\\"\x07 \\\\"\n}'
    assert parse_payload(data) == {"agent_action_name": "pre_user_prompt", "a": 'x\ny\t"\x07 \\'}


@pytest.mark.parametrize("data", [b"", b"[]", b'{"a": "\n', b"{'a': 1}", b'{"a": \x01}', b"\xff"])
def test_what_is_no_json_object_is_no_payload(data: bytes) -> None:
    with pytest.raises(MalformedJson):
        parse_payload(data)


@pytest.mark.parametrize("kind", KINDS)
def test_a_damaged_payload_is_read_without_an_error(kind: str) -> None:
    rng = random.Random(kind)
    for _ in range(MUTATIONS):
        call = KINDS[kind].generate(rng)
        payload = damaged(rng, KINDS[kind].report(call))
        event = read_event(payload)
        assert event is None or isinstance(event, AgentEvent)
        if event is not None and isinstance(event.action, FilesEdited):
            for each in resolve_edits(event.action.edits, call[-1].saved):
                lines = 0 if each is None else each.after.count("\n") + 1
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
