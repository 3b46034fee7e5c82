"""What the readers of agents' session files share: their lines, and the edits that they yield.

Session files are untrusted. They are read line by line, and most are excluded by their bytes. A
line that is broken or too long is left out: agents write while they work, and may be killed.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import BinaryIO, Final, TypeAlias

from vibes_lsp.agents.claude_like import checked_model, checked_version
from vibes_lsp.agents.events import Agent, AgentEvent, FileEdit, FilesEdited, SessionKey
from vibes_lsp.errors import MalformedJson, UnreadableFile
from vibes_lsp.model.canonical_json import FastDecoder, object_or_none, parse_json_prefix
from vibes_lsp.model.members import JsonValue, Members, objects, text
from vibes_lsp.model.timestamps import parse_timestamp
from vibes_lsp.store.files import open_file

Lines: TypeAlias = Iterable[tuple[int, Members]]
"""The objects of a file with their line numbers."""
RawLines: TypeAlias = Sequence[bytes]

_MAX_LINE: Final = 64 << 20
_CHUNK: Final = 1 << 20
_HEAD: Final = 1 << 16
_MAX_READ: Final = 16 << 20
"""Bytes that are read of the file of a session that runs, from the end."""
_ID_LENGTH: Final = 8
"""Characters of the session's id that every agent's file name has."""
_CREATED: Final = ("File created successfully", "Successfully created and wrote to new file")
_DECODER: Final = FastDecoder(dict[str, object])


@dataclass(frozen=True, slots=True)
class CurrentSession:
    """How the session file is read that an event names.

    Attributes:
        find: Returns the file of an event; None for a path that is not one of that session.
        reasoning: Returns what the model thought before the tool call of an event, from the lines
            of the file; None if they do not hold the call.
        model: Returns the model whose answer a line is; None where payloads name it.
        has_subagents: Whether subagents have files of their own, which name their model.
    """

    find: Callable[[AgentEvent], Path | None]
    reasoning: Callable[[RawLines, AgentEvent], list[str] | None]
    model: Callable[[Members], str | None] | None = None
    has_subagents: bool = False


@dataclass(frozen=True, slots=True)
class PastSessions:
    """Where an agent keeps the files of its sessions, and how their edits are read.

    Attributes:
        patterns: The files in the agent's folder.
        read: Yields the edits in a file.
        folder: The folder in the home folder, if it is not the agent's own.
        variable: The environment variable that names another such folder.
        has_unique_calls: Whether no two sessions have a tool call of the same name.
    """

    patterns: tuple[str, ...]
    read: Callable[[SessionFile], Iterator[AgentEdit]]
    folder: str = ""
    variable: str = ""
    has_unique_calls: bool = False


@dataclass(frozen=True, slots=True)
class AgentEdit:
    """An edit of one file that an agent made.

    Attributes:
        agent: The agent.
        session: Its session.
        call: What identifies the edit in the session: the tool call and the file's number in it.
        moment: When it was done.
        folder: The agent's current folder.
        edit: The edit.
        prompt: What was asked last before.
        model: The model, if known.
        version: The agent's version, if known.
        place: The session file with a line.
    """

    agent: Agent
    session: SessionKey
    call: str
    moment: datetime
    folder: str
    edit: FileEdit
    prompt: str | None
    model: str | None
    version: str | None
    place: str


@dataclass(slots=True)
class Reading:
    """What was read, apart from the edits.

    Attributes:
        files: How many session files of this repository were read.
        other_files: How many belong to other folders.
        broken_lines: How many lines are no JSON object, or too long.
        unreadable: The files that cannot be read, with the reason.
        missing_folders: How many sessions ran in folders that are no longer there.
    """

    files: int = 0
    other_files: int = 0
    broken_lines: int = 0
    unreadable: list[str] = field(default_factory=list)
    missing_folders: dict[str, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class SessionFile:
    """A file of past sessions.

    Attributes:
        path: The file.
        roots: The folders whose sessions count, absolute.
        reading: Gets what was read.
    """

    path: Path
    roots: Collection[str]
    reading: Reading

    def holds(self, folder: str) -> bool:
        """Return whether a folder is one of those that count, or below."""
        return any(
            folder == root or folder.startswith((f"{root.rstrip('/')}/", f"{root}\\"))
            for root in self.roots
        )

    def lines_if_named(self) -> Iterator[tuple[int, Members]]:
        """Yield the lines if the file names a folder that counts, anywhere; else note its own."""
        if self._names_root():
            yield from self.lines()
        else:
            self.reading.other_files += 1
            self._note_folder()

    def lines(self) -> Iterator[tuple[int, Members]]:
        """Yield the objects of a file with one on each line, or of a file that is one object."""
        self.reading.files += 1
        with open_file(self.path) as file:
            is_one_object = self.path.suffix == ".json"
            lines = [file.read(_MAX_LINE + 1)] if is_one_object else _raw_lines(file)
            for number, line in enumerate(lines, 1):
                if not line.strip():
                    continue
                members = None if len(line) > _MAX_LINE else _decode(line)
                if members is None:
                    self.reading.broken_lines += 1
                else:
                    yield number, members

    def _names_root(self) -> bool:
        """Return whether the file has one of the folders as JSON has it."""
        names = {
            json.dumps(root, ensure_ascii=ascii_only)[1:-1].encode("utf-8", "surrogateescape")
            for root in self.roots
            for ascii_only in (True, False)
        }
        longest = max(map(len, names), default=1)
        with open_file(self.path) as file:
            rest = b""
            while chunk := file.read(_CHUNK):
                window = rest + chunk
                if any(name in window for name in names):
                    return True
                rest = window[-longest:]
        return False

    def _note_folder(self) -> None:
        """Note the folder of a session if it is gone: the checkout may have been moved."""
        with open_file(self.path) as file:
            beginning = file.read(_HEAD).partition(b'"cwd":')[2].lstrip()
        try:
            folder = parse_json_prefix(beginning)
        except MalformedJson:
            return
        if isinstance(folder, str) and "\0" not in folder and not Path(folder).is_dir():
            missing = self.reading.missing_folders
            missing[folder] = missing.get(folder, 0) + 1


@dataclass(slots=True)
class SessionState:
    """What a reader knows at a line of a session file.

    Attributes:
        place: The file.
        folder: The agent's current folder.
        version: The agent's version.
        model: The model.
        prompts: The latest prompt, by subagent.
        calls: Name, input and model of the tool calls that have no result yet.
        done: The tool calls whose edits were read.
    """

    place: str
    folder: str = ""
    version: str | None = None
    model: str | None = None
    prompts: dict[str | None, str] = field(default_factory=dict)
    calls: dict[str, tuple[str, Members, str | None]] = field(default_factory=dict)
    done: set[str] = field(default_factory=set)

    def edits(
        self,
        event: AgentEvent | None,
        line: int,
        moment: JsonValue,
        call: str,
        *,
        model: str | None = None,
        agent: str | None = None,
    ) -> Iterator[AgentEdit]:
        """Yield the edits of an event; none if it is no edit, or its time is unknown.

        Args:
            event: The event.
            line: Where it was read.
            moment: When it was done, as the file says it.
            call: The tool call.
            model: The model, if the file names one for the call.
            agent: The subagent, where a file has several.
        """
        when = parse_timestamp(moment) if isinstance(moment, str) else None
        if event is None or when is None or not isinstance(event.action, FilesEdited):
            return
        for number, edit in enumerate(event.action.edits):
            yield AgentEdit(
                event.agent,
                event.session,
                f"{call} {number}",
                when,
                event.folder,
                edit,
                self.prompts.get(agent),
                checked_model(model or self.model),
                checked_version(self.version),
                f"{self.place}:{line}",
            )


def parsed(value: JsonValue | bytes) -> Members:
    """Return the object in a JSON text; an empty one for anything else."""
    return (object_or_none(value) if isinstance(value, str | bytes) else None) or {}


def joined_texts(parts: Sequence[Members]) -> str:
    """Return the texts of a message's parts."""
    return "\n".join(content for part in parts if (content := text(part, "text")))


def is_created(content: JsonValue) -> bool:
    """Return whether the answer of a tool says that it created a file."""
    answer = content if isinstance(content, str) else joined_texts(objects(content))
    return answer.startswith(_CREATED)


def last_lines(path: Path) -> list[bytes]:
    """Return the last lines of a session file; none if it cannot be read."""
    try:
        with open_file(path) as file:
            size = file.seek(0, 2)
            file.seek(max(0, size - _MAX_READ))
            lines = file.read(_MAX_READ).split(b"\n")
    except (OSError, UnreadableFile):
        return []
    if size > _MAX_READ:
        del lines[0]
    return lines


def lines_with(lines: RawLines, identifier: str | None) -> Iterator[tuple[int, bytes]]:
    """Yield the lines that have an identifier as a string, with their numbers."""
    if identifier:
        quoted = f'"{identifier}"'.encode("utf-8", "replace")
        yield from ((number, line) for number, line in enumerate(lines) if quoted in line)


def file_in_folder(path: Path, event: AgentEvent, folder: str) -> Path | None:
    """Return the file that a payload names for a session; None unless it is in the agent's folder.

    Args:
        path: The file, of the event's session or of a subagent beside it.
        event: The event; its payload is untrusted.
        folder: The name of the agent's folder.
    """
    session = event.session.id.partition("/")[0][:_ID_LENGTH]
    is_named = len(session) == _ID_LENGTH and session in (event.transcript or "")
    real_path = resolved(path) if is_named and path.suffix == ".jsonl" else None
    is_own = real_path is not None and folder in real_path.parts and folder in path.parts
    return real_path if is_own else None


def resolved(path: Path) -> Path | None:
    """Return an absolute path that exists with links resolved; None if its name is another then."""
    try:
        real_path = path.resolve(strict=True)
    except (OSError, RuntimeError, ValueError):
        return None
    return real_path if path.is_absolute() and real_path.name == path.name else None


def _raw_lines(file: BinaryIO) -> Iterator[bytes]:
    """Yield the lines of a file; of one that is too long only the beginning."""
    while line := file.readline(_MAX_LINE + 1):
        yield line
        while len(line) > _MAX_LINE and not line.endswith(b"\n"):
            line = file.readline(_MAX_LINE + 1)


def _decode(line: bytes) -> Members | None:
    members = _DECODER.decode(line)
    if members is not None:
        return members  # type: ignore[return-value]  # JSON has no other values
    return object_or_none(line)
