"""Codex (tried with 0.169.0): payloads, configuration, trust and session files.

A patch that is applied through the shell has no payload after it, and no payload has exit codes:
both are in the session file, one for each thread. It has the diff of every change of files, also
where a script or the shell applied it. Only files of older versions lack that; there the patches
themselves are read.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
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
from vibes_lsp.agents.claude_like import read_claude_like_event, subagent_key
from vibes_lsp.agents.events import (
    Action,
    Agent,
    AgentEvent,
    CommandRun,
    FileEdit,
    FilesEdited,
    SessionKey,
)
from vibes_lsp.agents.patches import read_unified_diff
from vibes_lsp.agents.session_files import (
    AgentEdit,
    CurrentSession,
    PastSessions,
    RawLines,
    SessionFile,
    SessionState,
    joined_texts,
    last_lines,
    lines_with,
    parsed,
    resolved,
)
from vibes_lsp.agents.tool_calls import absolute_path, patched_files
from vibes_lsp.model.members import JsonValue, Members, integer, mapping, objects, text
from vibes_lsp.model.paths import PathKind, path_kind
from vibes_lsp.model.vocabulary import SESSION_FILE
from vibes_lsp.store.files import is_inside

_HOME: Final = "CODEX_HOME"
_FILE_NAME: Final = re.compile(r"rollout-[\w.-]+\.jsonl")
_MIN_ID: Final = 8
_MAX_AGE: Final = 60_000
"""Milliseconds before the first known event of a session in which a change is its."""


def _read_event(payload: Members) -> AgentEvent | None:
    """Return what happened; None for nothing to record."""
    event = read_claude_like_event(Agent.CODEX, payload, _tool_use)
    if event is None:
        return None
    if isinstance(event.action, FilesEdited) and event.call_id:
        event = replace(event, identity=_edit_identity(event.call_id))
    transcript = text(payload, "agent_transcript_path")
    return event if transcript is None else replace(event, transcript=transcript)


def _edit_identity(call_id: str) -> str:
    """Return what identifies an edit, by a payload or by the session file."""
    return f"edit {call_id}"


def _tool_use(payload: Members) -> Action | None:
    command = text(mapping(payload, "tool_input"), "command")
    response = text(payload, "tool_response")
    if not command:
        return None
    match text(payload, "tool_name"):
        case "apply_patch":
            return _patched(text(payload, "cwd"), command, response)
        case "Bash":
            return CommandRun(command, None, response)
    return None


def _patched(folder: str | None, patch: str, answer: str | None) -> FilesEdited | None:
    """Return the edits of a patch, unless the answer says that it was not applied."""
    has_failed = answer is not None and not answer.startswith("Exit code: 0")
    return None if has_failed else patched_files(folder, patch)


@dataclass(frozen=True, slots=True)
class _CompletedItem:
    """A command or a change of files in a session file.

    Attributes:
        id: The tool call.
        completed: When it was done, in milliseconds.
        exit_code: Of a command.
        duration: Of a command, in milliseconds.
        edits: Of a change.
    """

    id: str
    completed: int
    exit_code: int | None = None
    duration: int | None = None
    edits: tuple[FileEdit, ...] = ()


class CodexSessionFiles:
    """Reads session files; each again only when it has grown.

    Args:
        project: The project; a session file in it is not read.
    """

    def __init__(self, project: Path) -> None:
        self._project = project
        self._items: dict[Path, tuple[int, tuple[_CompletedItem, ...]]] = {}

    def complete(self, event: AgentEvent) -> AgentEvent:
        """Return an event of a command with its exit code and duration, if they are known."""
        if not isinstance(event.action, CommandRun) or not event.call_id:
            return event
        for item in self._read(event):
            if item.id == event.call_id and not item.edits:
                code = item.exit_code if event.action.exit_code is None else event.action.exit_code
                return replace(
                    event, action=replace(event.action, exit_code=code, duration=item.duration)
                )
        return event

    def unreported_edits(
        self, event: AgentEvent, *, since: int | None, until: int, reported: Iterable[str | None]
    ) -> Iterator[tuple[int, AgentEvent]]:
        """Yield the edits before an event that no event reports, with their time in milliseconds.

        Args:
            event: An event of a session.
            since: When the event before it was received, in milliseconds; None if that is unknown.
            until: When the event was received.
            reported: The tool calls that events report.
        """
        known = set(reported)
        begin = until - _MAX_AGE if since is None else since
        for item in self._read(event):
            if item.edits and begin < item.completed <= until and item.id not in known:
                yield (
                    item.completed,
                    replace(
                        event,
                        action=FilesEdited(item.edits),
                        identity=_edit_identity(item.id),
                        call_id=item.id,
                        method=SESSION_FILE,
                    ),
                )

    def _read(self, event: AgentEvent) -> tuple[_CompletedItem, ...]:
        path = _session_file(event) if event.agent == Agent.CODEX else None
        if path is None or is_inside(path, self._project):
            return ()
        try:
            size = path.stat().st_size
        except OSError:
            return ()
        if path not in self._items or self._items[path][0] != size:
            items = tuple(item for line in last_lines(path) if (item := _item(line)) is not None)
            self._items[path] = size, items
        return self._items[path][1]


def _session_file(event: AgentEvent) -> Path | None:
    """Return the session file of an event in Codex's own folder; else None."""
    path = Path(event.transcript or "")
    session = event.session.id.rpartition("/")[2]
    is_named = _FILE_NAME.fullmatch(path.name) and session in path.name and len(session) >= _MIN_ID
    real_path = resolved(path) if is_named else None
    if real_path is None:
        return None
    home = os.environ.get(_HOME)
    is_own = ".codex" in real_path.parts or (home is not None and real_path.is_relative_to(home))
    return real_path if is_own else None


def _item(line: bytes) -> _CompletedItem | None:
    """Return the command or change that a line reports as completed."""
    if b'"item_completed"' not in line:
        return None
    payload = mapping(parsed(line), "payload")
    item, completed = mapping(payload, "item"), integer(payload, "completed_at_ms")
    identifier = text(item, "id")
    if text(payload, "type") != "item_completed" or not identifier or completed is None:
        return None
    match text(item, "type"):
        case "CommandExecution":
            code, duration = integer(item, "exit_code"), _milliseconds(mapping(item, "duration"))
            return _CompletedItem(identifier, completed, code, duration)
        case "FileChange" if text(item, "status") == "completed":
            edits = tuple(_changes(mapping(item, "changes"), ""))
            return _CompletedItem(identifier, completed, edits=edits) if edits else None
    return None


def _milliseconds(duration: Members) -> int | None:
    seconds, rest = integer(duration, "secs"), integer(duration, "nanos")
    if seconds is None or rest is None or seconds < 0 or rest < 0:
        return None
    return seconds * 1000 + rest // 1_000_000 + 1


def _changes(changes: Members, folder: str) -> Iterator[FileEdit]:
    """Yield the edits in a set of changes by path, in both forms that Codex has written."""
    for name in changes:
        path, change = absolute_path(folder, name), mapping(changes, name)
        if path_kind(path) != PathKind.ABSOLUTE:
            continue
        kind = text(change, "type") or next(iter(change), "")
        change = mapping(change, kind) or change
        match kind:
            case "add":
                content = text(change, "content")
                yield FileEdit(path, creates=True, after=content, may_overwrite=True)
            case "delete":
                yield FileEdit(path, deletes=True)
            case "update":
                moved = text(change, "move_path")
                if moved:
                    yield FileEdit(path, deletes=True)
                    path = absolute_path(folder, moved)
                hunks = read_unified_diff(text(change, "unified_diff") or "")
                yield FileEdit(path, hunks=hunks)


def _reasoning(lines: RawLines, event: AgentEvent) -> list[str] | None:
    """Return the summaries of the reasoning before the call, in the same answer of the model.

    A call that a script makes is named only when it is done. It is one of the script that then
    runs, unless a script of that turn still runs in the background.
    """
    for number, line in lines_with(lines, event.call_id):
        members = parsed(line)
        payload = mapping(members, "payload")
        kind = text(payload, "type")
        if kind in ("function_call", "custom_tool_call"):
            if text(payload, "call_id") == event.call_id:
                return _summaries(lines[:number])
        elif kind == "item_completed" and text(mapping(payload, "item"), "id") == event.call_id:
            script = _script(lines[:number])
            return [] if script is None else _summaries(lines[:script])
    return None


def _script(lines: RawLines) -> int | None:
    """Return the number of the line with the script that runs at the end of lines."""
    script: int | None = None
    for number in range(len(lines) - 1, -1, -1):
        payload = _payload(lines[number])
        match text(payload, "type"):
            case "task_started":
                return script
            case "custom_tool_call" if script is None:
                script = number
            case "custom_tool_call_output" | "function_call_output" if (
                script is None or _is_running(payload)
            ):
                return None
    return None


def _is_running(output: Members) -> bool:
    parts = [text(part, "text") or "" for part in objects(output.get("output"))]
    return any(part.startswith("Script running") for part in (*parts, text(output, "output") or ""))


def _summaries(lines: RawLines) -> list[str]:
    """Return the summaries in the answer of the model that lines end with."""
    summaries: list[str] = []
    for line in reversed(lines):
        if b'"token_usage_record"' in line:
            break
        payload = _payload(line)
        match text(payload, "type"):
            case "reasoning":
                summary = objects(payload.get("summary"))
                summaries.append("\n\n".join(text(part, "text") or "" for part in summary))
            case "custom_tool_call_output" | "function_call_output" | "task_started":
                break
            case "message" if text(payload, "role") != "assistant":
                break
    return summaries[::-1]


def _payload(line: bytes) -> Members:
    if b'"response_item"' not in line and b'"task_started"' not in line:
        return {}
    return mapping(parsed(line), "payload")


def _read_edits(file: SessionFile) -> Iterator[AgentEdit]:
    """Yield the edits of a thread."""
    thread = _Thread(file.path)
    for line, members in file.lines_if_named():
        payload, moment = mapping(members, "payload"), members.get("timestamp")
        edits, call = None, ""
        match text(members, "type"):
            case "session_meta":
                thread.start(payload)
            case "turn_context":
                thread.known.folder = text(payload, "cwd") or thread.known.folder
                thread.known.model = text(payload, "model") or thread.known.model
            case "event_msg":
                edits, call = thread.read_event(payload)
            case "response_item":
                edits, call = thread.read_item(payload)
        if edits is not None:
            event = AgentEvent(Agent.CODEX, thread.session_key(), "", thread.known.folder, edits)
            yield from thread.known.edits(event, line, moment, call)


class _Thread:
    """A thread of Codex, at a line of its file."""

    def __init__(self, path: Path) -> None:
        self.known = SessionState(str(path))
        self._session: Members = {}
        self._patches: dict[str, str] = {}

    def start(self, payload: Members) -> None:
        """Read the thread's own description; a fork has that of its parent as well, later."""
        self._session = self._session or payload
        self.known.folder = text(self._session, "cwd") or self.known.folder
        self.known.version = text(self._session, "cli_version")

    def session_key(self) -> SessionKey:
        """Return the session; that of a subagent is named as in a payload."""
        identifier = text(self._session, "id") or ""
        parent = text(self._session, "parent_thread_id")
        if not parent:
            return SessionKey(identifier)
        source = mapping(mapping(self._session, "source"), "subagent")
        role = text(mapping(source, "thread_spawn"), "agent_role") or "default"
        return subagent_key(text(self._session, "session_id") or parent, identifier, role)

    def read_event(self, payload: Members) -> tuple[FilesEdited | None, str]:
        """Read a prompt, or the files that a tool call changed."""
        item = mapping(payload, "item")
        match text(payload, "type"):
            case "user_message":
                self.known.prompts[None] = text(payload, "message") or ""
            case "item_completed" if text(item, "type") == "UserMessage":
                self.known.prompts[None] = joined_texts(objects(item.get("content")))
            case "item_completed" if text(item, "type") == "FileChange":
                if text(item, "status") == "completed":
                    return self._change(text(item, "id") or "", mapping(item, "changes"))
            case "patch_apply_end" if payload.get("success") is True:
                return self._change(text(payload, "call_id") or "", mapping(payload, "changes"))
        return None, ""

    def _change(self, call: str, changes: Members) -> tuple[FilesEdited | None, str]:
        if call in self.known.done:
            return None, ""
        self.known.done.add(call)
        return FilesEdited(tuple(_changes(changes, self.known.folder))), call

    def read_item(self, payload: Members) -> tuple[FilesEdited | None, str]:
        """Read a patch, or its result, unless the files that it changed are known."""
        call = text(payload, "call_id") or ""
        match text(payload, "type"):
            case "custom_tool_call" | "function_call":
                self._patches[call] = _patch_of(payload) or ""
            case "custom_tool_call_output" | "function_call_output":
                patch = self._patches.pop(call, "")
                if patch and call not in self.known.done:
                    answer = _answer(payload.get("output"))
                    return _patched(self.known.folder, patch, answer), call
        return None, ""


def _patch_of(payload: Members) -> str | None:
    """Return the patch of a call of `apply_patch`, directly or as the only command of a shell."""
    patch = text(payload, "input")
    if text(payload, "name") == "apply_patch" and patch is not None:
        return patch
    arguments = parsed(text(payload, "arguments"))
    if text(payload, "name") == "apply_patch":
        return text(arguments, "input")
    command = arguments.get("command")
    if isinstance(command, list) and len(command) == 2 and command[0] == "apply_patch":
        return command[1] if isinstance(command[1], str) else None
    return None


def _answer(output: JsonValue) -> str:
    answer = output if isinstance(output, str) else joined_texts(objects(output))
    code = integer(mapping(parsed(answer), "metadata"), "exit_code")
    return answer if code is None else f"Exit code: {code}"


def _check_trust(_scope: Scope, _project: Path, _home: UserHome) -> Trust:
    """Codex keeps a hash of each hook that a person approved."""
    return Trust(
        TrustState.UNKNOWN,
        "it runs only hooks that you approved exactly as they are",
        "start `codex` in the project, trust the folder if it asks, and approve the hooks in"
        " /hooks, after each change of the file again",
    )


AGENT: Final = CodingAgent(
    agent=Agent.CODEX,
    slug="codex",
    programs=("codex",),
    folder=".codex",
    variable=_HOME,
    form=Form.GROUPS,
    project_file=".codex/hooks.json",
    user_file="hooks.json",
    events=(
        "SessionStart",
        "UserPromptSubmit",
        "PostToolUse",
        "SubagentStart",
        "SubagentStop",
        "Stop",
        "SessionEnd",
    ),
    handler={**IN_SH, "commandWindows": "{cmd}"},
    trust=TrustStep.HOOKS,
    tried="0.169.0",
    read_event=_read_event,
    check_trust=_check_trust,
    servers=ServerList(".codex/config.toml", "config.toml", member=""),
    session=CurrentSession(_session_file, _reasoning),
    past_sessions=PastSessions(
        ("sessions/**/rollout-*.jsonl", "archived_sessions/rollout-*.jsonl"), _read_edits
    ),
)
