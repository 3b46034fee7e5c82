"""Claude Code (tried with 2.1.330): payloads, configuration, trust and session files."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Final

from vibes_lsp.agents.agent import (
    IN_SH,
    CodingAgent,
    Form,
    Scope,
    ServerList,
    Trust,
    TrustState,
    TrustStep,
    UserHome,
)
from vibes_lsp.agents.claude_like import checked_model, read_claude_like_event
from vibes_lsp.agents.events import (
    Action,
    Agent,
    AgentEvent,
    Choice,
    ChoicesMade,
    CommandRun,
    FileEdit,
)
from vibes_lsp.agents.installation import read_settings
from vibes_lsp.agents.patches import read_structured_patch
from vibes_lsp.agents.session_files import (
    AgentEdit,
    CurrentSession,
    PastSessions,
    RawLines,
    SessionFile,
    SessionState,
    file_in_folder,
    is_created,
    joined_texts,
    lines_with,
    parsed,
)
from vibes_lsp.agents.tool_calls import (
    absolute_path,
    exit_code,
    files_edited,
    files_read,
    replacement,
)
from vibes_lsp.errors import MalformedJson
from vibes_lsp.model.canonical_json import parse_object
from vibes_lsp.model.members import Members, mapping, objects, text
from vibes_lsp.store.files import read_beginning

_VARIABLE: Final = "CLAUDE_CONFIG_DIR"
_NO_PROMPTS: Final = ("<command-", "<local-command", "<bash-", "<system-reminder>", "[Request ")
"""How texts begin that Claude Code writes in the name of the user."""
_BESIDE: Final = 1 << 16
"""Bytes of the small file beside a subagent's session that are read."""
_EXIT_CODE: Final = re.compile(r"\AExit code (\d+)\b")


def _read_event(payload: Members) -> AgentEvent | None:
    """Return what happened; None for nothing to record."""
    return read_claude_like_event(Agent.CLAUDE_CODE, payload, _tool_use)


def _tool_use(payload: Members) -> Action | None:
    folder, members = text(payload, "cwd") or "", mapping(payload, "tool_input")
    response = mapping(payload, "tool_response")
    is_failure = text(payload, "hook_event_name") == "PostToolUseFailure"
    is_staged = response.get("staged") is True  # the file is unchanged
    match text(payload, "tool_name"):
        case "Bash":
            command = text(members, "command")
            error = text(payload, "error")
            code = exit_code(_EXIT_CODE, error) if is_failure else None
            if not is_failure and response.get("interrupted") is False:
                code = None if text(response, "backgroundTaskId") else 0
            output = error if is_failure else text(response, "stdout")
            return CommandRun(command, code, output) if command else None
        case "Read" if not is_failure:
            return files_read(folder, text(members, "file_path"))
        case "Edit" | "MultiEdit" | "Write" if not is_failure and not is_staged:
            return files_edited(_edit(folder, members, response))
        case "AskUserQuestion" if not is_failure:
            return _choices(members, response)
        case "NotebookEdit" if not is_failure and not is_staged:
            return files_edited(_notebook_edit(folder, members, response))
    return None


def _choices(members: Members, response: Members) -> ChoicesMade | None:
    """Return the answers that are one of the options; other answers are the person's own words.

    None if no person answered: after a time, Claude Code goes on by itself.
    """
    if "afkTimeoutMs" in response:
        return None
    answers, notes = mapping(response, "answers"), mapping(response, "annotations")
    choices: list[Choice] = []
    for asked in objects(members.get("questions")):
        question = text(asked, "question") or ""
        options = tuple(
            (label, text(option, "description") or label)
            for option in objects(asked.get("options"))
            if (label := text(option, "label"))
        )
        answer = None if "unanswered" in mapping(notes, question) else text(answers, question)
        if question and answer and answer in dict(options) and asked.get("multiSelect") is not True:
            choices.append(Choice(question, options, answer))
    return ChoicesMade(tuple(choices)) if choices else None


def _edit(folder: str, members: Members, response: Members) -> FileEdit | None:
    path, content = text(members, "file_path"), text(members, "content")
    if not path:
        return None
    names = ("file_path", "old_string", "new_string")
    edit = (
        FileEdit(absolute_path(folder, path), after=content)
        if content is not None
        else replacement(folder, members, names, replace_all="replace_all")
    )
    original = text(response, "originalFile")
    return replace(
        edit or FileEdit(absolute_path(folder, path)),
        before=original,
        creates=original is None and (text(response, "type") == "create" or _is_new(members)),
        after=content if content is not None else _created(members, original, response),
        hunks=read_structured_patch(response.get("structuredPatch")),
        changed_by_person=response.get("userModified") is True,
    )


def _notebook_edit(folder: str, members: Members, response: Members) -> FileEdit | None:
    path = text(members, "notebook_path")
    if not path or text(response, "error"):
        return None
    before, after = text(response, "original_file"), text(response, "updated_file")
    return FileEdit(absolute_path(folder, path), before=before, after=after)


def _is_new(members: Members) -> bool:
    """Return whether an edit creates a file: it replaces nothing."""
    return text(members, "old_string") == ""


def _created(members: Members, original: str | None, response: Members) -> str | None:
    is_created = _is_new(members) and (not original) and "originalFile" in response
    return text(members, "new_string") if is_created else None


def _check_trust(_scope: Scope, project: Path, home: UserHome) -> Trust:
    """`.claude.json` has each folder in which its question was answered."""
    if read_settings(AGENT.home_folder(home) / "settings.json").get("disableAllHooks") is True:
        return Trust(
            TrustState.MISSING,
            "disableAllHooks in its settings turns all hooks off",
            "remove disableAllHooks from its settings.json",
        )
    moved = home.variables.get(_VARIABLE)
    answers = (Path(moved) if moved else home.path) / ".claude.json"
    projects = mapping(read_settings(answers), "projects")
    if any(
        mapping(projects, str(folder)).get("hasTrustDialogAccepted") is True
        for folder in (project, *project.parents)
    ):
        return Trust(TrustState.GIVEN, "the folder is trusted")
    return Trust(
        TrustState.MISSING,
        "the folder is not trusted yet; `claude -p` runs the hooks nevertheless",
        "start `claude` in the project and trust the folder when it asks",
    )


def _session_file(event: AgentEvent) -> Path | None:
    """Return the file of a session, or of a subagent; None where it is not known."""
    path = Path(event.transcript or "")
    if event.session.parent is not None:
        agent_id = event.session.id.partition("/")[2]
        if not agent_id.isalnum():
            return None
        path = path.parent / path.stem / "subagents" / f"agent-{agent_id}.jsonl"
    return file_in_folder(path, event, ".claude")


def _model(line: Members) -> str | None:
    is_answer = text(line, "type") == "assistant"
    return checked_model(text(mapping(line, "message"), "model")) if is_answer else None


def _reasoning(lines: RawLines, event: AgentEvent) -> list[str] | None:
    """Return the thinking of the call's message: each block of it is a line of its own."""
    for number, line in lines_with(lines, event.call_id):
        message = _answer(line)
        before = _before(message, event.call_id)
        if before is not None:
            earlier = [
                block
                for _, other_line in lines_with(lines[:number], text(message, "id"))
                if b'"thinking"' in other_line
                and text(part := _answer(other_line), "id") == text(message, "id")
                for block in objects(part.get("content"))
            ]
            blocks = (*earlier, *before)
            thinking = [block for block in blocks if text(block, "type") == "thinking"]
            return [text(block, "thinking") or "" for block in thinking]
    return None


def _answer(line: bytes) -> Members:
    members = parsed(line)
    return mapping(members, "message") if text(members, "type") == "assistant" else {}


def _before(message: Members, call_id: str | None) -> list[Members] | None:
    """Return the blocks before a call; None if the message does not hold it."""
    blocks = objects(message.get("content"))
    for number, block in enumerate(blocks):
        if text(block, "type") == "tool_use" and text(block, "id") == call_id:
            return blocks[:number]
    return None


def _read_edits(file: SessionFile) -> Iterator[AgentEdit]:
    """Yield the edits of a session of Claude Code, or of one of its subagents."""
    known = SessionState(str(file.path))
    agent_type = _agent_type(file.path)
    for line, members in file.lines_if_named():
        known.folder = text(members, "cwd") or known.folder
        known.version = text(members, "version") or known.version
        message = mapping(members, "message")
        blocks = objects(message.get("content"))
        if text(members, "type") == "assistant":
            for block in blocks:
                if text(block, "type") == "tool_use":
                    call = (
                        text(block, "name") or "",
                        mapping(block, "input"),
                        text(message, "model"),
                    )
                    known.calls[text(block, "id") or ""] = call
        elif text(members, "type") == "user":
            asked = _prompt(members, message, blocks)
            if asked:
                known.prompts[None] = asked
            results = [block for block in blocks if text(block, "type") == "tool_result"]
            for block in results:
                identifier = text(block, "tool_use_id") or ""
                name, arguments, model = known.calls.pop(identifier, ("", {}, None))
                if block.get("is_error") is True or not name:
                    continue
                response = mapping(members, "toolUseResult") if len(results) == 1 else {}
                if not response and is_created(block.get("content")):
                    response = {"type": "create"}
                payload: Members = {
                    "hook_event_name": "PostToolUse",
                    "session_id": text(members, "sessionId"),
                    "agent_id": text(members, "agentId"),
                    "agent_type": agent_type,
                    "cwd": known.folder,
                    "tool_name": name,
                    "tool_input": arguments,
                    "tool_response": response,
                }
                event = _read_event(payload)
                yield from known.edits(
                    event, line, members.get("timestamp"), identifier, model=model
                )


def _prompt(members: Members, message: Members, blocks: Sequence[Members]) -> str:
    if any(members.get(name) is True for name in ("isMeta", "isCompactSummary")):
        return ""
    content = text(message, "content")
    if content is None:
        if any(text(block, "type") == "tool_result" for block in blocks):
            return ""
        content = joined_texts(blocks)
    return "" if content.lstrip().startswith(_NO_PROMPTS) else content


def _agent_type(path: Path) -> str | None:
    """Return the type of a subagent, which a small file beside its session names."""
    try:
        return text(
            parse_object(read_beginning(path.with_suffix(".meta.json"), _BESIDE)), "agentType"
        )
    except MalformedJson:
        return None


AGENT: Final = CodingAgent(
    agent=Agent.CLAUDE_CODE,
    slug="claude-code",
    programs=("claude",),
    folder=".claude",
    variable=_VARIABLE,
    form=Form.GROUPS,
    project_file=".claude/settings.json",
    user_file="settings.json",
    events=(
        "SessionStart",
        "UserPromptSubmit",
        "PostToolUse",
        "PostToolUseFailure",
        "SubagentStart",
        "SubagentStop",
        "Stop",
        "SessionEnd",
    ),
    handler=IN_SH,
    trust=TrustStep.FOLDER,
    tried="2.1.330",
    read_event=_read_event,
    check_trust=_check_trust,
    servers=ServerList(".mcp.json", ""),
    session=CurrentSession(_session_file, _reasoning, _model, has_subagents=True),
    past_sessions=PastSessions(
        ("projects/*/*.jsonl", "projects/*/*/subagents/*.jsonl"),
        _read_edits,
        has_unique_calls=True,
    ),
)
