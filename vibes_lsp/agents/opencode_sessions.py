"""Read the edits in opencode's database of sessions, which is only read."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from vibes_lsp.agents import opencode
from vibes_lsp.agents.session_edits import AgentEdit, SessionState, parsed
from vibes_lsp.errors import UnreadableFile
from vibes_lsp.model.members import integer, mapping, text

_TABLES: Final = ("session", "message", "part")


def read_opencode(path: Path, is_wanted: Callable[[str], bool]) -> Iterator[AgentEdit]:
    """Yield the edits in opencode's database.

    Args:
        path: The database; it is only read.
        is_wanted: Whether sessions in a folder are wanted.

    Raises:
        UnreadableFile: It is no such database.
    """
    try:
        database = sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True)
    except sqlite3.Error as error:
        raise UnreadableFile(f"{path} cannot be opened: {error}") from None
    try:
        _check_tables(database, path)
        sessions = {
            row[0]: row
            for row in database.execute("SELECT id, parent_id, directory, version FROM session")
            if isinstance(row[0], str) and isinstance(row[2], str) and is_wanted(row[2])
        }
        for identifier in sessions:
            yield from _opencode_session(database, path, sessions, identifier)
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


def _opencode_session(
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
            event = opencode.read_event(
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
