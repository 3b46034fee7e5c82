"""Show what git-ai's notes say about lines, without importing them.

A note attests lines of its commit: those that git's blame gives to it. They are labelled by their
source and never count as verified: a note is as untrusted as who pushed it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from vibes_lsp.agents.events import UNKNOWN
from vibes_lsp.anchors.text import Text
from vibes_lsp.exchange.brought_lines import BroughtLines, brought_lines
from vibes_lsp.exchange.git_ai_notes import (
    MAX_NOTE,
    NOTES_REF,
    InvalidNote,
    attributed_lines,
    beyond,
    parse_note,
)
from vibes_lsp.history.line_origins import LineOrigin
from vibes_lsp.history.notes import NotesRef
from vibes_lsp.history.objects import GitObjects
from vibes_lsp.index.project_locator import ProjectLocator
from vibes_lsp.model.members import Members

_MAX_KEPT: Final = 256
"""Files of commits with notes that are kept."""


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
        return {
            "tool": self.tool,
            "model": self.model,
            "conversation": self.conversation,
            "commit": self.commit,
        }


class NoteOverlay:
    """Reads git-ai's notes for files of a project; for one thread at a time.

    Nothing starts where there are no notes.

    Args:
        locator: The project's locator, which reads git's history.
    """

    def __init__(self, locator: ProjectLocator) -> None:
        self._locator = locator
        self._ref: NotesRef | None = None
        self._kept: dict[tuple[str, str, str], Mapping[int, LineNote]] = {}

    def of(self, path: str) -> BroughtLines[LineNote] | None:
        """Return what the notes say about the lines of a file; None if nothing."""
        repository = self._locator.repository
        if repository is None:
            return None
        if self._ref is None or self._ref.repository != repository:
            self._ref, self._kept = NotesRef(repository, NOTES_REF), {}
        notes = self._ref.notes()
        if not notes:
            return None

        def note_of(origin: LineOrigin) -> LineNote | None:
            blob = notes.get(origin.commit)
            if blob is None:
                return None
            key = origin.commit, origin.path, blob
            if key not in self._kept:
                while len(self._kept) >= _MAX_KEPT:
                    del self._kept[next(iter(self._kept))]
                self._kept[key] = _notes_of_lines(repository.objects, *key)
            return self._kept[key].get(origin.number + 1)

        noted = [each for each in self._locator.file_versions(path) if each.commit in notes]
        return brought_lines(self._locator, path, noted, note_of)


def _notes_of_lines(
    objects: GitObjects, commit: str, path: str, blob: str
) -> Mapping[int, LineNote]:
    """Return what the note of a commit says about the lines of a file, 1-based."""
    data, entry = objects.contents(blob, MAX_NOTE), objects.entry(commit, path)
    file = None if entry is None else objects.contents(entry.id)
    try:
        log = None if data is None else parse_note(data)
    except InvalidNote:
        log = None
    if log is None or file is None or path not in log.files:
        return {}
    length = len(Text.from_bytes(file).lines)
    if beyond(log.files[path], length):
        return {}
    return {
        line: LineNote(session.tool_name, session.model or UNKNOWN, session.conversation, commit)
        for each in attributed_lines(log.files[path], length)
        if (session := log.sessions.get(each.key.partition("::")[0])) is not None
        for line in range(each.start, each.end + 1)
    }
