"""Edits that may have overwritten a file, where the event does not say whether it was there.

Only git can tell. So a file that was overwritten, but never committed before, is taken for new.
"""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import Final

from vibes_lsp.errors import HistoryUnavailable
from vibes_lsp.history.file_walks import walk_files
from vibes_lsp.history.repository import open_repository
from vibes_lsp.ingest.events import AgentEvent, FileEdit, FilesEdited
from vibes_lsp.patience import FILE_HISTORY

_DELETED: Final = "000000"
"""The mode of a file that a commit deleted."""


def without_overwrites(event: AgentEvent, moment: datetime) -> AgentEvent:
    """Return an event that does not call files new which git had before it.

    The lines of such an edit are not known: some may have been there.

    Args:
        event: The event.
        moment: When it happened.
    """
    action = event.action
    if not isinstance(action, FilesEdited) or not any(each.may_overwrite for each in action.edits):
        return event
    edits = tuple(
        _overwrite(each) if each.may_overwrite and _was_committed(Path(each.path), moment) else each
        for each in action.edits
    )
    return replace(event, action=FilesEdited(edits))


def _overwrite(edit: FileEdit) -> FileEdit:
    written = edit.new if edit.after is None else edit.after
    return replace(edit, creates=False, after=written, old=None, new=None, hunks=())


def _was_committed(file: Path, moment: datetime) -> bool:
    """Return whether the latest commit before a moment that changed a file left it there."""
    folder = next((each for each in file.parents if each.is_dir()), file.parent)
    repository = open_repository(folder)
    head = None if repository is None else repository.head()
    if repository is None or head is None:
        return False
    try:
        name = repository.relative_path(file)
    except (HistoryUnavailable, OSError, RuntimeError, ValueError):
        return False
    changes = walk_files(repository, [head], [name], patience=FILE_HISTORY)[name].changes
    latest = next((change for change in changes if change.moment <= moment), None)
    return latest is not None and latest.mode != _DELETED
