"""Read the edits in session files of Claude Code, Gemini CLI, Qwen Code and Copilot CLI.

A tool call is given to the reader of that agent's hook payloads in `ingest`, so that an edit means
the same whether a hook or a session file reports it. Session files are untrusted.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

from vibes_lsp.agents import claude_code, copilot_cli, gemini_cli
from vibes_lsp.agents.session_edits import (
    AgentEdit,
    Lines,
    SessionState,
    joined_texts,
)
from vibes_lsp.errors import MalformedJson
from vibes_lsp.model.canonical_json import parse_object
from vibes_lsp.model.members import JsonValue, Members, mapping, objects, text
from vibes_lsp.store.files import read_beginning

_NO_PROMPTS: Final = ("<command-", "<local-command", "<bash-", "<system-reminder>", "[Request ")
"""How texts begin that Claude Code writes in the name of the user."""
_CREATED: Final = ("File created successfully", "Successfully created and wrote to new file")


def read_claude_code(lines: Lines, path: Path) -> Iterator[AgentEdit]:
    """Yield the edits of a session of Claude Code, or of one of its subagents."""
    known = SessionState(str(path))
    agent_type = _beside(path, ".meta.json", "agentType")
    for line, members in lines:
        known.folder = text(members, "cwd") or known.folder
        known.version = text(members, "version") or known.version
        message = mapping(members, "message")
        blocks = objects(message.get("content"))
        if text(members, "type") == "assistant":
            for each in blocks:
                if text(each, "type") == "tool_use":
                    call = text(each, "name") or "", mapping(each, "input"), text(message, "model")
                    known.calls[text(each, "id") or ""] = call
        elif text(members, "type") == "user":
            asked = _claude_prompt(members, message, blocks)
            if asked:
                known.prompts[None] = asked
            results = [each for each in blocks if text(each, "type") == "tool_result"]
            for each in results:
                identifier = text(each, "tool_use_id") or ""
                name, given, model = known.calls.pop(identifier, ("", {}, None))
                if each.get("is_error") is True or not name:
                    continue
                response = mapping(members, "toolUseResult") if len(results) == 1 else {}
                if not response and _is_created(each.get("content")):
                    response = {"type": "create"}
                payload: Members = {
                    "hook_event_name": "PostToolUse",
                    "session_id": text(members, "sessionId"),
                    "agent_id": text(members, "agentId"),
                    "agent_type": agent_type,
                    "cwd": known.folder,
                    "tool_name": name,
                    "tool_input": given,
                    "tool_response": response,
                }
                event = claude_code.read_event(payload)
                yield from known.edits(
                    event, line, members.get("timestamp"), identifier, model=model
                )


def _claude_prompt(members: Members, message: Members, blocks: Sequence[Members]) -> str:
    if any(members.get(name) is True for name in ("isMeta", "isCompactSummary")):
        return ""
    content = text(message, "content")
    if content is None:
        if any(text(each, "type") == "tool_result" for each in blocks):
            return ""
        content = joined_texts(blocks)
    return "" if content.lstrip().startswith(_NO_PROMPTS) else content


def read_gemini_cli(lines: Lines, path: Path, folder: str) -> Iterator[AgentEdit]:
    """Yield the edits of a session of Gemini CLI, or of one of its subagents.

    Args:
        lines: The file's objects; an older file is one object with all messages.
        path: The file.
        folder: The project, which most of these files do not name.
    """
    known = SessionState(str(path), folder)
    session, parent = "", None
    for line, members in lines:
        if text(members, "sessionId") and text(members, "projectHash"):
            session = session or text(members, "sessionId") or ""
            if text(members, "kind") == "subagent":
                parent = path.parent.name
        for message in objects(members.get("messages")) or [members]:
            if text(message, "type") == "user":
                content = message.get("content")
                asked = content if isinstance(content, str) else joined_texts(objects(content))
                if asked and not asked.startswith("<session_context>"):
                    known.prompts[None] = asked
                continue
            for call in objects(message.get("toolCalls")):
                identifier = text(call, "id") or ""
                if text(call, "status") != "success" or identifier in known.done:
                    continue
                known.done.add(identifier)
                event = gemini_cli.read_event(
                    {
                        "hook_event_name": "AfterTool",
                        "session_id": parent or session,
                        "agent_id": session if parent else None,
                        "cwd": known.folder,
                        "tool_name": text(call, "name"),
                        "tool_input": mapping(call, "args"),
                        "tool_response": {"returnDisplay": call.get("resultDisplay")},
                    }
                )
                moment = text(call, "timestamp") or text(message, "timestamp")
                model = text(message, "model")
                yield from known.edits(event, line, moment, identifier, model=model)


def read_qwen_code(lines: Lines, path: Path) -> Iterator[AgentEdit]:
    """Yield the edits of a session of Qwen Code, or of one of its subagents."""
    known = SessionState(str(path))
    for line, members in lines:
        known.folder = text(members, "cwd") or known.folder
        known.version = text(members, "version") or known.version
        parts = objects(mapping(members, "message").get("parts"))
        if text(members, "type") == "user" and members.get("provenance") in (None, "real_user"):
            known.prompts[None] = joined_texts(parts) or known.prompts.get(None, "")
        for each in parts:
            call, result = mapping(each, "functionCall"), mapping(each, "functionResponse")
            if call:
                model = text(members, "model")
                known.calls[text(call, "id") or ""] = (
                    text(call, "name") or "",
                    mapping(call, "args"),
                    model,
                )
            elif result:
                yield from _qwen_result(known, line, members, result)


def _qwen_result(
    known: SessionState, line: int, members: Members, result: Members
) -> Iterator[AgentEdit]:
    identifier = text(result, "id") or ""
    name, given, model = known.calls.pop(identifier, ("", {}, None))
    told = mapping(members, "toolCallResult")
    response = mapping(result, "response")
    if not name or "error" in response or text(told, "status") not in (None, "success"):
        return
    display = mapping(told, "resultDisplay")
    if not display and _is_created(response.get("output")):
        display = {"isNewFile": True}
    event = gemini_cli.read_qwen_event(
        {
            "hook_event_name": "PostToolUse",
            "session_id": text(members, "sessionId"),
            "agent_id": text(members, "agentId"),
            "agent_type": text(members, "agentName"),
            "cwd": known.folder,
            "tool_name": name,
            "tool_input": given,
            "tool_response": {"returnDisplay": display},
        }
    )
    yield from known.edits(event, line, members.get("timestamp"), identifier, model=model)


def read_copilot_cli(lines: Lines, path: Path) -> Iterator[AgentEdit]:
    """Yield the edits of a session of Copilot CLI and its subagents."""
    known = SessionState(str(path))
    session = path.parent.name
    kinds: dict[str | None, str | None] = {}
    for line, members in lines:
        given, agent = mapping(members, "data"), text(members, "agentId")
        match text(members, "type"):
            case "session.start" | "session.resume":
                session = text(given, "sessionId") or session
                known.folder = text(mapping(given, "context"), "cwd") or known.folder
                known.version = text(given, "copilotVersion") or known.version
            case "subagent.started":
                kinds[agent] = text(given, "agentType") or text(given, "agentName")
            case "user.message":
                known.prompts[agent] = text(given, "content") or ""
            case "tool.execution_start":
                call = text(given, "toolName") or "", given, text(given, "model")
                known.calls[text(given, "toolCallId") or ""] = call
            case "tool.execution_complete":
                identifier = text(given, "toolCallId") or ""
                name, start, model = known.calls.pop(identifier, ("", {}, None))
                if not name or given.get("success") is not True:
                    continue
                event = copilot_cli.read_event(
                    {
                        "sessionId": session,
                        "agentId": agent,
                        "parentAgentId": session if agent else None,
                        "agentType": kinds.get(agent),
                        "cwd": known.folder,
                        "toolName": name,
                        "toolArgs": start.get("arguments"),
                        "toolResult": {"resultType": "success"},
                    }
                )
                moment = members.get("timestamp")
                yield from known.edits(event, line, moment, identifier, model=model, agent=agent)


def project_hash(folder: str) -> str:
    """Return what Gemini CLI calls a project by."""
    return hashlib.sha256(folder.encode("utf-8", "surrogateescape")).hexdigest()


def _beside(path: Path, suffix: str, name: str) -> str | None:
    """Return a member of the small file that lies beside a session file."""
    try:
        return text(parse_object(read_beginning(path.with_suffix(suffix), 1 << 16)), name)
    except MalformedJson:
        return None


def _is_created(content: JsonValue) -> bool:
    told = content if isinstance(content, str) else joined_texts(objects(content))
    return told.startswith(_CREATED)
