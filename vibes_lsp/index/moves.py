"""Find annotated text that moved to another file: where it is gone, and where it is now (R14).

It reads files and runs git, so call it from a thread or a command.
"""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from datetime import datetime
from functools import cached_property
from itertools import chain, islice
from typing import Final

import msgspec

from vibes_lsp.anchors.line_map import MIN_MOVED_LINES, count_distinctive
from vibes_lsp.anchors.locate import locate, locate_sure
from vibes_lsp.anchors.location import AnchoredRange, LocatedRange, OriginalText, State
from vibes_lsp.anchors.text import Text, encode
from vibes_lsp.errors import UnreadableFile
from vibes_lsp.history.file_versions import Version
from vibes_lsp.history.project_history import ProjectHistory
from vibes_lsp.index.original_text import OriginalTexts
from vibes_lsp.index.project_files import RangeFilter, RangeFilters, RawLines, read_content
from vibes_lsp.model.vocabulary import Action
from vibes_lsp.trail.lineage import Lineage
from vibes_lsp.trail.trail import Trail

_MAX_SOURCE: Final = 8 << 20
"""Largest file that is searched, in bytes."""
_MAX_CACHED: Final = 2_048
"""Files whose result is cached; from most of them, nothing is gone."""
_MAX_NEW_LINES: Final = 1_024
"""New lines of the log from which on the whole cache is dropped."""
_MAX_OTHER_FILES: Final = 200
"""Files from which annotations may have come that are searched for one file."""
_CACHE_NAME: Final = "without"
_MAX_SAVED: Final = 1 << 16
"""Files that are saved as containing no text that moved."""


class MovedOutRange(msgspec.Struct, frozen=True, gc=False):
    """An annotation whose text is no longer in its file.

    Attributes:
        id: The id of its first record.
        moment: The time of its first record.
        recorded_range: What it was recorded for.
        is_guessed: Whether some lines of the file may be its edited text.
    """

    id: str
    moment: datetime
    recorded_range: AnchoredRange
    is_guessed: bool


class FoundMovedOut(msgspec.Struct, array_like=True):
    """A file's annotations whose text is gone from it.

    Attributes:
        digest: The SHA-256 of the file; None if it cannot be read.
        ranges: The annotations.
        depends_on_head: Whether they may be others at another HEAD.
    """

    digest: bytes | None
    ranges: Sequence[MovedOutRange]
    depends_on_head: bool


class MovedOut:
    """Finds the annotations whose text is gone from their file.

    Results are cached until the file or its annotations change, because opening or saving a file
    looks up many files of its folder.

    Args:
        trail: The trail, refreshed before every call.
    """

    def __init__(self, trail: Trail) -> None:
        self._trail = trail
        self._epoch: int | None = None
        self._until = 0
        self._cache: dict[str, FoundMovedOut] = {}

    def of(self, name: str) -> Sequence[MovedOutRange]:
        """Return those of a file as saved; all of its annotations if it does not exist.

        Args:
            name: Relative to the project, as `normal_path` has it.
        """
        return self.find(name).ranges

    def find(self, name: str) -> FoundMovedOut:
        """Return the same as `of`, with what it was found in."""
        self._drop_outdated()
        content = self._read(name)
        digest = None if content is None else hashlib.sha256(content).digest()
        cached = self._cache.pop(name, None)
        if cached is None or cached.digest != digest:
            ranges = self._find(name, content)
            depends_on_head = not self._trail.is_independent_of_head(name)
            cached = FoundMovedOut(digest, ranges, depends_on_head)
            if depends_on_head:
                return cached
        self._cache[name] = cached
        while len(self._cache) > _MAX_CACHED:
            del self._cache[next(iter(self._cache))]
        return cached

    def digest(self, name: str) -> bytes | None:
        """Return the SHA-256 of a file; None if it cannot be read."""
        content = self._read(name)
        return None if content is None else hashlib.sha256(content).digest()

    def text(self, name: str) -> Text | None:
        """Return the text of a file as it is saved now; None if it does not exist."""
        content = self._read(name)
        return None if content is None else Text.from_bytes(content)

    def _drop_outdated(self) -> None:
        """Drop the files whose annotations have changed."""
        epoch, total = self._trail.log.epoch, self._trail.last_line
        if epoch != self._epoch or total - self._until > _MAX_NEW_LINES:
            self._cache.clear()
        elif total > self._until:
            for name in self._trail.files_changed_since(self._until):
                self._cache.pop(name, None)
        self._epoch, self._until = epoch, total

    def _find(self, name: str, content: bytes | None) -> Sequence[MovedOutRange]:
        lineages = [
            each
            for each in self._trail.lineages_in(name)
            if not each.superseded_by and each.action != Action.DELETE
        ]
        hashed = [
            (each, recorded)
            for each in lineages
            if (recorded := each.recorded_range) is not None and recorded.anchors.hash
        ]
        located = (
            [None] * len(hashed)
            if content is None
            else locate([recorded for _, recorded in hashed], Text.from_bytes(content))
        )
        return [
            MovedOutRange(
                lineage.first.id,
                lineage.first.moment,
                recorded,
                is_guessed=where is not None and where.start is not None,
            )
            for (lineage, recorded), where in zip(hashed, located, strict=True)
            if where is None or where.start is None or where.state == State.EDITED
        ]

    def _read(self, name: str) -> bytes | None:
        try:
            return read_content(self._trail.directory.project, name, limit=_MAX_SOURCE)
        except UnreadableFile:
            return None


class MovedIn:
    """Finds the annotations of other files whose text moved into a file.

    Args:
        trail: The trail, refreshed.
        history: The history of the project's files. Without it no text counts as moved, because it
            may have been in both files from the start.
        original_texts: The texts that annotations were made in; None without git.
        moved_out: What is gone from the other files.
        names: Returns the recorded names of the project's files.
        resolve: Resolves the commits of some annotations, for their original texts.

    Attributes:
        last_sources: The files of which some gone text is in the last file, moved there or not.
    """

    def __init__(
        self,
        trail: Trail,
        history: ProjectHistory | None,
        original_texts: OriginalTexts | None,
        moved_out: MovedOut,
        names: Callable[[], Sequence[str]],
        *,
        resolve: Callable[[Sequence[Lineage]], None],
    ) -> None:
        self._trail, self._history = trail, history
        self._original_texts = original_texts
        self._moved_out = moved_out
        self._names = names
        self._resolve = resolve
        self._ranges: dict[str, Sequence[MovedOutRange]] = {}
        self._folder_filters: dict[str, RangeFilters] = {}
        self._still_without: set[bytes] = set()
        self._last_version: tuple[str, Text | None] | None = None
        self.last_sources: tuple[str, ...] = ()

    def of(self, path: str, former_paths: Sequence[str], text: Text) -> Iterator[str]:
        """Yield the ids of annotations of other files whose text moved into a file.

        The text is whole in this file now, and was not when the annotation was made.

        Args:
            path: Relative to the project, forward slashes.
            former_paths: Former names of the file.
            text: The file as it is now, saved or not.
        """
        self.last_sources = ()
        if self._history is None:
            return
        file = RawLines(encode(text.content))
        moved_out = [
            (name, ranges)
            for name in self.possible_sources(path, former_paths)
            if (ranges := self._moved_out_of(name))
        ]
        found: dict[str, list[MovedOutRange]] = {}
        for name, ranges in moved_out:
            possible = [each for each in ranges if RangeFilter(each.recorded_range).may_be_in(file)]
            located = locate_sure([each.recorded_range for each in possible], text)
            found[name] = [
                each
                for each, where in zip(possible, located, strict=True)
                if where is not None and _is_distinctive(where, text)
            ]
        self.last_sources = tuple(name for name, here in found.items() if here)
        self._history.prefetch(self.last_sources)
        for name, here in found.items():
            new = [each for each in here if not self._was_here(path, each)]
            gone = self._gone_by_original(name, [each for each in new if each.is_guessed])
            moved = [each for each in new if not each.is_guessed or each.id in gone]
            disproved = self._disproved(name, moved)
            yield from (each.id for each in moved if each.id not in disproved)

    def put_moved_out(self, ranges: Mapping[str, Sequence[MovedOutRange]]) -> None:
        """Put what `moved_out` returns for files."""
        self._ranges.update(ranges)

    def may_be_in(self, path: str, file: RawLines) -> bool:
        """Whether `of` may find anything in a file that nothing is recorded for.

        Args:
            path: Relative to the project, forward slashes.
            file: The file as saved.
        """
        if self._history is None:
            return False
        filters = self._filters_of(path.rpartition("/")[0])
        digest = hashlib.sha256(b"".join(each.digest for each in filters) + file.digest).digest()
        if digest not in self._files_without and any(each.may_be_in(file) for each in filters):
            return True
        self._still_without.add(digest)
        return False

    def save_cache(self) -> None:
        """Save for later commands which files contain no text that moved."""
        cache = None if self._history is None else self._history.cache()
        if cache is not None and self._still_without:
            cache.put_for_object(_CACHE_NAME, sorted(self._still_without)[:_MAX_SAVED])

    @cached_property
    def _files_without(self) -> AbstractSet[bytes]:
        """What is known from earlier commands: hashes of filters with a file that they reject."""
        cache = None if self._history is None else self._history.cache()
        saved = None if cache is None else cache.get_for_object(_CACHE_NAME, list[bytes])
        return frozenset(saved or ())

    def _filters_of(self, folder: str) -> tuple[RangeFilters, ...]:
        """Return filters of all files that `_other_files` may yield for a file of a folder."""
        near = self._by_folder.get(folder, ())
        if folder not in self._folder_filters:
            self._folder_filters[folder] = self._filters(near)
        found = self._folder_filters[folder]
        return (found,) if len(near) >= _MAX_OTHER_FILES else (found, self._first_filters)

    @cached_property
    def _first_filters(self) -> RangeFilters:
        """Filters of the files that come first in the project."""
        return self._filters(self._sorted_names)

    def _filters(self, names: Sequence[str]) -> RangeFilters:
        first = names[:_MAX_OTHER_FILES]
        return RangeFilters(
            each.recorded_range for name in first for each in self._moved_out_of(name)
        )

    def _moved_out_of(self, name: str) -> Sequence[MovedOutRange]:
        if name not in self._ranges:
            self._ranges[name] = self._moved_out.of(name)
        return self._ranges[name]

    def possible_sources(self, path: str, former_paths: Sequence[str]) -> Iterator[str]:
        """Yield the files that annotations may have come from: first those of the same folder."""
        others = self._near_first(path.rpartition("/")[0])
        return islice(
            (name for name in others if name != path and name not in former_paths),
            _MAX_OTHER_FILES,
        )

    def sources_of_all(self, files: Mapping[str, Sequence[str]]) -> Collection[str]:
        """Return all possible sources of files, and perhaps a few more.

        Args:
            files: Their former names.
        """
        left_out: dict[str, int] = defaultdict(int)  # the most names that a file of a folder skips
        for path, former_paths in files.items():
            folder = path.rpartition("/")[0]
            left_out[folder] = max(left_out[folder], 1 + len(former_paths))
        return dict.fromkeys(
            name
            for folder, count in left_out.items()
            for name in islice(self._near_first(folder), _MAX_OTHER_FILES + count)
        )

    def _near_first(self, folder: str) -> Iterator[str]:
        """Yield all files, those of a folder first."""
        near = self._by_folder.get(folder, ())
        return chain(
            near,
            (name for name in self._sorted_names if name.rpartition("/")[0] != folder)
            if len(near) < len(self._sorted_names)
            else (),
        )

    @cached_property
    def _sorted_names(self) -> Sequence[str]:
        return sorted(self._names())

    @cached_property
    def _by_folder(self) -> Mapping[str, Sequence[str]]:
        folders: dict[str, list[str]] = defaultdict(list)
        for name in self._sorted_names:
            folders[name.rpartition("/")[0]].append(name)
        return folders

    def _was_here(self, path: str, moved_out: MovedOutRange) -> bool:
        """Whether a file already had the text when the annotation of the other file was made."""
        versions = () if self._history is None else self._history.versions(path).versions
        version = next(
            (version for version in versions if version.moment <= moved_out.moment), None
        )
        text = None if version is None else self._text(version)
        if text is None:
            return version is not None
        return locate([moved_out.recorded_range], text)[0].state in {State.EXACT, State.MOVED}

    def _text(self, version: Version) -> Text | None:
        """Return the text of a version; often the same one is needed several times in a row."""
        if self._last_version is None or self._last_version[0] != version.blob:
            data = None if self._history is None else self._history.contents(version)
            self._last_version = version.blob, None if data is None else Text.from_bytes(data)
        return self._last_version[1]

    def _gone_by_original(self, name: str, guessed: Sequence[MovedOutRange]) -> set[str]:
        """Return those whose original text, from git, shows that they are gone from their file.

        Without the original text, some lines of the file look like their edited text.
        """
        if not guessed or self._original_texts is None:
            return set()
        text = self._moved_out.text(name)
        if text is None:
            return set()
        lineages = {each.first.id: each for each in self._trail.lineages_in(name)}
        originals = self._originals([lineages[each.id] for each in guessed if each.id in lineages])
        known = [each for each in guessed if each.id in originals]
        located = locate(
            [each.recorded_range for each in known], text, [originals[each.id] for each in known]
        )
        return {each.id for each, where in zip(known, located, strict=True) if where.start is None}

    def _disproved(self, name: str, moved: Sequence[MovedOutRange]) -> set[str]:
        """Return those whose text was in their file before the edit: a copy proves nothing."""
        if not moved or self._original_texts is None:
            return set()
        ids = {each.id for each in moved}
        originals = self._originals(
            [each for each in self._trail.lineages_in(name) if each.first.id in ids]
        )
        return {identifier for identifier, original in originals.items() if original.before_edit}

    def _originals(self, lineages: Sequence[Lineage]) -> Mapping[str, OriginalText]:
        if self._original_texts is None:
            return {}
        self._resolve(lineages)
        return self._original_texts.of(lineages)


def _is_distinctive(located: LocatedRange, text: Text) -> bool:
    """Whether the located lines are distinctive enough to show that the text moved."""
    if located.start is None or located.end is None:
        return False
    return count_distinctive(text.lines[located.start - 1 : located.end]) >= MIN_MOVED_LINES
