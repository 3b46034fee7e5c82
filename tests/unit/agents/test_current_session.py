"""Reasoning is taken only from the answer of the model that holds the tool call."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Final

import pytest

from vibes_lsp.agents.claude_like import call_content
from vibes_lsp.agents.current_session import ModelUses, find_reasoning
from vibes_lsp.agents.events import Agent, AgentEvent, CommandRun, FilesRead, SessionKey

if TYPE_CHECKING:
    from pathlib import Path

SESSION: Final = "253351ad-f40e-4995-9e52-50dd25c9acd0"
_FILES: Final = {
    Agent.CLAUDE_CODE: f".claude/projects/p/{SESSION}.jsonl",
    Agent.CODEX: f".codex/sessions/rollout-2026-11-22-{SESSION}.jsonl",
    Agent.GEMINI_CLI: f".gemini/tmp/p/chats/session-{SESSION}.jsonl",
    Agent.QWEN_CODE: f".qwen/projects/p/chats/{SESSION}.jsonl",
}
_ARGUMENTS: Final[dict[str, Any]] = {"file_path": "a.py", "content": "a = 1\n"}


def reasoning(
    folder: Path, agent: Agent, lines: list[Any], *, call: str = "c2", file: str = "", **more: Any
) -> str | None:
    """Return what is found for a call in a session file with these lines."""
    path = folder / "home" / (file or _FILES[agent])
    path.parent.mkdir(parents=True, exist_ok=True)
    encoded = (each if isinstance(each, str) else json.dumps(each) for each in lines)
    path.write_text("".join(f"{each}\n" for each in encoded), encoding="utf-8")
    members = {"action": CommandRun("true"), "moment": "2026-11-22T08:00:05Z", **more}
    event = AgentEvent(
        agent,
        SessionKey(SESSION),
        "identity",
        str(folder),
        transcript=str(path),
        call_id=call,
        call_content=call_content("write_file", _ARGUMENTS),
        **members,
    )
    [found] = find_reasoning([event], folder / "project")
    return found


def claude(message: str, *blocks: dict[str, Any], kind: str = "assistant") -> dict[str, Any]:
    return {"type": kind, "message": {"id": message, "content": list(blocks)}}


def thinking(text: Any) -> dict[str, Any]:
    return {"type": "thinking", "thinking": text, "signature": "s"}


def use(call: str) -> dict[str, Any]:
    return {"type": "tool_use", "id": call, "name": "Write", "input": _ARGUMENTS}


def test_claude_codes_thinking_is_that_of_the_calls_message(tmp_path: Path) -> None:
    lines = [
        claude("m1", thinking("of another answer")),
        claude("m1", use("c1")),
        claude("m2", thinking("first")),
        claude("m2", {"type": "text", "text": "I write."}),
        claude("m2", thinking("second")),
        claude("m2", use("c2")),
        claude("m2", thinking("after it")),
        claude("m2", use("c3")),
    ]
    assert reasoning(tmp_path, Agent.CLAUDE_CODE, lines) == "first\n\nsecond"
    assert reasoning(tmp_path, Agent.CLAUDE_CODE, lines, call="c1") == "of another answer"
    assert reasoning(tmp_path, Agent.CLAUDE_CODE, lines, call="c4") is None


def test_an_answer_without_thinking_has_no_reasoning(tmp_path: Path) -> None:
    lines = [
        claude("m1", thinking("of another")),
        claude("m2", thinking("")),
        claude("m2", use("c2")),
    ]
    assert reasoning(tmp_path, Agent.CLAUDE_CODE, lines) == ""


def test_a_text_that_quotes_a_call_is_not_the_call(tmp_path: Path) -> None:
    lines = [
        claude("m1", thinking("planted")),
        claude("m1", {"type": "text", "text": "c2", "id": "c2"}),
        claude("m1", use("c2"), kind="user"),
        {"type": "attachment", "content": use("c2")},
    ]
    assert reasoning(tmp_path, Agent.CLAUDE_CODE, lines) is None


def gemini(second: int, *calls: dict[str, Any], thought: str = "", **more: Any) -> dict[str, Any]:
    thoughts = [{"subject": "Plan", "description": thought}] if thought else []
    return {
        "id": f"m{second}",
        "type": "gemini",
        "timestamp": f"2026-11-22T08:00:0{second}Z",
        "thoughts": thoughts,
        "toolCalls": list(calls),
        **more,
    }


_CALL: Final = {"id": "x", "name": "write_file", "args": _ARGUMENTS}


def test_gemini_clis_thoughts_are_those_of_the_latest_answer(tmp_path: Path) -> None:
    lines = [
        gemini(1, _CALL, thought="earlier"),
        gemini(4, thought="why"),
        gemini(4, _CALL, thought="why"),
        gemini(9, _CALL, thought="later"),
    ]
    assert reasoning(tmp_path, Agent.GEMINI_CLI, lines) == "Plan\nwhy"


@pytest.mark.parametrize(
    "last",
    [
        gemini(4, thought="the call is not written yet"),
        gemini(4, {**_CALL, "name": "replace"}, thought="another tool"),
        gemini(4, {**_CALL, "args": {}}, thought="another edit"),
        gemini(4, {"name": "invoke_agent", "args": {}}, thought="a subagent's call"),
    ],
    ids=["not written", "other tool", "other arguments", "subagent"],
)
def test_gemini_clis_thoughts_about_another_call_are_not_taken(
    tmp_path: Path, last: dict[str, Any]
) -> None:
    lines = [gemini(1, _CALL, thought="earlier"), last]
    assert reasoning(tmp_path, Agent.GEMINI_CLI, lines) is None


def test_qwen_codes_thoughts_are_the_parts_before_the_call(tmp_path: Path) -> None:
    parts = [
        {"text": "why", "thought": True},
        {"text": "I write."},
        {"functionCall": {"id": "c2", "name": "write_file", "args": _ARGUMENTS}},
        {"text": "after it", "thought": True},
    ]
    lines = [{"type": "assistant", "message": {"role": "model", "parts": parts}}]
    assert reasoning(tmp_path, Agent.QWEN_CODE, lines) == "why"
    assert reasoning(tmp_path, Agent.QWEN_CODE, [{**lines[0], "type": "user"}]) is None


def item(kind: str, **members: Any) -> dict[str, Any]:
    return {"type": "response_item", "payload": {"type": kind, **members}}


def summary(text: str) -> dict[str, Any]:
    return item("reasoning", summary=[{"type": "summary_text", "text": text}])


def done(call: str) -> dict[str, Any]:
    payload = {"type": "item_completed", "item": {"type": "FileChange", "id": call}}
    return {"type": "event_msg", "payload": payload}


_STARTED: Final = {"type": "event_msg", "payload": {"type": "task_started"}}
_USAGE: Final = {"type": "token_usage_record", "payload": {}}


def test_codexs_summaries_are_those_of_the_calls_answer(tmp_path: Path) -> None:
    lines = [
        _STARTED,
        summary("of another answer"),
        item("function_call", call_id="c1"),
        _USAGE,
        item("function_call_output", call_id="c1", output="done"),
        summary("first"),
        item("message", role="assistant"),
        summary("second"),
        item("function_call", call_id="c2"),
        item("custom_tool_call", call_id="c3"),
        _USAGE,
        done("c2"),
    ]
    assert reasoning(tmp_path, Agent.CODEX, lines) == "first\n\nsecond"
    assert reasoning(tmp_path, Agent.CODEX, lines, call="c3") == "first\n\nsecond"
    assert reasoning(tmp_path, Agent.CODEX, lines, call="c1") == "of another answer"
    assert reasoning(tmp_path, Agent.CODEX, lines, call="c4") is None


def script(output: str, *, between: bool = True) -> list[dict[str, Any]]:
    """Return a turn in which a script makes the call `c2`, after another script."""
    ended = [{"type": "input_text", "text": output}]
    return [
        _STARTED,
        summary("of another script"),
        item("custom_tool_call", call_id="s1"),
        _USAGE,
        item("custom_tool_call_output", call_id="s1", output=ended),
        *([summary("why"), item("custom_tool_call", call_id="s2"), _USAGE] if between else []),
        done("c2"),
    ]


def test_a_call_by_codexs_script_has_the_reasoning_of_the_script(tmp_path: Path) -> None:
    assert reasoning(tmp_path, Agent.CODEX, script("Script completed\nOutput:")) == "why"


def test_no_script_is_guessed_while_one_runs_in_the_background(tmp_path: Path) -> None:
    running = "Script running with cell ID 1"
    assert reasoning(tmp_path, Agent.CODEX, script(running)) == ""
    assert reasoning(tmp_path, Agent.CODEX, script(running, between=False)) == ""


@pytest.mark.parametrize("agent", _FILES)
@pytest.mark.parametrize(
    "line",
    [
        '{"c2": "thinking", "gemini"',
        "[" * 5_000 + '"c2", "gemini"',
        '["c2", "gemini", "response_item"]',
        '{"type": "assistant", "message": ["c2"], "id": "c2"}',
        '{"type": "assistant", "message": {"id": 1, "content": [1, {"id": "c2"}], "parts": "c2"}}',
        '{"type": "gemini", "timestamp": 1, "toolCalls": {"a": 1}, "thoughts": "c2"}',
        '{"type": "response_item", "payload": {"type": ["function_call"], "call_id": "c2"}}',
        '{"type": "event_msg", "payload": {"type": "item_completed", "item": "c2"}}',
        "\x00\ud7ff",
    ],
)
def test_a_hostile_file_has_no_reasoning(tmp_path: Path, agent: Agent, line: str) -> None:
    assert reasoning(tmp_path, agent, [line, line]) is None


@pytest.mark.parametrize("text", [["a"], None, 7, " \n"])
def test_what_is_no_text_is_not_taken(tmp_path: Path, text: Any) -> None:
    lines = [claude("m2", thinking(text), use("c2"))]
    assert reasoning(tmp_path, Agent.CLAUDE_CODE, lines) == ""


def test_a_text_of_a_size_that_no_model_writes_is_not_taken(tmp_path: Path) -> None:
    lines = [claude("m2", thinking("x" * ((1 << 20) + 1)), use("c2"))]
    assert reasoning(tmp_path, Agent.CLAUDE_CODE, lines) == ""


def test_only_edits_and_commands_have_reasoning(tmp_path: Path) -> None:
    lines = [claude("m2", thinking("why"), use("c2"))]
    found = reasoning(tmp_path, Agent.CLAUDE_CODE, lines, action=FilesRead(("a.py",)))
    assert found == ""


@pytest.mark.parametrize(
    "file",
    [
        f"elsewhere/{SESSION}.jsonl",
        ".claude/projects/p/00000000-0000-0000-0000-000000000000.jsonl",
        f".claude/projects/p/{SESSION}.txt",
        f"../project/.claude/{SESSION}.jsonl",
    ],
)
def test_only_a_file_of_the_session_in_the_agents_folder_is_read(tmp_path: Path, file: str) -> None:
    lines = [claude("m2", thinking("why"), use("c2"))]
    assert reasoning(tmp_path, Agent.CLAUDE_CODE, lines, file=file) is None


def test_the_model_is_found_once_the_agent_has_written_its_answer(tmp_path: Path) -> None:
    """One program may record the prompt, and the edits that follow it."""
    path = tmp_path / "home" / _FILES[Agent.CLAUDE_CODE]
    path.parent.mkdir(parents=True)
    path.write_text(json.dumps(claude("m0", kind="user")) + "\n", encoding="utf-8")
    event = AgentEvent(
        Agent.CLAUDE_CODE,
        SessionKey(SESSION),
        "identity",
        str(tmp_path),
        transcript=str(path),
        call_id="c1",
        action=CommandRun("true"),
        moment="2026-11-22T08:00:05Z",
    )
    uses = ModelUses()
    assert uses.find(event) is None
    answer = claude("m1", use("c1"))
    answer["message"]["model"] = "claude-sonnet-4-5"
    with path.open("a", encoding="utf-8") as file:
        file.write(json.dumps(answer) + "\n")
    found = uses.find(event)
    assert found is not None
    assert found.model == "claude-sonnet-4-5"
