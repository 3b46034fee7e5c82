"""The trail in numbers (`vibes stats`): what was recorded, what of it is current, by whom."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

from vibes_lsp.index.columns import Kind
from vibes_lsp.index.foreign import foreign_paths
from vibes_lsp.index.lineage import Lineage
from vibes_lsp.index.sessions import read_sessions
from vibes_lsp.index.trail import Trail
from vibes_lsp.model.members import Members
from vibes_lsp.model.tracking import Tracking
from vibes_lsp.reports.models import ModelShare, model_shares


@dataclass(frozen=True, slots=True)
class Stats:
    """A trail in numbers.

    Attributes:
        records: Lines of the log that hold a record.
        annotations: Edits that the log tells of; a back-filled or remapped record is no new one.
        current: Edits that are no one else's history.
        files: Files that current annotations are about.
        foreign: Of these, files that are not in this checkout (R19).
        untracked: Of these, files that the project does not track (R26).
        sessions: Sessions.
        open_sessions: Sessions that were never closed.
        entries: Context entries of the manifest.
        actions: Current annotations by action.
        levels: Current annotations by assurance level.
        models: Shares of tools and models.
    """

    records: int
    annotations: int
    current: int
    files: int
    foreign: int
    untracked: int
    sessions: int
    open_sessions: int
    entries: int
    actions: dict[str, int]
    levels: dict[str, int]
    models: list[ModelShare]

    def as_json(self) -> Members:
        """Return the numbers under the attributes' names in camelCase."""
        return {
            "records": self.records,
            "annotations": self.annotations,
            "current": self.current,
            "files": self.files,
            "foreignFiles": self.foreign,
            "untrackedFiles": self.untracked,
            "sessions": self.sessions,
            "openSessions": self.open_sessions,
            "entries": self.entries,
            "actions": dict(self.actions),
            "assuranceLevels": dict(self.levels),
            "models": [share.as_json() for share in self.models],
        }


def trail_stats(trail: Trail, tracking: Tracking) -> Stats:
    """Return the numbers of a refreshed trail."""
    lineages = trail.lineages()
    current = [lineage for lineage in lineages if not lineage.superseded_by]
    files = {lineage.current.text("file_path") or "" for lineage in current}
    sessions = read_sessions(trail.log)
    kinds = trail.log.columns.kinds
    return Stats(
        records=len(kinds) - kinds.count(Kind.BLANK) - kinds.count(Kind.BROKEN),
        annotations=len(lineages),
        current=len(current),
        files=len(files),
        foreign=len(foreign_paths(files, trail.directory.project)),
        untracked=sum(not tracking.tracks(path) for path in files),
        sessions=len(sessions),
        open_sessions=sum(session.is_open for session in sessions),
        entries=len(trail.manifest),
        actions=_counted(current, "action"),
        levels=_counted(current, "assurance_level"),
        models=model_shares(trail, lineages),
    )


def _counted(lineages: list[Lineage], name: str) -> dict[str, int]:
    values = (lineage.action if name == "action" else lineage.current.text(name) for lineage in lineages)
    return dict(Counter(value or "unknown" for value in values).most_common())
