"""opencode (tried with 1.18.33): what our plugin sends, configuration, and its sessions.

The plugin adds to `input` and `output` of a hook: the hook's name as `opencode`, the project's
folder as `cwd`, and what only other hooks say of the session: `model`, `parent` and `version`.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Mapping
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from vibes_lsp.agents.agent import CodingAgent, Form, ServerList
from vibes_lsp.agents.claude_like import checked_version, new_event
from vibes_lsp.agents.events import (
    Action,
    Agent,
    AgentEvent,
    CommandRun,
    FileEdit,
    FilesEdited,
    PromptSubmitted,
    SessionKey,
    TurnEnded,
)
from vibes_lsp.agents.patches import read_unified_diff
from vibes_lsp.agents.provenance_answers import provenance_asked
from vibes_lsp.agents.session_files import (
    AgentEdit,
    PastSessions,
    SessionFile,
    SessionState,
    parsed,
)
from vibes_lsp.agents.tool_calls import (
    absolute_path,
    edited_by_server,
    files_read,
    patched_files,
    replacement,
)
from vibes_lsp.errors import UnreadableFile
from vibes_lsp.model.members import Members, integer, mapping, objects, text

_TABLES: Final = ("session", "message", "part")


def _read_event(payload: Members) -> AgentEvent | None:
    """Return what happened; None for nothing to record."""
    call, output = mapping(payload, "input"), mapping(payload, "output")
    match text(payload, "opencode"):
        case "chat.message":
            message = mapping(output, "message")
            prompt = _prompt(output)
            action: Action | None = PromptSubmitted(prompt) if prompt else None
            session, call_id = text(message, "sessionID"), text(message, "id")
        case "tool.execute.after":
            action = _tool_use(text(payload, "cwd") or "", call, output)
            session, call_id = text(call, "sessionID"), text(call, "callID")
        case "session.idle":
            action, session, call_id = TurnEnded(), text(call, "sessionID"), None
        case _:
            return None
    if action is None or not session:
        return None
    event = new_event(
        Agent.OPENCODE,
        payload,
        SessionKey(session, text(payload, "parent")),
        action,
        call_id=call_id,
        model=text(payload, "model"),
        content=call.get("args"),
    )
    version = checked_version(text(payload, "version"))
    return None if event is None else replace(event, version=version)


def _prompt(output: Members) -> str:
    return "\n".join(
        text(part, "text") or ""
        for part in objects(output.get("parts"))
        if text(part, "type") == "text"
    )


def _tool_use(folder: str, call: Members, output: Members) -> Action | None:
    arguments, metadata = mapping(call, "args"), mapping(output, "metadata")
    path = text(arguments, "filePath")
    tool = text(call, "tool")
    asked = provenance_asked(tool, output)
    if asked is not None:
        return asked
    match tool:
        case "bash":
            command = text(arguments, "command")
            printed = text(metadata, "output")
            return CommandRun(command, integer(metadata, "exit"), printed) if command else None
        case "read":
            return files_read(folder, path)
        case "write":
            content = text(arguments, "content")
            if not path or content is None:
                return None
            is_new = metadata.get("exists") is False
            return FilesEdited((FileEdit(absolute_path(folder, path), is_new, after=content),))
        case "edit":
            names = ("filePath", "oldString", "newString")
            edit = replacement(folder, arguments, names, replace_all="replaceAll")
            diff = read_unified_diff(text(metadata, "diff") or "")
            return None if edit is None else FilesEdited((replace(edit, hunks=diff),))
        case "apply_patch":
            return _patch(folder, arguments, metadata)
    return edited_by_server(tool, folder, arguments, output)


def _patch(folder: str, arguments: Members, metadata: Members) -> FilesEdited | None:
    """Return the edits of a patch, with the diff that opencode adds for each file."""
    patched = patched_files(folder, text(arguments, "patchText") or "")
    diffs = {
        text(file, "filePath") or "": read_unified_diff(text(file, "patch") or "")
        for file in objects(metadata.get("files"))
    }
    return FilesEdited(
        tuple(replace(edit, hunks=diffs.get(edit.path, ())) for edit in patched.edits)
    )


def _read_edits(file: SessionFile) -> Iterator[AgentEdit]:
    """Yield the edits in opencode's database, which is only read.

    Raises:
        UnreadableFile: It is no such database.
    """
    path = file.path
    try:
        database = sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True)
    except sqlite3.Error as error:
        raise UnreadableFile(f"{path} cannot be opened: {error}") from None
    try:
        _check_tables(database, path)
        sessions = {}
        for row in database.execute("SELECT id, parent_id, directory, version FROM session"):
            if isinstance(row[0], str) and isinstance(row[2], str):
                if file.holds(row[2]):
                    sessions[row[0]] = row
                else:
                    file.reading.other_files += 1
        file.reading.files += bool(sessions)
        for identifier in sessions:
            yield from _session_edits(database, path, sessions, identifier)
    except sqlite3.Error as error:
        raise UnreadableFile(f"{path} cannot be read: {error}") from None
    finally:
        database.close()


def _check_tables(database: sqlite3.Connection, path: Path) -> None:
    """Refuse a database whose own code a query would run: a view or generated column may not end.

    Raises:
        UnreadableFile: It is one.
        sqlite3.Error: It cannot be read.
    """
    for name in _TABLES:
        kinds = database.execute("SELECT type FROM sqlite_master WHERE name = ?", (name,))
        columns = database.execute("SELECT hidden FROM pragma_table_xinfo(?)", (name,))
        if kinds.fetchall() != [("table",)] or any(hidden for (hidden,) in columns):
            raise UnreadableFile(f"{path} cannot be read: {name!r} is not a plain table")


def _session_edits(
    database: sqlite3.Connection,
    path: Path,
    sessions: Mapping[str, tuple[str, str | None, str, str | None]],
    identifier: str,
) -> Iterator[AgentEdit]:
    _, parent, folder, version = sessions[identifier]
    known = SessionState(str(path), folder, version)
    rows = database.execute(
        "SELECT part.rowid, message.data, part.data FROM part JOIN message"
        " ON message.id = part.message_id WHERE part.session_id = ?"
        " ORDER BY message.time_created, part.time_created, part.id",
        (identifier,),
    )
    for row, message_text, part_text in rows:
        message, part = parsed(message_text), parsed(part_text)
        state = mapping(part, "state")
        if text(message, "role") == "user" and text(part, "type") == "text":
            if part.get("synthetic") is not True:
                known.prompts[None] = text(part, "text") or ""
        elif text(part, "type") == "tool" and text(state, "status") == "completed":
            call = text(part, "callID") or ""
            event = _read_event(
                {
                    "opencode": "tool.execute.after",
                    "cwd": folder,
                    "parent": parent,
                    "input": {
                        "sessionID": identifier,
                        "callID": call,
                        "tool": text(part, "tool"),
                        "args": mapping(state, "input"),
                    },
                    "output": {"metadata": mapping(state, "metadata")},
                }
            )
            ended = integer(mapping(state, "time"), "end")
            moment = None if ended is None else _milliseconds(ended)
            model = text(message, "modelID")
            yield from known.edits(event, row, moment, call, model=model)


def _milliseconds(value: int) -> str | None:
    try:
        return datetime.fromtimestamp(value / 1000, UTC).isoformat()
    except (OverflowError, OSError, ValueError):
        return None


AGENT: Final = CodingAgent(
    agent=Agent.OPENCODE,
    slug="opencode",
    programs=("opencode",),
    folder=".config/opencode",
    variable="OPENCODE_CONFIG_DIR",
    form=Form.PLUGIN,
    project_file=".opencode/plugins/vibes.js",
    user_file="plugins/vibes.js",
    events=("session.created", "chat.message", "tool.execute.after", "session.idle"),
    tried="1.18.33",
    read_event=_read_event,
    servers=ServerList(
        "opencode.json",
        "opencode.json",
        member="mcp",
        base={"type": "local", "enabled": True},
        is_one_list=True,
    ),
    past_sessions=PastSessions(
        ("opencode/opencode.db",), _read_edits, ".local/share", "XDG_DATA_HOME"
    ),
)
