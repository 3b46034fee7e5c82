"""Payloads that no agent sends: real ones with damaged bytes, wrong types and foreign members."""

from __future__ import annotations

import json
import random
from copy import deepcopy
from typing import TYPE_CHECKING, Any, Final

from tests.unit.agents.generated_edits import FOLDER
from tests.unit.agents.payload_kinds import KINDS

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.unit.agents.generated_edits import GeneratedEdit

_NESTED: Any = []
for _ in range(200):
    _NESTED = [_NESTED]

HOSTILE: Final[tuple[Any, ...]] = (
    None, True, False, 0, -1, 10**400, 1e308, float("inf"), float("nan"), "", " ", "\x00", "a\x00b",
    "\ud800", "\udfff.py", "..", "../../outside.py", "/etc/passwd", "C:\\Windows\\x.py", "~", ".",
    ".git/config", ".ai-audit/config.json", ".ai-audit/annotations.jsonl", "src", "x" * 5_000,
    "\n" * 3_000, "\r\n", "\u202e", "@@ -1 +1 @@", "@@ -0,0 +1,99999999999 @@\n+x",
    "*** Begin Patch\n*** Update File: ../x\n@@\n-a\n+b\n*** End Patch", [], {}, _NESTED, [[]], [{}],
    {"": ""}, [None], [1, "a", {}],
)  # fmt: skip
"""Values that take the place of others."""
NAMES: Final = (
    "session_id", "sessionId", "hook_event_name", "hookEventName", "hookName", "clineVersion",
    "opencode", "amp", "agent_id", "agent_type", "parentAgentId", "parent_agent_id", "timestamp",
    "transcript_path", "model", "turn_id", "prompt_id", "tool_name", "toolName", "tool_input",
    "toolArgs", "tool_response", "cursor_version", "conversation_id", "agent_action_name", "cwd",
    "permission_mode", "error", "prompt", "workspaceRoots", "tool_use_id",
)  # fmt: skip
"""Members that decide who sent a payload, and what happened."""
EVENTS: Final = (
    {"hook_event_name": "UserPromptSubmit", "prompt": "Write it."},
    {"hook_event_name": "SessionStart", "source": "startup", "model": "some-model"},
    {"hook_event_name": "SessionEnd", "reason": "other"},
    {"hook_event_name": "SubagentStart", "agent_id": "a1", "agent_type": "general"},
    {"hook_event_name": "SubagentStop", "agent_id": "a1", "agent_type": "general"},
    {"hook_event_name": "PostToolUse", "tool_name": "Bash", "tool_input": {"command": "ls"}},
    {"hook_event_name": "PostToolUse", "tool_name": "Read", "tool_input": {"file_path": "a.py"}},
    {"hook_event_name": "PostToolUse", "tool_name": "Teleport", "tool_input": {"where": "a.py"}},
)
"""Events of Claude Code besides edits."""


def fuzzed(rng: random.Random, folder: str) -> tuple[bytes, GeneratedEdit]:
    """Return a damaged payload, and the last edit that it would have reported.

    Args:
        rng: Random numbers.
        folder: The project's folder, which takes the place of the generated one.
    """
    payload, edit = _payload(rng)
    for _ in range(rng.choice((0, 1, 1, 1, 2, 4))):
        rng.choice(_CHANGES)(rng, payload)
    text = json.dumps(payload, ensure_ascii=rng.random() < 0.5)
    data = text.replace(FOLDER, folder).encode("utf-8", "surrogatepass")
    return (_damaged(rng, data) if rng.random() < 0.25 else data), edit


def _payload(rng: random.Random) -> tuple[dict[str, Any], GeneratedEdit]:
    kind = KINDS[rng.choice(sorted(KINDS))]
    call = kind.generate(rng)
    payload = kind.report(call)
    if rng.random() < 0.2:
        kept: dict[str, Any] = {
            name: payload[name] for name in ("session_id", "cwd") if name in payload
        }
        payload = {**kept, **rng.choice(EVENTS)}
    return json.loads(json.dumps(payload)), call[-1]


def _places(value: Any) -> list[tuple[Any, Any]]:
    """Return all containers with their keys, at any depth."""
    found: list[tuple[Any, Any]] = []
    items = value.items() if isinstance(value, dict) else enumerate(value)
    for key, each in items:
        found.append((value, key))
        if isinstance(each, dict | list):
            found += _places(each)
    return found


def _replace(rng: random.Random, payload: dict[str, Any]) -> None:
    places = _places(payload)
    if places:
        container, key = rng.choice(places)
        container[key] = deepcopy(rng.choice(HOSTILE))


def _remove(rng: random.Random, payload: dict[str, Any]) -> None:
    places = _places(payload)
    if places:
        container, key = rng.choice(places)
        del container[key]


def _add(rng: random.Random, payload: dict[str, Any]) -> None:
    value = rng.choice((*HOSTILE, "5b1c", "8d4f", "PostToolUse", "Edit"))
    payload[rng.choice(NAMES)] = deepcopy(value)


def _mix(rng: random.Random, payload: dict[str, Any]) -> None:
    """Take members of another agent's payload, such as its session."""
    other, _ = _payload(rng)
    for name in rng.sample(sorted(other), min(len(other), rng.randint(1, 3))):
        payload[name] = other[name]


def _cut_text(rng: random.Random, payload: dict[str, Any]) -> None:
    texts = [(box, key) for box, key in _places(payload) if isinstance(box[key], str)]
    if texts:
        container, key = rng.choice(texts)
        text = container[key]
        start = rng.randint(0, len(text))
        container[key] = text[start:] if rng.random() < 0.5 else text[:start]


_CHANGES: Final[tuple[Callable[[random.Random, dict[str, Any]], None], ...]] = (
    _replace, _replace, _remove, _add, _mix, _cut_text,
)  # fmt: skip


def _damaged(rng: random.Random, data: bytes) -> bytes:
    position = rng.randint(0, len(data))
    match rng.randrange(5):
        case 0:
            return data[:position]
        case 1:
            return data[:position] + rng.choice((b"\xff", b"\x00", b"\xed\xa0\x80", b'"', b"\\"))
        case 2:
            return data[:position] + rng.randbytes(rng.randint(1, 9)) + data[position:]
        case 3:
            return data + data
        case _:
            depth = rng.choice((10, 1_000, 100_000))
            return data.removesuffix(b"}") + b', "x": ' + b"[" * depth + b"]" * depth + b"}"
