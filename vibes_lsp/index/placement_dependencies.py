"""When the placements of a file must be computed again."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cached_property

from vibes_lsp.placing.placements import Placement
from vibes_lsp.store.manifest import Manifest
from vibes_lsp.trail.lineage import Lineage
from vibes_lsp.trail.trail import Trail


class PlacementDependencies:
    """What the placements of a file were computed from, to detect when they are outdated.

    These are the file's lineages, the edges that name them, the context entries that they name, and
    how many files their sessions touched.

    Args:
        trail: The trail, refreshed.
        names: The file, relative to the project, and the names that it had before.
        placements: The placements.
    """

    def __init__(self, trail: Trail, names: Sequence[str], placements: Iterable[Placement]) -> None:
        self._trail, self._names = trail, names
        self._moved_in = [each.lineage.first.id for each in placements if each.moved_from]
        self._epoch = trail.log.epoch
        self._lineages = self._current_lineages()
        self._manifest = trail.manifest
        self._line = trail.last_line

    def are_unchanged(self) -> bool:
        """Whether the refreshed trail would give the same placements."""
        return (
            self._trail.log.epoch == self._epoch
            and self._current_lineages() == self._lineages
            and not self._has_new_edges_or_files()
            and self._has_same_entries()
        )

    def _current_lineages(self) -> Sequence[Lineage]:
        """Return the lineages of the file in the refreshed trail."""
        trail = self._trail
        found = [lineage for name in self._names for lineage in trail.lineages_in(name)]
        moved = map(trail.lineage_of, self._moved_in)
        return [*found, *(lineage for lineage in moved if lineage is not None)]

    @cached_property
    def _ids(self) -> set[str]:
        return _ids_of(self._lineages)

    @cached_property
    def _entries(self) -> set[str]:
        return _entries_of(self._lineages)

    @cached_property
    def _sessions(self) -> set[str]:
        return _sessions_of(self._lineages)

    def _has_new_edges_or_files(self) -> bool:
        """Whether a new edge, such as a review, names one of the annotations.

        Or whether one of their sessions touched one more file: a risk signal (R21).
        """
        trail, line = self._trail, self._trail.last_line
        if line > self._line and (
            trail.has_new_edge(self._line, self._ids)
            or not self._sessions.isdisjoint(trail.sessions_with_new_files(self._line))
        ):
            return True
        self._line = line
        return False

    def _has_same_entries(self) -> bool:
        """Whether the entries that the annotations name are as they were, missing ones included."""
        before, now = self._manifest, self._trail.manifest
        if now.stored is before.stored:
            changed = now.journal.entries.changed_keys(before.journal.entries)
            compared = {key for key in changed & self._entries if key not in now.stored}
        else:
            compared = self._entries
        if any(_stored(now, key) != _stored(before, key) for key in compared):
            return False
        self._manifest = now
        return True


def _ids_of(lineages: Iterable[Lineage]) -> set[str]:
    return {identifier for lineage in lineages for identifier in lineage.ids}


def _entries_of(lineages: Iterable[Lineage]) -> set[str]:
    return {key for lineage in lineages for key in lineage.entry_keys}


def _sessions_of(lineages: Iterable[Lineage]) -> set[str]:
    found = (lineage.current.text("session_id") for lineage in lineages)
    return {session for session in found if session is not None}


def _stored(manifest: Manifest, key: str) -> bytes | None:
    return manifest.raw(key) if key in manifest else None
