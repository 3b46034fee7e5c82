"""Find versions older than an edit that have its text: then matching anchors prove nothing (R14).

Each version is read once for all annotations of its file, and results are cached until HEAD moves.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final, TypeAlias

from vibes_lsp.anchors.line_map import LineMaps
from vibes_lsp.anchors.locate import locate_sure
from vibes_lsp.anchors.location import AnchoredRange, OriginalText
from vibes_lsp.anchors.occurrences import parse_context
from vibes_lsp.anchors.text import Text, encode
from vibes_lsp.history.file_versions import Version
from vibes_lsp.history.project_history import ProjectHistory
from vibes_lsp.model.vocabulary import Action
from vibes_lsp.trail.lineage import Lineage

_MAX_BYTES: Final = 24 << 20
"""Approximate limit of the bytes read of all versions of one file."""
_ALL_OLDER: Final = 32
"""Newest versions before an edit, all of which are read; of older ones, up to `_MAX_BYTES`."""
_MAX_COMPARED: Final = 8
"""How many of the newest versions that may have a text are compared, and how many others."""

OlderVersions: TypeAlias = dict[str, tuple[tuple[str, int, datetime], tuple[Version, ...]]]
"""A cache by first record's id: the searched history, and the versions that may have the text."""


@dataclass(frozen=True, slots=True)
class SearchedAnnotation:
    """An annotation whose text is searched for in history.

    Attributes:
        lineage: The annotation.
        path: The file that it is recorded for.
        recorded_range: Its range and anchors.
        commit: The commit that it came with; None if unknown.
        earliest_edit: Commits before this time are older than the edit; None if unknown.
        commits: All commits known to have introduced it; some may be rewrites of others.
    """

    lineage: Lineage
    path: str
    recorded_range: AnchoredRange
    commit: str | None
    earliest_edit: datetime | None
    commits: tuple[str, ...] = ()

    @property
    def id(self) -> str:
        """The id of its first record."""
        return self.lineage.first.id

    def versions_before_edit(self, versions: Sequence[Version]) -> list[Version]:
        """Return the versions that were committed before the edit, newest first.

        Args:
            versions: The versions of its file, newest first.
        """
        earliest = self.earliest_edit
        if earliest is None or self.lineage.action == Action.REVIEW:
            return []
        others = versions[len(self.versions_since_edit(versions)) :]
        return [version for version in others if version.moment < earliest]

    def versions_since_edit(self, versions: Sequence[Version]) -> Sequence[Version]:
        """Return the versions from the oldest commit of the edit on, by order and not by clock."""
        if not self.commits:
            return ()
        for number in range(len(versions) - 1, -1, -1):
            if versions[number].commit.startswith(self.commits):
                return versions[: number + 1]
        return ()


class OlderTextSearch:
    """Searches for versions older than an edit that have its text: then git had it before the edit.

    Args:
        history: The project's git history.
        versions: Returns the versions of a file, newest first.
        read: Returns the text of a version.
        older_versions: A cache of earlier results, each valid until HEAD moves.
    """

    def __init__(
        self,
        history: ProjectHistory,
        versions: Callable[[str], Sequence[Version]],
        read: Callable[[Version], Text | None],
        older_versions: OlderVersions,
    ) -> None:
        self._history, self._versions, self._read = history, versions, read
        self._cache = older_versions

    def run(
        self,
        annotations: Sequence[SearchedAnnotation],
        originals: Mapping[str, OriginalText],
        text: Text | None,
    ) -> dict[str, tuple[Version, int]]:
        """Return the newest older version that has the text where the edit was made, and its line.

        Args:
            annotations: The annotations.
            originals: Texts after the edit, by the id of the first record.
            text: The file as it is now.
        """
        possible = self.possible(annotations)
        if not possible:
            return {}
        hashed = [each for each in annotations if each.id in possible]
        starts = self._later_starts(hashed, originals, text)
        found: dict[str, tuple[Version, int]] = {}
        for each in hashed:
            for version in _thinned(possible[each.id]):
                start = self._start_in(version, each, starts.get(each.id, ()))
                if start is not None:
                    found[each.id] = version, start
                    break
        return found

    def possible(self, annotations: Iterable[SearchedAnnotation]) -> dict[str, tuple[Version, ...]]:
        """Return the older versions that may have the text of annotations, by their ids."""
        by_path: dict[str, list[SearchedAnnotation]] = defaultdict(list)
        for each in annotations:
            if each.recorded_range.anchors.hash is not None:
                by_path[each.path].append(each)
        return {
            identifier: versions
            for path, some in by_path.items()
            for identifier, versions in self._possible(path, some).items()
        }

    def _possible(
        self, path: str, annotations: Sequence[SearchedAnnotation]
    ) -> dict[str, tuple[Version, ...]]:
        """Return the older versions that may have each text, newest first."""
        versions = self._versions(path)
        older: dict[str, list[Version]] = {}
        keys: dict[str, tuple[str, int, datetime]] = {}
        for each in annotations:
            before = each.versions_before_edit(versions)
            if before and each.earliest_edit is not None:
                older[each.id] = before
                keys[each.id] = before[0].commit, len(before), each.earliest_edit
        new = [
            each
            for each in annotations
            if each.id in older and self._cache.get(each.id, (None,))[0] != keys[each.id]
        ]
        for identifier, found in self._with_context_lines(new, older).items():
            self._cache[identifier] = keys[identifier], found
        return {identifier: found for identifier in older if (found := self._cache[identifier][1])}

    def _with_context_lines(
        self, annotations: Sequence[SearchedAnnotation], older: Mapping[str, list[Version]]
    ) -> dict[str, tuple[Version, ...]]:
        """Return the older versions that have all lines of each annotation's context."""
        found: dict[str, list[Version]] = {each.id: [] for each in annotations}
        context_lines = {each.id: _context_lines(each.recorded_range) for each in annotations}
        # Commits of other branches may have the same text: each annotation names its own.
        own = {
            each.id: {version.blob: version for version in reversed(older[each.id])}
            for each in annotations
        }
        longest = max((older[each.id] for each in annotations), key=len, default=[])
        seen: set[str] = set()
        for version, lines in self._read_lines(longest):
            if version.blob in seen:
                continue
            seen.add(version.blob)
            for each in annotations:
                if version.blob in own[each.id] and context_lines[each.id] <= lines:
                    found[each.id].append(own[each.id][version.blob])
        return {identifier: tuple(versions) for identifier, versions in found.items()}

    def _read_lines(
        self, versions: Sequence[Version]
    ) -> Iterator[tuple[Version, frozenset[bytes]]]:
        """Yield the lines of all newest versions and of some of the others."""
        first = self._history.contents(versions[0]) if versions else None
        step = max(1, len(first or b"") * len(versions) // _MAX_BYTES)
        for version in (*versions[:_ALL_OLDER], *versions[_ALL_OLDER::step]):
            data = self._history.contents(version)
            if data is not None:
                unix = data.replace(b"\r\n", b"\n") if b"\r" in data else data
                yield version, frozenset(unix.split(b"\n"))

    def _later_starts(
        self,
        annotations: Sequence[SearchedAnnotation],
        originals: Mapping[str, OriginalText],
        text: Text | None,
    ) -> dict[str, list[tuple[LineMaps, int]]]:
        """Return where each text is after the edit: the first line, and line maps to that text."""
        starts: dict[str, list[tuple[LineMaps, int]]] = defaultdict(list)
        maps: dict[int, LineMaps] = {}
        if text is not None:
            located = locate_sure([each.recorded_range for each in annotations], text)
            for each, where in zip(annotations, located, strict=True):
                if where is not None and where.start is not None:
                    starts[each.id].append((maps.setdefault(id(text), LineMaps(text)), where.start))
        for each in annotations:
            original = originals.get(each.id)
            if original is not None:
                starts[each.id].append(
                    (maps.setdefault(id(original.text), LineMaps(original.text)), original.start)
                )
        return starts

    def _start_in(
        self,
        version: Version,
        annotation: SearchedAnnotation,
        later_starts: Sequence[tuple[LineMaps, int]],
    ) -> int | None:
        """Return the line of a text in a version; None if it is absent or only a copy."""
        text, recorded = self._read(version), annotation.recorded_range
        if text is None:
            return None
        if later_starts:
            mapped = (maps.from_text(text).old_line(start) for maps, start in later_starts)
            return next(
                (
                    line
                    for line in mapped
                    if line is not None and recorded.matches_at(text.lines, line)
                ),
                None,
            )
        if recorded.matches_at(text.lines, recorded.start):
            return recorded.start
        located = locate_sure([recorded], text)[0]
        return None if located is None else located.start


def _context_lines(recorded: AnchoredRange) -> frozenset[bytes]:
    """Return the whole, non-empty lines of a range's context, which a text must have."""
    if recorded.anchors.context is None:
        return frozenset()
    lines, truncated = parse_context(recorded.anchors.context)
    return frozenset(encode(line) for line in (lines[:-1] if truncated else lines) if line)


def _thinned(versions: Sequence[Version]) -> Sequence[Version]:
    """Return the newest of some versions, and a few of the others."""
    rest = versions[_MAX_COMPARED:]
    return [*versions[:_MAX_COMPARED], *rest[:: max(1, -(-len(rest) // _MAX_COMPARED))]]
