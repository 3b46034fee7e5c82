"""Find the session files that agents keep on this machine, and read those of one repository.

Files are read line by line, and most are excluded by their bytes. A line that is broken or too long
is left out: agents write while they work, and may be killed.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import BinaryIO, Final

from vibes_lsp.agents.codex_sessions import read_codex
from vibes_lsp.agents.events import Agent
from vibes_lsp.agents.opencode_sessions import read_opencode
from vibes_lsp.agents.session_edits import AgentEdit, Lines
from vibes_lsp.agents.session_formats import (
    project_hash,
    read_claude_code,
    read_copilot_cli,
    read_gemini_cli,
    read_qwen_code,
)
from vibes_lsp.errors import MalformedJson, UnreadableFile
from vibes_lsp.model.canonical_json import (
    FastDecoder,
    object_or_none,
    parse_json_prefix,
)
from vibes_lsp.model.members import Members
from vibes_lsp.model.paths import MAX_PATH
from vibes_lsp.store.files import open_file, read_beginning

_MAX_LINE: Final = 64 << 20
_CHUNK: Final = 1 << 20
_HEAD: Final = 1 << 16
_DECODER: Final = FastDecoder(dict[str, object])

_PATTERNS: Final[Mapping[Agent, tuple[str, ...]]] = {
    Agent.CLAUDE_CODE: ("projects/*/*.jsonl", "projects/*/*/subagents/*.jsonl"),
    Agent.CODEX: ("sessions/**/rollout-*.jsonl", "archived_sessions/rollout-*.jsonl"),
    Agent.GEMINI_CLI: ("tmp/*/chats/*.json", "tmp/*/chats/*.jsonl", "tmp/*/chats/*/*.jsonl"),
    Agent.QWEN_CODE: ("projects/*/chats/*.jsonl", "projects/*/subagents/*/*.jsonl"),
    Agent.COPILOT_CLI: ("session-state/*/events.jsonl",),
    Agent.OPENCODE: ("opencode/opencode.db",),
}
_HOMES: Final[Mapping[Agent, tuple[str | None, str]]] = {
    Agent.CLAUDE_CODE: ("CLAUDE_CONFIG_DIR", ".claude"),
    Agent.CODEX: ("CODEX_HOME", ".codex"),
    Agent.GEMINI_CLI: (None, ".gemini"),
    Agent.QWEN_CODE: (None, ".qwen"),
    Agent.COPILOT_CLI: ("COPILOT_HOME", ".copilot"),
    Agent.OPENCODE: ("XDG_DATA_HOME", ".local/share"),
}
"""The variable that moves an agent's folder, and where it is in the home folder otherwise."""
AGENTS: Final[Mapping[str, Agent]] = {
    agent.value.lower().replace(" ", "-"): agent for agent in _PATTERNS
}
"""The agents whose session files are read, by their names on the command line."""


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


def session_files(
    agent: Agent, home: Path, environment: Mapping[str, str] = os.environ
) -> list[Path]:
    """Return an agent's session files on this machine, oldest first."""
    variable, default = _HOMES[agent]
    folder = Path(environment.get(variable or "") or home / default)
    found = {path for pattern in _PATTERNS[agent] for path in folder.glob(pattern)}
    return sorted((path for path in found if path.is_file()), key=_modified)


def read_edits(
    files: Iterable[tuple[Agent, Path]],
    roots: Collection[str],
    reading: Reading,
    *,
    since: datetime | None = None,
) -> Iterator[AgentEdit]:
    """Yield the edits of sessions that ran in some folders, each once.

    Args:
        files: The session files; of an edit that is in several, the first counts.
        roots: The folders, absolute.
        reading: Gets what was read.
        since: Only edits from then on.
    """
    known: set[tuple[Agent, str, str, str]] = set()
    for agent, path in files:
        if since is not None and _modified(path) < since.timestamp():
            continue
        try:
            for edit in _read_file(agent, path, roots, reading):
                root_session = edit.session.parent or edit.session.id.partition("/")[0]
                # A session that was forked or resumed in a new file repeats what it began with.
                session = "" if agent == Agent.CLAUDE_CODE else root_session
                key = agent, session, edit.call, edit.edit.path
                if key in known or not _is_in(edit.folder, roots):
                    continue
                known.add(key)
                if since is None or edit.moment >= since:
                    yield edit
        except (OSError, UnreadableFile) as error:
            reading.unreadable.append(f"{path}: {error}")


def _read_file(
    agent: Agent, path: Path, roots: Collection[str], reading: Reading
) -> Iterator[AgentEdit]:
    if agent == Agent.OPENCODE:
        return read_opencode(path, _counted(roots, reading))
    if agent == Agent.GEMINI_CLI:
        folder = _gemini_folder(path, roots)
        if folder is None:
            reading.other_files += 1
            return iter(())
        reading.files += 1
        return read_gemini_cli(_lines(path, reading), path, folder)
    if not _mentions(path, roots):
        reading.other_files += 1
        _note_folder(path, reading)
        return iter(())
    reading.files += 1
    return _READERS[agent](_lines(path, reading), path)


def _counted(roots: Collection[str], reading: Reading) -> Callable[[str], bool]:
    """Return a predicate for the folders of sessions, which counts those of other folders."""
    wanted: set[str] = set()

    def is_wanted(folder: str) -> bool:
        if not _is_in(folder, roots):
            reading.other_files += 1
            return False
        reading.files += not wanted
        wanted.add(folder)
        return True

    return is_wanted


_READERS: Final[Mapping[Agent, Callable[[Lines, Path], Iterator[AgentEdit]]]] = {
    Agent.CLAUDE_CODE: read_claude_code,
    Agent.CODEX: read_codex,
    Agent.QWEN_CODE: read_qwen_code,
    Agent.COPILOT_CLI: read_copilot_cli,
}


def _is_in(folder: str, roots: Collection[str]) -> bool:
    """Return whether a folder is one of some folders or below."""
    return any(
        folder == root or folder.startswith((f"{root.rstrip('/')}/", f"{root}\\")) for root in roots
    )


def _gemini_folder(path: Path, roots: Collection[str]) -> str | None:
    """Return the project of a session of Gemini CLI if it is one of some folders or below.

    The folder of its sessions has a file that names the project, or is named by its hash.
    """
    project = next(parent for parent in path.parents if parent.name == "chats").parent
    named = read_beginning(project / ".project_root", MAX_PATH).decode("utf-8", "replace").strip()
    if not named:
        return next((root for root in roots if project_hash(root) == project.name), None)
    return named if _is_in(named, roots) else None


def _mentions(path: Path, roots: Collection[str]) -> bool:
    """Return whether a file has one of some folders as JSON has it, anywhere."""
    wanted = {
        json.dumps(root, ensure_ascii=ascii_only)[1:-1].encode("utf-8", "surrogateescape")
        for root in roots
        for ascii_only in (True, False)
    }
    longest = max(map(len, wanted), default=1)
    with open_file(path) as file:
        rest = b""
        while chunk := file.read(_CHUNK):
            data = rest + chunk
            if any(each in data for each in wanted):
                return True
            rest = data[-longest:]
    return False


def _note_folder(path: Path, reading: Reading) -> None:
    """Note the folder of a session if it is no longer there: the checkout may have been moved."""
    with open_file(path) as file:
        text = file.read(_HEAD).partition(b'"cwd":')[2].lstrip()
    try:
        folder = parse_json_prefix(text)
    except MalformedJson:
        return
    if isinstance(folder, str) and "\0" not in folder and not Path(folder).is_dir():
        reading.missing_folders[folder] = reading.missing_folders.get(folder, 0) + 1


def _lines(path: Path, reading: Reading) -> Iterator[tuple[int, Members]]:
    """Yield the objects of a file with one on each line, or of a file that is one object."""
    with open_file(path) as file:
        if path.suffix == ".json":
            data = file.read(_MAX_LINE + 1)
            whole = _decode(data) if len(data) <= _MAX_LINE else None
            if whole is None:
                reading.broken_lines += 1
            else:
                yield 1, whole
            return
        for number, line in enumerate(_raw_lines(file), 1):
            if not line.strip():
                continue
            members = None if len(line) > _MAX_LINE else _decode(line)
            if members is None:
                reading.broken_lines += 1
            else:
                yield number, members


def _raw_lines(file: BinaryIO) -> Iterator[bytes]:
    """Yield the lines of a file; of one that is too long only the beginning."""
    while line := file.readline(_MAX_LINE + 1):
        yield line
        while len(line) > _MAX_LINE and not line.endswith(b"\n"):
            line = file.readline(_MAX_LINE + 1)


def _decode(line: bytes) -> Members | None:
    found = _DECODER.decode(line)
    if found is not None:
        return found  # type: ignore[return-value]  # JSON has no other values
    return object_or_none(line)


def _modified(path: Path) -> float:
    try:
        return path.stat().st_mtime
    except OSError:
        return 0.0
