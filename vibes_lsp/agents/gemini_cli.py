"""Gemini CLI (tried with 0.61.0): payloads, configuration, trust and session files.

It marks no subagent: what one does is recorded in the session. `qwen_code` is a fork of it.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Final

from vibes_lsp.agents.agent import (
    IN_ANY_SHELL,
    CodingAgent,
    Form,
    Scope,
    ServerList,
    Trust,
    TrustState,
    TrustStep,
    UserHome,
)
from vibes_lsp.agents.claude_like import (
    call_content,
    checked_model,
    milliseconds,
    read_claude_like_event,
)
from vibes_lsp.agents.events import (
    Action,
    Agent,
    AgentEvent,
    CommandRun,
    FileEdit,
)
from vibes_lsp.agents.installation import read_settings
from vibes_lsp.agents.patches import read_unified_diff
from vibes_lsp.agents.session_files import (
    AgentEdit,
    CurrentSession,
    PastSessions,
    RawLines,
    SessionFile,
    SessionState,
    file_in_folder,
    joined_texts,
    parsed,
)
from vibes_lsp.agents.tool_calls import (
    absolute_path,
    exit_code,
    files_edited,
    files_read,
    inner,
    replacement,
)
from vibes_lsp.model.members import Members, integer, mapping, objects, text
from vibes_lsp.model.paths import MAX_PATH
from vibes_lsp.store.files import read_beginning

_EXIT_CODE: Final = re.compile(r"^Exit Code: (\d+)$", re.MULTILINE)
_FINISHED: Final = re.compile(r"^Process Group PGID: ", re.MULTILINE)


def _read_event(payload: Members) -> AgentEvent | None:
    """Return what happened; None for nothing to record."""
    event = read_claude_like_event(Agent.GEMINI_CLI, payload, tool_use)
    if event is None:
        return None
    call = call_content(text(payload, "tool_name"), mapping(payload, "tool_input"))
    return replace(event, call_content=call)


def tool_use(payload: Members) -> Action | None:
    """Return what a tool call did, by the payload of the event after it."""
    folder, members = text(payload, "cwd") or "", mapping(payload, "tool_input")
    response = mapping(payload, "tool_response")
    has_failed = "error" in payload or response.get("error") is not None
    match text(payload, "tool_name"):
        case "run_shell_command":
            return _command(payload, members, response)
        case "read_file" if not has_failed:
            return files_read(folder, text(members, "file_path") or text(members, "absolute_path"))
        case "write_file" | "replace" | "edit" if not has_failed:
            return files_edited(_edit(folder, members, inner(response, "returnDisplay")))
    return None


def _command(payload: Members, members: Members, response: Members) -> Action | None:
    command = text(members, "command")
    if not command:
        return None
    answer = text(payload, "error") or text(response, "llmContent") or ""
    code = exit_code(_EXIT_CODE, answer)
    # Gemini CLI leaves out an exit code of 0, and says what else ended a command.
    is_success = "error" not in payload and _FINISHED.search(answer) and "\nSignal: " not in answer
    if code is None and is_success and members.get("is_background") is not True:
        code = 0
    return CommandRun(command, code, text(response, "returnDisplay") or text(payload, "error"))


def _edit(folder: str, members: Members, display: Members) -> FileEdit | None:
    path = text(display, "filePath") or text(members, "file_path")
    if not path:
        return None
    edit = replacement(
        folder, {**members, "file_path": path}, ("file_path", "old_string", "new_string")
    ) or FileEdit(absolute_path(folder, path))
    replaces_all = members.get("allow_multiple") is True or members.get("replace_all") is True
    before, after = text(display, "originalContent"), text(display, "newContent")
    diff = text(display, "fileDiff") or ""
    statistics = mapping(display, "diffStat")
    by_person = any(integer(statistics, f"user_{name}_lines") for name in ("added", "removed"))
    is_new = display.get("isNewFile") is True or "\n@@ -0,0 " in diff
    return replace(
        edit,
        replace_all=replaces_all,
        before=before,
        after=after if after is not None else text(members, "content"),
        creates=is_new and not before,
        hunks=read_unified_diff(diff),
        changed_by_person=by_person,
    )


def _check_trust(_scope: Scope, project: Path, home: UserHome) -> Trust:
    return check_folder(AGENT, project, home, is_default=True)


def check_folder(agent: CodingAgent, project: Path, home: UserHome, *, is_default: bool) -> Trust:
    """Both agents keep rules for folders; the longest one that applies decides."""
    folder = agent.home_folder(home)
    security = mapping(read_settings(folder / "settings.json"), "security")
    is_wanted = mapping(security, "folderTrust").get("enabled", is_default)
    if is_wanted is not True:
        return Trust(TrustState.NOT_NEEDED)
    rules = read_settings(folder / "trustedFolders.json")
    longest, verdict = -1, ""
    for name in rules:
        rule = text(rules, name) or ""
        trusted = Path(name).parent if rule == "TRUST_PARENT" else Path(name)
        if len(name) > longest and project.is_relative_to(trusted.resolve()):
            longest, verdict = len(name), rule
    if verdict in ("TRUST_FOLDER", "TRUST_PARENT"):
        return Trust(TrustState.GIVEN, "the folder is trusted")
    if verdict == "DO_NOT_TRUST":
        return Trust(TrustState.MISSING, "the folder is marked as not trusted", "use /permissions")
    return Trust(
        TrustState.MISSING,
        "the folder is not trusted yet",
        f"start `{agent.programs[0]}` in the project and trust the folder when it asks",
    )


def _session_file(event: AgentEvent) -> Path | None:
    return own_file(event, ".gemini")


def own_file(event: AgentEvent, folder: str) -> Path | None:
    """Return the session file of an event; None for a subagent, whose file no payload names."""
    if event.session.parent is not None:
        return None
    return file_in_folder(Path(event.transcript or ""), event, folder)


def _model(line: Members) -> str | None:
    return checked_model(text(line, "model")) if text(line, "type") == "gemini" else None


def _reasoning(lines: RawLines, event: AgentEvent) -> list[str] | None:
    """Return the thoughts of the latest answer before the event, if it holds the call.

    The calls of an answer have no id in the payload, and are written when all of them are done.
    """
    moment = milliseconds(event.moment)
    for line in reversed(lines):
        members = parsed(line) if moment is not None and b'"gemini"' in line else {}
        answered = milliseconds(members.get("timestamp"))
        if text(members, "type") != "gemini" or answered is None or moment is None:
            continue
        if int(answered) <= int(moment):
            calls = [
                call_content(text(call, "name"), mapping(call, "args"))
                for call in objects(members.get("toolCalls"))
            ]
            if event.call_content not in calls:
                return None
            thoughts = objects(members.get("thoughts"))
            names = ("subject", "description")
            return ["\n".join(text(thought, name) or "" for name in names) for thought in thoughts]
    return None


def _read_edits(file: SessionFile) -> Iterator[AgentEdit]:
    """Yield the edits of a session of Gemini CLI, or of one of its subagents.

    Most of these files do not name the project. An older one is one object with all messages.
    """
    folder = _project_of(file)
    if folder is None:
        file.reading.other_files += 1
        return
    known = SessionState(str(file.path), folder)
    session, parent = "", None
    for line, members in file.lines():
        if text(members, "sessionId") and text(members, "projectHash"):
            session = session or text(members, "sessionId") or ""
            if text(members, "kind") == "subagent":
                parent = file.path.parent.name
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
                event = _read_event(
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


def _project_of(file: SessionFile) -> str | None:
    """Return the project of a session if it counts.

    The folder of a project's sessions has a file that names the project, or is named by its hash.
    """
    folder = next(parent for parent in file.path.parents if parent.name == "chats").parent
    beginning = read_beginning(folder / ".project_root", MAX_PATH)
    name = beginning.decode("utf-8", "replace").strip()
    if not name:
        return next((root for root in file.roots if _hash(root) == folder.name), None)
    return name if file.holds(name) else None


def _hash(folder: str) -> str:
    """Return what Gemini CLI calls a project by."""
    return hashlib.sha256(folder.encode("utf-8", "surrogateescape")).hexdigest()


AGENT: Final = CodingAgent(
    agent=Agent.GEMINI_CLI,
    slug="gemini-cli",
    programs=("gemini",),
    folder=".gemini",
    form=Form.GROUPS,
    project_file=".gemini/settings.json",
    user_file="settings.json",
    events=("SessionStart", "BeforeAgent", "AfterTool", "AfterAgent", "SessionEnd"),
    handler=IN_ANY_SHELL,
    trust=TrustStep.FOLDER,
    tried="0.61.0",
    read_event=_read_event,
    check_trust=_check_trust,
    servers=ServerList(".gemini/settings.json", "settings.json"),
    session=CurrentSession(_session_file, _reasoning, _model),
    past_sessions=PastSessions(
        ("tmp/*/chats/*.json", "tmp/*/chats/*.jsonl", "tmp/*/chats/*/*.jsonl"), _read_edits
    ),
)
