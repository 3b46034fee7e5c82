"""Copilot CLI (tried with 1.0.102): payloads, configuration, trust and session files.

There are two forms of payloads: its own, in camel case and without an event name, and that of hooks
with capital names, which it also runs from Claude Code's settings. Both may report one event.
No payload names the model.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from vibes_lsp.agents.agent import (
    CodingAgent,
    Form,
    Scope,
    ServerList,
    Trust,
    TrustState,
    TrustStep,
    UserHome,
)
from vibes_lsp.agents.claude_like import milliseconds, new_event
from vibes_lsp.agents.events import (
    Action,
    Agent,
    AgentEvent,
    CommandRun,
    FileEdit,
    PromptSubmitted,
    SessionEnded,
    SessionKey,
    SessionStarted,
    TurnEnded,
)
from vibes_lsp.agents.installation import read_settings
from vibes_lsp.agents.provenance_answers import provenance_asked
from vibes_lsp.agents.session_files import AgentEdit, PastSessions, SessionFile, SessionState
from vibes_lsp.agents.tool_calls import (
    absolute_path,
    edited_by_server,
    exit_code,
    files_edited,
    files_read,
    patched_files,
    replacement,
)
from vibes_lsp.model.members import JsonValue, Members, mapping, text, texts

CONFIGURATION: Final = ".github/hooks/vibes.json"
EVENTS: Final = (
    "sessionStart",
    "userPromptSubmitted",
    "postToolUse",
    "subagentStart",
    "subagentStop",
    "agentStop",
    "sessionEnd",
)
HANDLER: Final = {"type": "command", "bash": "{sh}", "powershell": "{powershell}"}
BASE: Final[Members] = {"version": 1}
_EXIT_CODE: Final = re.compile(r"completed with exit code (\d+)>\s*\Z")
_PATCH: Final = "*** Begin Patch"


def _read_event(payload: Members) -> AgentEvent | None:
    """Return what happened; None for nothing to record."""
    arguments: JsonValue = payload.get("toolArgs", payload.get("tool_input"))
    action = _action(payload, arguments)
    if action is None:
        return None
    session = text(payload, "sessionId") or text(payload, "session_id") or ""
    agent_id = text(payload, "agentId") or text(payload, "agent_id")
    parent = text(payload, "parentAgentId") or text(payload, "parent_agent_id")
    kind = text(payload, "agentType") or text(payload, "agent_type")
    key = SessionKey(agent_id, parent, kind) if agent_id and parent else SessionKey(session)
    return new_event(
        Agent.COPILOT_CLI,
        payload,
        key,
        action,
        moment=milliseconds(payload.get("timestamp")),
        content=arguments if arguments is not None else text(payload, "prompt"),
    )


def _action(payload: Members, arguments: JsonValue) -> Action | None:
    tool_result = mapping(payload, "toolResult") or mapping(payload, "tool_result")
    if tool_result:
        return _tool_use(payload, arguments, tool_result)
    if isinstance(arguments, str | dict) or "hookName" in payload:  # before a tool, or it failed
        return None
    event = text(payload, "hook_event_name")
    prompt = text(payload, "prompt")
    if prompt and event in (None, "UserPromptSubmit", "UserPromptSubmitted"):
        return PromptSubmitted(prompt)
    if event in ("SessionEnd", "SubagentStop") or (event is None and _is_end(payload)):
        return SessionEnded()
    if event == "Stop" or (
        event is None and "stopReason" in payload and "agentName" not in payload
    ):
        return TurnEnded()
    if event == "SubagentStart" or (event is None and _is_start(payload)):
        return SessionStarted()
    return None


def _is_end(payload: Members) -> bool:
    is_subagent = "agentId" in payload and "response" in payload
    return is_subagent or ("reason" in payload and "stopReason" not in payload)


def _is_start(payload: Members) -> bool:
    is_subagent = "agentName" in payload and "stopReason" not in payload
    return is_subagent or "initialPrompt" in payload


def _tool_use(payload: Members, arguments: JsonValue, tool_result: Members) -> Action | None:
    folder = text(payload, "cwd") or ""
    output = text(tool_result, "textResultForLlm") or text(tool_result, "text_result_for_llm")
    if (text(tool_result, "resultType") or text(tool_result, "result_type")) not in (
        "success",
        None,
    ):
        return None
    if isinstance(arguments, str):
        return patched_files(folder, arguments) if arguments.startswith(_PATCH) else None
    members = arguments if isinstance(arguments, dict) else {}
    path = text(members, "path")
    tool = text(payload, "toolName") or text(payload, "tool_name")
    asked = provenance_asked(tool, output)
    if asked is not None:
        return asked
    match tool:
        case "bash" | "Bash":
            command = text(members, "command")
            return CommandRun(command, exit_code(_EXIT_CODE, output), output) if command else None
        case "view" | "Read":
            return files_read(folder, path)
        case "create" | "Write":
            content = text(members, "file_text")
            if not path or content is None:
                return None
            file = absolute_path(folder, path)
            return files_edited(FileEdit(file, creates=True, after=content, may_overwrite=True))
        case "edit" | "Edit":
            return files_edited(replacement(folder, members, ("path", "old_str", "new_str")))
    return edited_by_server(tool, folder, members, output)


def _check_trust(scope: Scope, project: Path, home: UserHome) -> Trust:
    if scope is Scope.USER:
        return Trust(TrustState.NOT_NEEDED)
    settings = read_settings(AGENT.home_folder(home) / "config.json")
    folders = texts(settings, "trustedFolders")
    if any(project.is_relative_to(Path(name).resolve()) for name in folders):
        return Trust(TrustState.GIVEN, "the folder is trusted")
    return Trust(
        TrustState.MISSING,
        "the folder is not in its trustedFolders, so it does not load the hooks",
        "start `copilot` in the project and trust the folder when it asks",
    )


def _read_edits(file: SessionFile) -> Iterator[AgentEdit]:
    """Yield the edits of a session of Copilot CLI and its subagents."""
    known = SessionState(str(file.path))
    session = file.path.parent.name
    kinds: dict[str | None, str | None] = {}
    for line, members in file.lines_if_named():
        data, agent = mapping(members, "data"), text(members, "agentId")
        match text(members, "type"):
            case "session.start" | "session.resume":
                session = text(data, "sessionId") or session
                known.folder = text(mapping(data, "context"), "cwd") or known.folder
                known.version = text(data, "copilotVersion") or known.version
            case "subagent.started":
                kinds[agent] = text(data, "agentType") or text(data, "agentName")
            case "user.message":
                known.prompts[agent] = text(data, "content") or ""
            case "tool.execution_start":
                call = text(data, "toolName") or "", data, text(data, "model")
                known.calls[text(data, "toolCallId") or ""] = call
            case "tool.execution_complete":
                identifier = text(data, "toolCallId") or ""
                name, start, model = known.calls.pop(identifier, ("", {}, None))
                if not name or data.get("success") is not True:
                    continue
                event = _read_event(
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


AGENT: Final = CodingAgent(
    agent=Agent.COPILOT_CLI,
    slug="copilot-cli",
    programs=("copilot",),
    folder=".copilot",
    variable="COPILOT_HOME",
    form=Form.ENTRIES,
    project_file=CONFIGURATION,
    user_file="hooks/vibes.json",
    events=EVENTS,
    handler=HANDLER,
    base=BASE,
    trust=TrustStep.FOLDER,
    tried="1.0.102",
    read_event=_read_event,
    check_trust=_check_trust,
    servers=ServerList(".mcp.json", "mcp-config.json", user_base={"type": "local", "tools": ["*"]}),
    past_sessions=PastSessions(("session-state/*/events.jsonl",), _read_edits),
)
