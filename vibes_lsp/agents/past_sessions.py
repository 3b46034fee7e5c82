"""The edits in the session files that agents keep on this machine, of one repository."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable, Iterator, Mapping
from datetime import datetime
from pathlib import Path
from typing import Final

from vibes_lsp.agents.agent import CodingAgent, UserHome
from vibes_lsp.agents.all_agents import AGENTS
from vibes_lsp.agents.events import Agent
from vibes_lsp.agents.session_files import AgentEdit, Reading, SessionFile
from vibes_lsp.errors import UnreadableFile

READ_AGENTS: Final[Mapping[str, CodingAgent]] = {
    agent.slug: agent for agent in AGENTS if agent.past_sessions is not None
}
"""The agents whose session files are read, by their names on the command line."""


def session_files(
    agent: CodingAgent, home: Path, environment: Mapping[str, str] = os.environ
) -> list[Path]:
    """Return an agent's session files on this machine, oldest first."""
    sessions = agent.past_sessions
    if sessions is None:
        return []
    folder = agent.home_folder(UserHome(home, environment))
    if sessions.folder:
        folder = Path(environment.get(sessions.variable) or home / sessions.folder)
    paths = {path for pattern in sessions.patterns for path in folder.glob(pattern)}
    return sorted((path for path in paths if path.is_file()), key=_modified)


def read_edits(
    files: Iterable[tuple[CodingAgent, Path]],
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
        if agent.past_sessions is None or (
            since is not None and _modified(path) < since.timestamp()
        ):
            continue
        file = SessionFile(path, roots, reading)
        try:
            for edit in agent.past_sessions.read(file):
                # A session that was forked or resumed in a new file repeats what it began with.
                session = "" if agent.past_sessions.has_unique_calls else _root_session(edit)
                key = edit.agent, session, edit.call, edit.edit.path
                if key in known or not file.holds(edit.folder):
                    continue
                known.add(key)
                if since is None or edit.moment >= since:
                    yield edit
        except (OSError, UnreadableFile) as error:
            reading.unreadable.append(f"{path}: {error}")


def _root_session(edit: AgentEdit) -> str:
    return edit.session.parent or edit.session.id.partition("/")[0]


def _modified(path: Path) -> float:
    try:
        return path.stat().st_mtime
    except OSError:
        return 0.0
