"""Which annotations have anchors of a text that git had before the edit: a match with these proves nothing (R14).

Each version is read once for all annotations of its file, and what was found out about an annotation is kept until HEAD moves.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from vibes_lsp.anchors.create_anchors import Anchors
from vibes_lsp.anchors.line_map import LineMaps
from vibes_lsp.anchors.located import AnchoredRange, OriginalText
from vibes_lsp.anchors.locating import standing_whole
from vibes_lsp.anchors.occurrences import read_context
from vibes_lsp.anchors.text import Text, encode
from vibes_lsp.history.file_versions import Version
from vibes_lsp.history.project_history import ProjectHistory
from vibes_lsp.index.lineage import Lineage
from vibes_lsp.model.vocabulary import Action

_BYTES: Final = 24 << 20
"""About so much is read of the versions of one file."""

_ALL_NEWEST: Final = 32
"""So many of the versions before an edit are all read; of the others as many as `_BYTES` allows, evenly spread."""

_TRIED: Final = 8
"""Of the versions that may have a text, so many of the newest are compared, and as many of the others."""

Standing = dict[str, tuple[tuple[str, int, datetime], tuple[Version, ...]]]
"""By the id of an annotation: the history that was looked at, and the versions that may have its text."""


@dataclass(frozen=True, slots=True)
class Wanted:
    """An annotation whose text is looked for in history.

    Attributes:
        lineage: The annotation.
        path: The file that it is recorded for.
        recorded: Its range and anchors.
        commit: The commit that it came with; None when that is not known.
        begun: Before this time a commit was made before the edit; None when that is not known.
        commits: All commits that are known to have brought it, of which a later one may have rewritten an earlier one.
    """

    lineage: Lineage
    path: str
    recorded: AnchoredRange
    commit: str | None
    begun: datetime | None
    commits: tuple[str, ...] = ()

    @property
    def id(self) -> str:
        """The id of its first record."""
        return self.lineage.first.id

    @property
    def is_anchored(self) -> bool:
        """Whether there is anything that a text can be checked against."""
        return self.recorded.anchors != Anchors()

    def earlier(self, versions: Sequence[Version]) -> list[Version]:
        """Return those of a file's versions, newest first, that were committed before the edit; its own commit never was."""
        begun = self.begun
        if begun is None or self.lineage.action == Action.REVIEW:
            return []
        return [
            version for version in versions[len(self.later(versions)) :] if version.moment < begun
        ]

    def later(self, versions: Sequence[Version]) -> Sequence[Version]:
        """Return those of a file's versions, newest first, that came with a commit of the edit or after it, whatever the clocks say."""
        own = (
            number
            for number, each in enumerate(versions)
            if self.commits and each.commit.startswith(self.commits)
        )
        return versions[: max(own, default=-1) + 1]


class Predating:
    """Finds texts before the edit.

    Args:
        history: The project's git history.
        versions: Gives the versions of a file, newest first.
        read: Gives the text of a version.
        standing: What earlier questions have found out.
    """

    def __init__(
        self,
        history: ProjectHistory,
        versions: Callable[[str], Sequence[Version]],
        read: Callable[[Version], Text | None],
        standing: Standing,
    ) -> None:
        self._history, self._versions, self._read, self._standing = (
            history,
            versions,
            read,
            standing,
        )

    def of(
        self, wanted: Sequence[Wanted], later: Mapping[str, OriginalText], text: Text | None
    ) -> dict[str, tuple[Version, int]]:
        """Return the newest version before the edit that has an annotation's text where the edit was made, and its first line there.

        Args:
            wanted: The annotations.
            later: Texts after the edit, by the id of the first record.
            text: The file as it is now.
        """
        anchored = [each for each in wanted if each.recorded.anchors.hash is not None]
        by_path: dict[str, list[Wanted]] = defaultdict(list)
        for each in anchored:
            by_path[each.path].append(each)
        possible = {
            identifier: found
            for path, some in by_path.items()
            for identifier, found in self._possible(path, some).items()
        }
        if not possible:
            return {}
        places = self._places([each for each in anchored if each.id in possible], later, text)
        found: dict[str, tuple[Version, int]] = {}
        for each in anchored:
            for version in _some(possible.get(each.id, ())):
                start = self._start(each, version, places.get(each.id, ()))
                if start is not None:
                    found[each.id] = version, start
                    break
        return found

    def _possible(self, path: str, wanted: Sequence[Wanted]) -> dict[str, tuple[Version, ...]]:
        """Return the versions that may have the text of an annotation, newest first; those of which none may are left out."""
        versions = self._versions(path)
        earlier: dict[str, list[Version]] = {}
        keys: dict[str, tuple[str, int, datetime]] = {}
        for each in wanted:
            before = each.earlier(versions)
            if before and each.begun is not None:
                earlier[each.id] = before
                keys[each.id] = before[0].commit, len(before), each.begun
        new = [
            each
            for each in wanted
            if each.id in earlier and self._standing.get(each.id, (None,))[0] != keys[each.id]
        ]
        for identifier, found in self._look(new, earlier).items():
            self._standing[identifier] = keys[identifier], found
        return {
            identifier: found for identifier in earlier if (found := self._standing[identifier][1])
        }

    def _look(
        self, wanted: Sequence[Wanted], earlier: Mapping[str, list[Version]]
    ) -> dict[str, tuple[Version, ...]]:
        found: dict[str, list[Version]] = {each.id: [] for each in wanted}
        pieces = {each.id: _pieces(each.recorded) for each in wanted}
        within = {each.id: {version.blob for version in earlier[each.id]} for each in wanted}
        longest = max((earlier[each.id] for each in wanted), key=len, default=[])
        seen: set[str] = set()
        for version, lines in self._lines(longest):
            if version.blob in seen:
                continue
            seen.add(version.blob)
            for each in wanted:
                if version.blob in within[each.id] and pieces[each.id] <= lines:
                    found[each.id].append(version)
        return {identifier: tuple(versions) for identifier, versions in found.items()}

    def _lines(self, versions: Sequence[Version]) -> Iterator[tuple[Version, frozenset[bytes]]]:
        """Give the lines of versions, all of the newest and some of the others."""
        first = self._history.contents(versions[0]) if versions else None
        step = max(1, len(first or b"") * len(versions) // _BYTES)
        for version in (*versions[:_ALL_NEWEST], *versions[_ALL_NEWEST::step]):
            data = self._history.contents(version)
            if data is not None:
                yield (
                    version,
                    frozenset(
                        (data.replace(b"\r\n", b"\n") if b"\r" in data else data).split(b"\n")
                    ),
                )

    def _places(
        self, wanted: Sequence[Wanted], later: Mapping[str, OriginalText], text: Text | None
    ) -> dict[str, list[tuple[LineMaps, int]]]:
        """Return where each text stands after the edit: with maps to there, and the first line."""
        places: dict[str, list[tuple[LineMaps, int]]] = defaultdict(list)
        maps: dict[int, LineMaps] = {}
        if text is not None:
            for each, located in zip(
                wanted, standing_whole([each.recorded for each in wanted], text), strict=True
            ):
                if located is not None and located.start is not None:
                    places[each.id].append(
                        (maps.setdefault(id(text), LineMaps(text)), located.start)
                    )
        for each in wanted:
            origin = later.get(each.id)
            if origin is not None:
                places[each.id].append(
                    (maps.setdefault(id(origin.text), LineMaps(origin.text)), origin.start)
                )
        return places

    def _start(
        self, wanted: Wanted, version: Version, places: Sequence[tuple[LineMaps, int]]
    ) -> int | None:
        """Return the line at which a version has a text where the edit was made; None when it does not, or has only a copy elsewhere."""
        text, recorded = self._read(version), wanted.recorded
        if text is None:
            return None
        if places:
            kept = (maps.from_text(text).came_from(start) for maps, start in places)
            return next(
                (line for line in kept if line is not None and recorded.is_in(text.lines, line)),
                None,
            )
        if recorded.is_in(text.lines, recorded.start):
            return recorded.start
        located = standing_whole([recorded], text)[0]
        return None if located is None else located.start


def _pieces(recorded: AnchoredRange) -> frozenset[bytes]:
    """Return the lines that a text must have to have a range: those of its context that are whole and say something."""
    if recorded.anchors.context is None:
        return frozenset()
    pieces, cut = read_context(recorded.anchors.context)
    return frozenset(encode(piece) for piece in (pieces[:-1] if cut else pieces) if piece)


def _some(versions: Sequence[Version]) -> Sequence[Version]:
    """Return the newest of some versions, and a few of the others."""
    rest = versions[_TRIED:]
    return [*versions[:_TRIED], *rest[:: max(1, -(-len(rest) // _TRIED))]]
