"""Four interfaces of language models, in one shape: messages are read, an answer is written. Pure.

A streamed answer is one event for each part, as the agents' parsers expect; parts are not split.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, Literal, TypeAlias

Json: TypeAlias = dict[str, Any]
Role: TypeAlias = Literal["user", "model", "tool"]
Event: TypeAlias = tuple[str | None, Json]
"""A server-sent event: its name, where the interface has names, and its data."""

_TEXTS: Final = (
    *("text", "content", "encrypted_content", "output", "parts", "functionResponse"),
    *("response", "result", "llmContent", "error"),
)
"""Members of messages that hold text, or members with text."""


@dataclass(frozen=True, slots=True)
class Message:
    """A message of a conversation; role `tool` is the result of a call."""

    role: Role
    text: str


@dataclass(frozen=True, slots=True)
class ToolCall:
    """A call of a tool.

    Attributes:
        name: The tool.
        arguments: Its arguments, or the input of a free-form tool.
        namespace: The namespace that offers the tool (Responses).
    """

    name: str
    arguments: Mapping[str, Any] | str = field(default_factory=dict)
    namespace: str | None = None


@dataclass(frozen=True, slots=True)
class Answer:
    """What the model answers; without calls it ends the agent's turn.

    Attributes:
        text: Its text.
        calls: The calls of tools.
        reasoning: What it thinks before.
    """

    text: str = ""
    calls: tuple[ToolCall, ...] = ()
    reasoning: str = ""


@dataclass(frozen=True, slots=True)
class WireFormat:
    """An interface.

    Attributes:
        messages: Returns the messages of a request.
        whole: Returns an answer that is not streamed, from the answer, the model and a unique id.
        events: Returns the events of a streamed answer.
    """

    messages: Callable[[Json], Iterable[Message]]
    whole: Callable[[Answer, str, str], Json]
    events: Callable[[Answer, str, str], Iterator[Event]]


def format_of(path: str) -> WireFormat | None:
    """Return the interface that a request's path belongs to; None for none of them."""
    ends = {
        "/messages": ANTHROPIC,
        "/responses": RESPONSES,
        "/chat/completions": CHAT,
        ":generateContent": GEMINI,
        ":streamGenerateContent": GEMINI,
    }
    return next((wire for end, wire in ends.items() if path.endswith(end)), None)


def offers_tools(request: Json) -> bool:
    """Return whether the model may call tools; a request for a title or summary offers none."""
    items = request.get("input")
    return bool(request.get("tools")) or (
        isinstance(items, list) and any(item.get("type") == "additional_tools" for item in items)
    )


def text_of(value: Any) -> str:
    """Return all text of a message's content."""
    if isinstance(value, str):
        return value
    if isinstance(value, list):
        return "\n".join(map(text_of, value))
    if isinstance(value, dict):
        return "\n".join(text_of(value[name]) for name in _TEXTS if name in value)
    return ""


def _arguments(call: ToolCall) -> Mapping[str, Any]:
    assert not isinstance(call.arguments, str), f"{call.name} is free-form here"
    return call.arguments


# --- Anthropic Messages


def _anthropic_messages(request: Json) -> Iterator[Message]:
    for message in request.get("messages", []):
        content = message.get("content")
        if message["role"] == "assistant":
            yield Message("model", text_of(content))
            continue
        for block in content if isinstance(content, list) else [content]:
            is_result = isinstance(block, dict) and block.get("type") == "tool_result"
            yield Message("tool" if is_result else "user", text_of(block))


def _anthropic_content(answer: Answer, unique: str) -> list[Json]:
    content: list[Json] = []
    if answer.reasoning:
        content.append({"type": "thinking", "thinking": answer.reasoning, "signature": "c2lnbmVk"})
    if answer.text:
        content.append({"type": "text", "text": answer.text})
    for number, call in enumerate(answer.calls):
        block = {"id": f"toolu_{unique}_{number}", "name": call.name, "input": _arguments(call)}
        content.append({"type": "tool_use", **block})
    return content


def _anthropic_whole(answer: Answer, model: str, unique: str) -> Json:
    return {
        "id": f"msg_{unique}",
        "type": "message",
        "role": "assistant",
        "model": model,
        "content": _anthropic_content(answer, unique),
        "stop_reason": "tool_use" if answer.calls else "end_turn",
        "stop_sequence": None,
        "usage": {"input_tokens": 100, "output_tokens": 20},
    }


def _anthropic_events(answer: Answer, model: str, unique: str) -> Iterator[Event]:
    whole = _anthropic_whole(answer, model, unique)

    def event(name: str, **members: Any) -> Event:
        return name, {"type": name, **members}

    yield event("message_start", message={**whole, "content": [], "stop_reason": None})
    for index, block in enumerate(whole["content"]):
        empty: Json = {"text": "", "thinking": "", "signature": "", "input": {}}
        start = {**block, **{name: value for name, value in empty.items() if name in block}}
        yield event("content_block_start", index=index, content_block=start)
        for delta in _anthropic_deltas(block):
            yield event("content_block_delta", index=index, delta=delta)
        yield event("content_block_stop", index=index)
    stop = {"stop_reason": whole["stop_reason"], "stop_sequence": None}
    yield event("message_delta", delta=stop, usage={"output_tokens": 20})
    yield event("message_stop")


def _anthropic_deltas(block: Json) -> Iterator[Json]:
    match block["type"]:
        case "text":
            yield {"type": "text_delta", "text": block["text"]}
        case "thinking":
            yield {"type": "thinking_delta", "thinking": block["thinking"]}
            yield {"type": "signature_delta", "signature": block["signature"]}
        case _:
            yield {"type": "input_json_delta", "partial_json": json.dumps(block["input"])}


# --- OpenAI Responses


def _responses_messages(request: Json) -> Iterator[Message]:
    given = request.get("input", [])
    for item in [{"role": "user", "content": given}] if isinstance(given, str) else given:
        kind = item.get("type", "message")
        if kind.endswith("_output"):
            yield Message("tool", text_of(item.get("output")))
        elif kind in ("message", "agent_message"):
            is_model = item.get("role") == "assistant"
            yield Message("model" if is_model else "user", text_of(item.get("content")))
        elif kind.endswith("_call") or kind == "reasoning":
            yield Message("model", "")


def _responses_output(answer: Answer, unique: str) -> Iterator[Json]:
    if answer.reasoning:
        summary = [{"type": "summary_text", "text": answer.reasoning}]
        yield {"type": "reasoning", "id": f"rs_{unique}", "summary": summary}
    if answer.text:
        yield {
            "type": "message",
            "id": f"msg_{unique}",
            "role": "assistant",
            "status": "completed",
            "content": [{"type": "output_text", "text": answer.text, "annotations": []}],
        }
    for number, call in enumerate(answer.calls):
        yield {
            "id": f"fc_{unique}_{number}",
            "call_id": f"call_{unique}_{number}",
            "name": call.name,
            "status": "completed",
            **({} if call.namespace is None else {"namespace": call.namespace}),
            **(
                {"type": "custom_tool_call", "input": call.arguments}
                if isinstance(call.arguments, str)
                else {"type": "function_call", "arguments": json.dumps(call.arguments)}
            ),
        }


def _responses_whole(answer: Answer, model: str, unique: str) -> Json:
    return {
        "id": f"resp_{unique}",
        "object": "response",
        "created_at": 1,
        "model": model,
        "status": "completed",
        "output": list(_responses_output(answer, unique)),
        "usage": {
            "input_tokens": 100,
            "input_tokens_details": {"cached_tokens": 0},
            "output_tokens": 20,
            "output_tokens_details": {"reasoning_tokens": 0},
            "total_tokens": 120,
        },
        "parallel_tool_calls": True,
        "tools": [],
        "tool_choice": "auto",
        "error": None,
        "incomplete_details": None,
        "metadata": {},
    }


def _responses_events(answer: Answer, model: str, unique: str) -> Iterator[Event]:
    whole = _responses_whole(answer, model, unique)
    empty: Json = {"content": [], "arguments": "", "input": "", "summary": []}

    def event(name: str, **members: Any) -> Event:
        return name, {"type": name, **members}

    created = {**whole, "status": "in_progress", "output": [], "usage": None}
    yield event("response.created", response=created)
    for index, item in enumerate(whole["output"]):
        begun = {**item, "status": "in_progress", **{k: v for k, v in empty.items() if k in item}}
        place = {"output_index": index, "item_id": item["id"]}
        yield event("response.output_item.added", output_index=index, item=begun)
        if item["type"] == "message":
            part = item["content"][0]
            place["content_index"] = 0
            yield event("response.content_part.added", part={**part, "text": ""}, **place)
            yield event("response.output_text.delta", delta=part["text"], **place)
            yield event("response.output_text.done", text=part["text"], **place)
            yield event("response.content_part.done", part=part, **place)
        elif item["type"] == "reasoning":
            part = item["summary"][0]
            place["summary_index"] = 0
            yield event("response.reasoning_summary_part.added", part={**part, "text": ""}, **place)
            yield event("response.reasoning_summary_text.delta", delta=part["text"], **place)
            yield event("response.reasoning_summary_text.done", text=part["text"], **place)
            yield event("response.reasoning_summary_part.done", part=part, **place)
        elif item["type"] == "function_call":
            arguments = item["arguments"]
            yield event("response.function_call_arguments.delta", delta=arguments, **place)
            yield event("response.function_call_arguments.done", arguments=arguments, **place)
        yield event("response.output_item.done", output_index=index, item=item)
    yield event("response.completed", response=whole)


# --- OpenAI Chat Completions


def _chat_messages(request: Json) -> Iterator[Message]:
    roles: dict[str, Role] = {"assistant": "model", "tool": "tool"}
    for message in request.get("messages", []):
        yield Message(roles.get(message["role"], "user"), text_of(message.get("content")))


def _chat_calls(answer: Answer, unique: str) -> list[Json]:
    return [
        {
            "id": f"call_{unique}_{number}",
            "type": "function",
            "function": {"name": call.name, "arguments": json.dumps(_arguments(call))},
        }
        for number, call in enumerate(answer.calls)
    ]


_CHAT_USAGE: Final = {"prompt_tokens": 100, "completion_tokens": 20, "total_tokens": 120}


def _chat_whole(answer: Answer, model: str, unique: str) -> Json:
    message: Json = {"role": "assistant", "content": answer.text or None}
    if answer.reasoning:
        message["reasoning_content"] = answer.reasoning
    if answer.calls:
        message["tool_calls"] = _chat_calls(answer, unique)
    reason = "tool_calls" if answer.calls else "stop"
    return {
        "id": f"chatcmpl-{unique}",
        "object": "chat.completion",
        "created": 1,
        "model": model,
        "choices": [{"index": 0, "message": message, "finish_reason": reason}],
        "usage": _CHAT_USAGE,
    }


def _chat_events(answer: Answer, model: str, unique: str) -> Iterator[Event]:
    def chunk(delta: Json, reason: str | None = None) -> Event:
        choices = [{"index": 0, "delta": delta, "finish_reason": reason}]
        return None, {**head, "choices": choices}

    head = {
        "id": f"chatcmpl-{unique}",
        "object": "chat.completion.chunk",
        "created": 1,
        "model": model,
    }
    if answer.reasoning:
        yield chunk({"role": "assistant", "reasoning_content": answer.reasoning})
    yield chunk({"role": "assistant", "content": answer.text or None})
    for index, call in enumerate(_chat_calls(answer, unique)):
        yield chunk({"tool_calls": [{"index": index, **call}]})
    yield chunk({}, "tool_calls" if answer.calls else "stop")
    yield None, {**head, "choices": [], "usage": _CHAT_USAGE}


# --- Gemini


def _gemini_messages(request: Json) -> Iterator[Message]:
    for content in request.get("contents", []):
        if content.get("role") == "model":
            yield Message("model", text_of(content))
            continue
        for part in content.get("parts", []):
            yield Message("tool" if "functionResponse" in part else "user", text_of(part))


def _gemini_whole(answer: Answer, model: str, unique: str) -> Json:
    parts: list[Json] = []
    if answer.reasoning:
        parts.append({"text": f"**A thought**\n{answer.reasoning}", "thought": True})
    if answer.text:
        parts.append({"text": answer.text})
    for number, call in enumerate(answer.calls):
        identifier = f"call_{unique}_{number}"
        named = {"id": identifier, "name": call.name, "args": _arguments(call)}
        parts.append({"functionCall": named})
    content = {"role": "model", "parts": parts}
    return {
        "candidates": [{"content": content, "finishReason": "STOP", "index": 0}],
        "usageMetadata": {
            "promptTokenCount": 100,
            "candidatesTokenCount": 20,
            "totalTokenCount": 120,
        },
        "modelVersion": model,
        "responseId": unique,
    }


def _gemini_events(answer: Answer, model: str, unique: str) -> Iterator[Event]:
    yield None, _gemini_whole(answer, model, unique)


ANTHROPIC: Final = WireFormat(_anthropic_messages, _anthropic_whole, _anthropic_events)
RESPONSES: Final = WireFormat(_responses_messages, _responses_whole, _responses_events)
CHAT: Final = WireFormat(_chat_messages, _chat_whole, _chat_events)
GEMINI: Final = WireFormat(_gemini_messages, _gemini_whole, _gemini_events)
