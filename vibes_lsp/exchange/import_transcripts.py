"""Read the session files of agents as edits to import: their lines in the commits that have them.

Only sessions that ran in a work tree of this repository count. A folder that is gone may have been
another checkout: then the user names it.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import lru_cache
from pathlib import Path, PurePosixPath
from typing import Final, TypeAlias

from vibes_lsp.agents.agent import CodingAgent
from vibes_lsp.agents.events import UNKNOWN, Agent, SessionKey
from vibes_lsp.agents.past_sessions import read_edits, session_files
from vibes_lsp.agents.session_files import AgentEdit, Reading
from vibes_lsp.errors import HistoryUnavailable
from vibes_lsp.exchange.commit_search import NOTHING_ADDED, CommitSearch, DatedEdit, FoundLines
from vibes_lsp.exchange.import_plan import (
    Candidate,
    ImportedEdit,
    ImportedSession,
    ImportEvidence,
    ImportSource,
    Refusal,
)
from vibes_lsp.exchange.record_imports import NOT_IN_PROJECT
from vibes_lsp.git.repository import Repository, open_repository
from vibes_lsp.ingest.record_events import session_id
from vibes_lsp.model.vocabulary import PromptType
from vibes_lsp.recording.arguments import Model, Prompt, Tool
from vibes_lsp.recording.context import RecordingContext
from vibes_lsp.trail.trail import Trail

Progress: TypeAlias = Callable[[str, int, int], None]

_AGENT_WORK_TREES: Final = (".claude", "worktrees")
"""Where Claude Code puts work trees, which it removes again."""
_MOST_NUMBERS: Final = 1_000


@dataclass(slots=True)
class TranscriptReader:
    """Reads the edits of agents' sessions on this machine.

    Attributes:
        home: The user's home folder.
        agents: The agents.
        since: Only edits from then on.
        former_folders: Folders in which this repository was checked out.
        progress: Is called with the session files that were read.
        reading: What was read.
    """

    home: Path
    agents: Sequence[CodingAgent]
    since: datetime | None = None
    former_folders: Sequence[str] = ()
    progress: Progress = lambda *_: None
    reading: Reading = field(default_factory=Reading)

    def read(self, context: RecordingContext) -> Iterator[Candidate]:
        """Yield the edits, those of one version of a file together; then those without lines.

        Raises:
            HistoryUnavailable: The project is in no git repository, or git fails.
        """
        repository = open_repository(context.project)
        if repository is None:
            raise HistoryUnavailable(
                f"{context.project} is in no git repository",
                hint="the lines of an edit are searched in git's history",
            )
        folders = _Checkouts(repository, self.former_folders)
        read: list[tuple[AgentEdit, DatedEdit]] = []
        for edit in self._edits(folders.roots):
            path = folders.relative(edit.edit.path)
            if path is None:
                yield Refusal(_source(edit), NOT_IN_PROJECT, edit.edit.path)
            else:
                dated = DatedEdit.compressed(path, edit.moment, edit.edit)
                read.append((replace(edit, edit=dated.edit), dated))
        read.sort(key=lambda pair: pair[1].moment)
        edits = [edit for edit, _ in read]
        prefix = repository.prefix_of(context.project)
        sessions = _Sessions(context.trail)
        with CommitSearch(repository, [dated for _, dated in read]) as search:
            for found_lines in search.search():
                yield _candidate(edits[found_lines.edit], found_lines, prefix, sessions)
        for number, reason in sorted(search.reasons.items()):
            yield Refusal(
                _source(edits[number]),
                NOTHING_ADDED if edits[number].edit.deletes else reason,
                read[number][1].path.removeprefix(prefix),
            )

    def _edits(self, roots: Sequence[str]) -> Iterator[AgentEdit]:
        files = [(agent, path) for agent in self.agents for path in session_files(agent, self.home)]
        return read_edits(_counted(files, self.progress), roots, self.reading, since=self.since)


def _counted(
    files: Sequence[tuple[CodingAgent, Path]], progress: Progress
) -> Iterable[tuple[CodingAgent, Path]]:
    for number, agent_file in enumerate(files):
        progress("Reading session files", number, len(files))
        yield agent_file
    progress("Reading session files", len(files), len(files))


class _Checkouts:
    """Finds the files of a repository by their paths in its checkouts.

    Args:
        repository: The repository.
        former: Folders in which it was checked out.

    Attributes:
        roots: The top folders of its checkouts, as agents may name them.
    """

    def __init__(self, repository: Repository, former: Sequence[str]) -> None:
        trees = [*map(str, repository.work_trees()), *former]
        named = {os.path.normpath(path) for path in trees}
        named |= {os.path.realpath(path) for path in trees}
        self.roots = sorted(named, key=len, reverse=True)  # the innermost one first

    def relative(self, path: str) -> str | None:
        """Return a file from the top of the work tree; None for one that is in no checkout."""
        try:
            forms = os.path.normpath(path), _resolved(path)
        except ValueError:  # no file can have this name
            return None
        for form in forms:
            for root in self.roots:
                if form.startswith(f"{root.rstrip(os.sep)}{os.sep}"):
                    parts = PurePosixPath(Path(form[len(root) :]).as_posix().lstrip("/")).parts
                    is_agents = parts[:2] == _AGENT_WORK_TREES and len(parts) > 3
                    return "/".join(parts[3:] if is_agents else parts)
        return None


def _resolved(path: str) -> str:
    """Return a path with the links of its folder resolved."""
    folder, name = os.path.split(path)
    return f"{_real_folder(folder)}{os.sep}{name}"


_real_folder = lru_cache(maxsize=1 << 12)(os.path.realpath)


class _Sessions:
    """Chooses the sessions of the trail for the sessions of agents.

    Args:
        trail: The trail, refreshed.
    """

    def __init__(self, trail: Trail) -> None:
        self._trail = trail

    def of(self, agent: Agent, key: SessionKey, moment: datetime) -> ImportedSession:
        """Return the session for an edit: one that hooks recorded, if it had begun by then."""
        parent = None if key.parent is None else self._id(agent, key.parent, moment)
        return ImportedSession(
            self._id(agent, key.id, moment), parent=parent, agent_type=key.agent_type
        )

    def _id(self, agent: Agent, identifier: str, moment: datetime) -> str:
        latest = None
        for number in range(1, _MOST_NUMBERS):
            session = self._trail.log.session(session_id(agent, identifier, number))
            if session is None:
                break
            if session.start is not None and session.start.moment <= moment:
                latest = session.id
        else:
            number = _MOST_NUMBERS
        if latest is not None:
            return latest
        # The hooks saw only a later part of it: the part before is a session of its own.
        return session_id(agent, identifier, 1 if number == 1 else 0)


def _candidate(
    edit: AgentEdit, found_lines: FoundLines, prefix: str, sessions: _Sessions
) -> Candidate:
    source = _source(edit)
    if not found_lines.path.startswith(prefix):
        return Refusal(source, NOT_IN_PROJECT, found_lines.path, found_lines.start, found_lines.end)
    prompt = Prompt(edit.prompt, PromptType.USER_INSTRUCTION) if edit.prompt else None
    return ImportedEdit(
        source,
        found_lines.path.removeprefix(prefix),
        found_lines.start,
        found_lines.end,
        found_lines.action,
        found_lines.text,
        found_lines.commit,
        edit.moment,
        ImportEvidence.REPLAY if found_lines.is_exact else ImportEvidence.TEXT,
        Tool(edit.agent.value, edit.version or UNKNOWN),
        Model(edit.model or UNKNOWN, UNKNOWN),
        sessions.of(edit.agent, edit.session, edit.moment),
        prompt,
    )


def _source(edit: AgentEdit) -> ImportSource:
    """Return what identifies an edit: the agent, its session, the tool call and the file."""
    name = edit.agent.value.lower().replace(" ", "-")
    return ImportSource(f"{name} session", f"{edit.session.id} {edit.call}", edit.place)
