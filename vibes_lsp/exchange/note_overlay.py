"""Show what git-ai's notes say about lines, without importing them.

A note attests lines of its commit: those that git's blame gives to it. They are labelled by their
source and never count as verified: a note is as untrusted as who pushed it.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass

from vibes_lsp.agents.events import UNKNOWN
from vibes_lsp.anchors.text import Text
from vibes_lsp.exchange.brought_lines import BlamedFile, BroughtLines
from vibes_lsp.exchange.git_ai_notes import (
    MAX_NOTE,
    NOTES_REF,
    InvalidNote,
    attributed_lines,
    beyond,
    parse_note,
)
from vibes_lsp.git.line_origins import LineOrigin
from vibes_lsp.git.notes import list_notes
from vibes_lsp.git.objects import GitObjects
from vibes_lsp.git.repository import Repository
from vibes_lsp.model.members import Members


@dataclass(frozen=True, slots=True)
class LineNote:
    """Who wrote a line, as a note says.

    Attributes:
        tool: The tool.
        model: The model, or `unknown`.
        conversation: The tool's own id of the session.
        commit: The commit that the note is attached to.
    """

    tool: str
    model: str
    conversation: str
    commit: str

    def as_json(self) -> Members:
        """Return the author and the commit."""
        return asdict(self)


def notes_of_lines(repository: Repository, file: BlamedFile) -> BroughtLines[LineNote] | None:
    """Return what git-ai's notes say about the lines of a file; None if nothing."""
    notes = list_notes(repository, NOTES_REF)

    def note_of(origin: LineOrigin) -> LineNote | None:
        blob = notes.get(origin.commit)
        if blob is None:
            return None
        key = f"note {blob} {origin.commit} {origin.path}"
        known = repository.cache.get(key, dict[int, LineNote])
        if known is None:
            known = _notes_of_lines(repository.objects, origin.commit, origin.path, blob)
            repository.cache.put(key, known)
        return known.get(origin.number + 1)

    return file.brought(note_of) if notes else None


def _notes_of_lines(objects: GitObjects, commit: str, path: str, blob: str) -> dict[int, LineNote]:
    """Return what the note of a commit says about the lines of a file, 1-based."""
    note, entry = objects.contents(blob, MAX_NOTE), objects.entry(commit, path)
    file = None if entry is None else objects.contents(entry.id)
    try:
        log = None if note is None else parse_note(note)
    except InvalidNote:
        log = None
    if log is None or file is None or path not in log.files:
        return {}
    length = len(Text.from_bytes(file).lines)
    if beyond(log.files[path], length):
        return {}
    return {
        line: LineNote(session.tool_name, session.model or UNKNOWN, session.conversation, commit)
        for attributed in attributed_lines(log.files[path], length)
        if (session := log.sessions.get(attributed.key.partition("::")[0])) is not None
        for line in range(attributed.start, attributed.end + 1)
    }
