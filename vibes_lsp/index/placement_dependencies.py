"""When the placements of a file must be computed again."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import cached_property
from typing import Any, Final

from vibes_lsp.index.file_history import FileHistory
from vibes_lsp.store.manifest import Manifest
from vibes_lsp.trail.lineage import Lineage
from vibes_lsp.trail.trail import Trail


class PlacementDependencies:
    """What the placements of a file were computed from, to detect when they are outdated.

    These are the file's lineages, the edges that name them, the context entries that they name, and
    how many files their sessions touched.

    Args:
        trail: The trail, refreshed.
        path: Relative to the project, forward slashes.
        history: What git knows about the file's annotations.

    Attributes:
        lineages: The lineages, as of the last renewal.
    """

    def __init__(self, trail: Trail, path: str, history: FileHistory) -> None:
        self._trail, self._path, self._history = trail, path, history
        self._epoch = trail.log.epoch
        self.lineages = self.current_lineages()
        self.renew(self.lineages, ())

    def renew(self, lineages: Sequence[Lineage], added: Iterable[Lineage]) -> None:
        """Depend on the trail as it is now.

        Args:
            lineages: As of `current_lineages`.
            added: Those that are new; the others have the same records as before.
        """
        self.lineages = lineages
        self._manifest = self._trail.manifest
        self._line = self._trail.last_line
        known, new = vars(self), list(added)
        for name, members_of in _MEMBERS:
            if new and name in known:  # the first question computes it
                known[name].update(members_of(new))

    def are_unchanged(self) -> bool:
        """Whether the refreshed trail would give the same placements."""
        return (
            self.has_same_log
            and self.current_lineages() == self.lineages
            and not self._has_new_edges_or_files()
            and self._has_same_entries()
        )

    @property
    def has_same_log(self) -> bool:
        """Whether the log has only grown."""
        return self._trail.log.epoch == self._epoch

    def current_lineages(self) -> Sequence[Lineage]:
        """Return the lineages of the file in the refreshed trail."""
        trail, history = self._trail, self._history
        found = trail.lineages_in(self._path)
        for name in history.former_paths:
            found += trail.lineages_in(name)
        for identifier in history.moved_in:
            if (lineage := trail.lineage_of(identifier)) is not None:
                found.append(lineage)
        return found

    @cached_property
    def _ids(self) -> set[str]:
        return _ids_of(self.lineages)

    @cached_property
    def _entries(self) -> set[str]:
        return _entries_of(self.lineages)

    @cached_property
    def _sessions(self) -> set[str]:
        return _sessions_of(self.lineages)

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


_MEMBERS: Final[tuple[tuple[str, Callable[[Iterable[Lineage]], set[Any]]], ...]] = (
    ("_ids", _ids_of),
    ("_entries", _entries_of),
    ("_sessions", _sessions_of),
)
"""The cached members of `PlacementDependencies` that grow with the lineages."""


def _stored(manifest: Manifest, key: str) -> bytes | None:
    return manifest.raw(key) if key in manifest else None
