"""What answers about one file rest on in its trail: while that stands, whatever else is recorded, they need not be worked out anew."""

from __future__ import annotations

from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from functools import cached_property

from vibes_lsp.index.columns import key_of
from vibes_lsp.index.file_history import FileHistory
from vibes_lsp.index.lineage import Lineage
from vibes_lsp.index.trail import Trail
from vibes_lsp.store.manifest import Manifest


class Dependencies:
    """The annotations of a file, what is said of them, and the context that they name, as they were when this was made.

    Args:
        trail: The trail, refreshed.
        path: Relative to the project, forward slashes.
        past: What history knows of the file's annotations.
    """

    def __init__(self, trail: Trail, path: str, past: FileHistory) -> None:
        self._trail, self._path, self._past = trail, path, past
        self._columns = trail.log.columns
        self._lineages = self._lineages_now()
        self._manifest = trail.manifest
        self._edges = len(self._columns.edge_types)
        self._sessions = {
            session
            for lineage in self._lineages
            if (session := lineage.current.text("session_id")) is not None
        }
        self._touched = self._touched_now()

    def hold(self) -> bool:
        """Whether the trail, refreshed since, says of the file what it said."""
        if self._trail.log.columns is not self._columns or self._lineages_now() != self._lineages:
            return False
        return (
            not self._is_named()
            and self._touched_now() == self._touched
            and self._has_its_entries()
        )

    @cached_property
    def _ids(self) -> AbstractSet[int]:
        return {key_of(identifier) for lineage in self._lineages for identifier in lineage.ids}

    @cached_property
    def _entries(self) -> AbstractSet[str]:
        return {key for lineage in self._lineages for key in lineage.entries}

    @cached_property
    def _unfolded(self) -> AbstractSet[str]:
        """The entries that were not in the manifest's file, but in the journal or missing."""
        return {key for key in self._entries if key not in self._manifest.stored}

    def _lineages_now(self) -> list[Lineage]:
        trail, past = self._trail, self._past
        found = [
            lineage
            for name in (self._path, *past.former_paths)
            for lineage in trail.lineages_in(name)
        ]
        return found + [
            lineage
            for identifier in past.arrivals
            if (lineage := trail.lineage_of(identifier)) is not None
        ]

    def _is_named(self) -> bool:
        """Whether a new edge names one of the annotations, as a review does."""
        sources, targets = self._columns.edge_sources, self._columns.edge_targets
        new = range(self._edges, len(self._columns.edge_types))
        if any(sources[number] in self._ids or targets[number] in self._ids for number in new):
            return True
        self._edges = new.stop
        return False

    def _touched_now(self) -> Sequence[int]:
        """Return in how many files each session was at work: risk counts that (R21)."""
        touched = self._columns.touched
        return [len(touched.get(session, ())) for session in self._sessions]

    def _has_its_entries(self) -> bool:
        """Whether the entries that the annotations name are as they were, and those that were missing are missing still."""
        before, now = self._manifest, self._trail.manifest
        looked_at = self._unfolded if now.stored is before.stored else self._entries
        if any(_stored(now, key) != _stored(before, key) for key in looked_at):
            return False
        self._manifest = now
        if now.stored is not before.stored:
            vars(self).pop("_unfolded", None)
        return True


def _stored(manifest: Manifest, key: str) -> bytes | None:
    return manifest.raw(key) if key in manifest else None
