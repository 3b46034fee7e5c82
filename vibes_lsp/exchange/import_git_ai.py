"""Read git-ai's notes as edits to import: the attested lines in the version of each commit."""

from __future__ import annotations

import re
import uuid
from collections.abc import Iterator, Sequence
from typing import Final

from vibes_lsp.agents.events import UNKNOWN
from vibes_lsp.errors import HistoryUnavailable
from vibes_lsp.exchange.committed_versions import CommittedVersion, CommittedVersions
from vibes_lsp.exchange.git_ai_notes import (
    MAX_NOTE,
    NOTES_REF,
    AgentSession,
    Attestation,
    AuthorshipLog,
    InvalidNote,
    attributed_lines,
    beyond,
    parse_note,
)
from vibes_lsp.exchange.import_plan import (
    Candidate,
    ImportedEdit,
    ImportedSession,
    ImportEvidence,
    ImportSource,
    Refusal,
)
from vibes_lsp.exchange.record_imports import NOT_IN_PROJECT
from vibes_lsp.git.notes import list_notes, oldest_first
from vibes_lsp.git.objects import Commit
from vibes_lsp.git.repository import open_repository
from vibes_lsp.model.members import Members
from vibes_lsp.model.vocabulary import Action, PromptType
from vibes_lsp.recording.arguments import Model, Prompt, Tool
from vibes_lsp.recording.context import RecordingContext

FORMAT: Final = "git-ai"
_NAMESPACE: Final = uuid.UUID("0f6d1a0e-6f0c-4b77-9c0f-0f1f6a1d2b53")
_DATED: Final = re.compile(r"(.+?)-(\d{8})")

NOT_HERE: Final = "the commit of the note is not in the history of HEAD"
NOT_A_FILE: Final = "the commit does not have the file"
TOO_LARGE: Final = "the note is missing or too large"
UNDESCRIBED: Final = "the note does not describe the session"
NOT_INTRODUCED: Final = "the commit did not change these lines"
NO_PARENTS: Final = "the commit's parents are not in this shallow clone"
BEYOND_END: Final = "the file has fewer lines in the commit"
OTHER_VERSION: Final = "the note is about another version of the file"
BROKEN_LINE: Final = "a line of the note cannot be read"


def read_git_ai(context: RecordingContext) -> Iterator[Candidate]:
    """Yield the edits in the notes on the commits in HEAD's history, oldest first.

    Raises:
        HistoryUnavailable: The project is in no git repository, or git fails.
    """
    repository = open_repository(context.project)
    if repository is None:
        raise HistoryUnavailable(
            f"{context.project} is in no git repository", hint="git-ai's notes are in git"
        )
    notes = list_notes(repository, NOTES_REF)
    if not notes:
        raise HistoryUnavailable(
            f"there are no notes in {NOTES_REF}",
            hint=f"if others have them: git fetch origin {NOTES_REF}:{NOTES_REF}",
        )
    here = oldest_first(repository, notes)
    with CommittedVersions(repository, context.project) as versions:
        for name in here:
            commit = versions.commit(name)
            if commit is not None:
                yield from _read_note(versions, commit, notes[name])
    for name in sorted(notes.keys() - set(here)):
        yield Refusal(ImportSource(FORMAT, name, _place(name)), NOT_HERE)


def _read_note(versions: CommittedVersions, commit: Commit, blob: str) -> Iterator[Candidate]:
    whole = ImportSource(FORMAT, commit.id, _place(commit.id))
    note = versions.blob(blob)
    if note is None or len(note) > MAX_NOTE:
        yield Refusal(whole, TOO_LARGE)
        return
    try:
        log = parse_note(note)
    except InvalidNote as error:
        yield Refusal(whole, str(error))
        return
    for _ in range(log.broken_lines):
        yield Refusal(whole, BROKEN_LINE)
    for name, attestations in log.files.items():
        path = versions.project_path(name)
        version = None if path is None else versions.version(path, commit)
        if version is None:
            yield Refusal(whole, NOT_IN_PROJECT if path is None else NOT_A_FILE, name)
        else:
            yield from _read_file(version, log, attestations)


def _read_file(
    version: CommittedVersion, log: AuthorshipLog, attestations: Sequence[Attestation]
) -> Iterator[Candidate]:
    whole = ImportSource(FORMAT, version.commit, _place(version.commit))
    length = len(version.text.lines)
    if beyond(attestations, length):
        yield Refusal(whole, OTHER_VERSION, version.path)
        return
    for attributed in attributed_lines(attestations, length):
        session = log.sessions.get(attributed.key.partition("::")[0])
        source = ImportSource(FORMAT, attributed.key, _place(version.commit))
        for is_new, start, end in version.runs(attributed.start, attributed.end):
            if session is None:
                yield Refusal(source, UNDESCRIBED, version.path, start, end)
            elif not is_new:
                reason = NO_PARENTS if version.new_lines is None else NOT_INTRODUCED
                yield Refusal(source, reason, version.path, start, end)
            else:
                yield _edit(source, version, session, (start, end))


def _edit(
    source: ImportSource, version: CommittedVersion, session: AgentSession, lines: tuple[int, int]
) -> ImportedEdit:
    return ImportedEdit(
        source,
        version.path,
        *lines,
        action=Action.CREATE if version.is_new else Action.MODIFY,
        text=version.text,
        commit=version.commit,
        moment=version.moment,
        evidence=ImportEvidence.REVISION,
        tool=Tool(session.tool_name, UNKNOWN),
        model=model_of(session.model),
        session=ImportedSession(
            str(uuid.uuid5(_NAMESPACE, f"{session.tool}:{session.conversation}")),
            f"{session.tool_name} {session.conversation}, imported from git-ai",
        ),
        prompt=Prompt(session.prompt, PromptType.CHAT_MESSAGE) if session.prompt else None,
        extra=_extra(session),
        committed=version.committed,
    )


def _extra(session: AgentSession) -> Members:
    return {} if session.url is None else {"url": session.url}


def _place(commit: str) -> str:
    return f"note of {commit[:8]}"


def model_of(name: str) -> Model:
    """Return a model from its name, whose version is a date at the end."""
    dated = _DATED.fullmatch(name)
    if dated is not None:
        return Model(dated[1], dated[2])
    return Model(name or UNKNOWN, UNKNOWN)
