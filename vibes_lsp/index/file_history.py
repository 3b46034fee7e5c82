"""What history knows of the annotations in a file: the texts that they were made in, and where they came from (R4, R14, R17).

It asks git and reads other files, and so is for a thread or the command line: no hover waits for it.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import chain, islice

from vibes_lsp.anchors.ages import Ages, EditTime
from vibes_lsp.anchors.line_map import MOVED_LINES, distinctive_lines
from vibes_lsp.anchors.located import Located, OriginalText, State
from vibes_lsp.anchors.locating import locate, standing_whole
from vibes_lsp.anchors.text import Text, encode
from vibes_lsp.history.commit_resolution import ResolvedCommit
from vibes_lsp.history.file_versions import Version
from vibes_lsp.history.project_history import ProjectHistory
from vibes_lsp.index.candidate_files import RawLines, Sought, SoughtTexts
from vibes_lsp.index.lineage import Lineage
from vibes_lsp.index.moved_out import MovedOut, MovedOutRange
from vibes_lsp.index.older_text import Standing
from vibes_lsp.index.original_text import OriginalTexts
from vibes_lsp.index.sessions import begun
from vibes_lsp.index.trail import Trail
from vibes_lsp.model.paths import can_be_in_project, is_too_long, normal_path

_MAX_FILES = 200
_WITHOUT = "without"
_MAX_WITHOUT = 1 << 16
"""Files of which it is kept that they hold no text that is sought."""


@dataclass(frozen=True, slots=True)
class FileHistory:
    """What is known of a file's annotations beside their records.

    Attributes:
        origins: The texts that annotations were made in, by the id of their first record.
        former_paths: Names that the file had: what is recorded for them is about this file.
        arrivals: Ids of annotations of other files whose text stands here now, and there no more.
        ages: Since when git has each line of the file; None where all annotations stand whole, and where git cannot tell.
        edits: When the annotated edits were made, by the id of the first record.
    """

    origins: Mapping[str, OriginalText] = field(default_factory=dict)
    former_paths: tuple[str, ...] = ()
    arrivals: tuple[str, ...] = ()
    ages: Ages | None = None
    edits: Mapping[str, EditTime] = field(default_factory=dict)


NO_HISTORY = FileHistory()


class FileHistories:
    """Finds out what history knows, file by file.

    Args:
        trail: The trail, refreshed.
        history: The history of the project's files; None without git.
        derived: Commits of annotations that record none that holds, by the id of their first record.
        renamed: New names by old ones, of files that were renamed since the last commit.
        departures: What earlier questions have found to be gone from files.
        standing: What earlier questions have found out about texts before the edit.
    """

    def __init__(
        self,
        trail: Trail,
        history: ProjectHistory | None,
        derived: Mapping[str, ResolvedCommit],
        renamed: Mapping[str, str] | None = None,
        departures: MovedOut | None = None,
        *,
        standing: Standing | None = None,
    ) -> None:
        self._trail, self._history, self._renamed = trail, history, renamed or {}
        self._origins = (
            None
            if history is None
            else OriginalTexts(
                history, derived, lambda lineage: begun(trail.log, lineage), standing
            )
        )
        self._departures = MovedOut(trail) if departures is None else departures
        self._departed: dict[str, Sequence[MovedOutRange]] = {}
        self._latest: tuple[str, Text | None] | None = None

    def of(self, path: str, text: Text) -> FileHistory:
        """Return what is known of a file's annotations.

        Args:
            path: Relative to the project, forward slashes.
            text: The file as it is now, saved or not.
        """
        former = self.former_paths(path)
        lineages = [
            lineage for name in (path, *former) for lineage in self._trail.lineages_in(name)
        ]
        return self._past(path, lineages, text, self.arrivals(path, text))

    def by_name(
        self, path: str, doubtful: Sequence[Lineage] = (), text: Text | None = None
    ) -> FileHistory:
        """Return what is known of a file's own annotations: nothing of what came from other files, which takes looking at those.

        Args:
            path: Relative to the project, forward slashes.
            doubtful: Whose old texts are looked for.
            text: The file as it is now, if there are any.
        """
        return (
            self._past(path, doubtful, text)
            if doubtful and text is not None
            else FileHistory(former_paths=self.former_paths(path))
        )

    def _past(
        self, path: str, lineages: Sequence[Lineage], text: Text, arrivals: tuple[str, ...] = ()
    ) -> FileHistory:
        former = self.former_paths(path)
        if self._origins is None:
            return FileHistory({}, former, arrivals)
        origins, edits = self._origins.of(lineages, text), self._origins.edits(lineages)
        if not _are_in_doubt(
            [each for each in lineages if each.first.id in edits and not each.superseded_by], text
        ):
            return FileHistory(origins, former, arrivals)
        ages = self._origins.ages(path, min(edit.since for edit in edits.values()))
        return (
            FileHistory(origins, former, arrivals)
            if ages is None
            else FileHistory(origins, former, arrivals, ages, edits)
        )

    def arrivals(self, path: str, text: Text) -> tuple[str, ...]:
        """Return the ids of annotations of other files whose text stands in a file now, and there no more."""
        return tuple(self._arrivals(path, self.former_paths(path), text))

    def prefetch(self) -> None:
        """Have history read at once for all files that annotations name: for those who will ask about all of them."""
        if self._history is not None:
            self._history.prefetch(self._names)

    @cached_property
    def annotated_files(self) -> Mapping[str, None]:
        """The files of this checkout that annotations are about, by the names that they have now (R19)."""
        now = dict.fromkeys(
            self._moved.get(name) if name in self._gone else name for name in self._names
        )
        return dict.fromkeys(
            name
            for name in now
            if name is not None and name not in self._gone and self._is_there(name)
        )

    @property
    def has_renames(self) -> bool:
        """Whether files are known to have been renamed, whatever git says."""
        return bool(self._renamed)

    def former_paths(self, path: str) -> tuple[str, ...]:
        """Return the names of files that are gone, or renamed, whose annotations are about this file now."""
        return tuple(self._former.get(path, ()))

    @cached_property
    def _former(self) -> Mapping[str, Sequence[str]]:
        """Names of files that are gone, by those that they have now."""
        former: dict[str, list[str]] = defaultdict(list)
        for name, now in self._moved.items():
            if now != name:
                former[now].append(name)
        return former

    @cached_property
    def _moved(self) -> Mapping[str, str]:
        """The names that files have now that are gone: as the client says, else as history does."""
        moved = {name: self._renamed[name] for name in self._gone if name in self._renamed}
        if self._history is not None:
            unknown = [name for name in self._gone if name not in moved]
            self._history.prefetch(unknown)
            moved |= self._history.current_paths(unknown)
        return {name: moved[name] for name in self._gone if name in moved}

    @cached_property
    def _gone(self) -> Mapping[str, None]:
        """The names of which there is no file."""
        return dict.fromkeys(name for name in self._names if not self._is_there(name))

    @cached_property
    def _names(self) -> Sequence[str]:
        """The names that annotations have for files of this project (R19), and those that no file can have: their text may be here."""
        names = dict.fromkeys(normal_path(path) for path in self._trail.paths())
        return [name for name in names if can_be_in_project(name) or is_too_long(name)]

    def _is_there(self, name: str) -> bool:
        try:
            return (self._trail.directory.project / name).is_file()
        except (OSError, ValueError):
            return False

    def _arrivals(self, path: str, former: Sequence[str], text: Text) -> Iterator[str]:
        """Give the annotations of other files that came here: they stand here whole, at one place, which they did not when they were made.

        Without history one cannot know that they did not.
        """
        if self._history is None:
            return
        departed = [
            (name, gone)
            for name in self._others(path, former)
            if (gone := self._departed_from(name))
        ]
        if not departed:
            return
        file = RawLines(encode(text.content))
        for name, all_gone in departed:
            gone = [each for each in all_gone if Sought(each.recorded).may_stand(file)]
            if not gone:
                continue
            placed = zip(gone, standing_whole([each.recorded for each in gone], text), strict=True)
            here = [
                each
                for each, located in placed
                if located is not None and _is_beyond_doubt(located, text)
            ]
            new = [each for each in here if not self._was_here(path, each)]
            left = self._left(name, [each for each in new if each.is_guessed])
            went = [each for each in new if not each.is_guessed or each.id in left]
            disproved = self._disproved(name, went)
            yield from (each.id for each in went if each.id not in disproved)

    def _disproved(self, name: str, went: Sequence[MovedOutRange]) -> set[str]:
        """Return those whose text their own file had before the edit: that it stands elsewhere now proves nothing either (R14)."""
        if not went or self._origins is None:
            return set()
        ids = {each.id for each in went}
        origins = self._origins.of(
            [each for each in self._trail.lineages_in(name) if each.first.id in ids]
        )
        return {identifier for identifier, origin in origins.items() if origin.before_edit}

    def _others(self, path: str, former: Sequence[str]) -> Iterator[str]:
        """Return the other files that annotations may have come from: those of the same folder first, then by name."""
        folder = path.rpartition("/")[0]
        near = self._folders.get(folder, ())
        others = chain(
            near,
            (name for name in self._sorted if name.rpartition("/")[0] != folder)
            if len(near) < len(self._sorted)
            else (),
        )
        return islice((name for name in others if name != path and name not in former), _MAX_FILES)

    @cached_property
    def _sorted(self) -> Sequence[str]:
        return sorted(self._names)

    @cached_property
    def _folders(self) -> Mapping[str, Sequence[str]]:
        folders: dict[str, list[str]] = defaultdict(list)
        for name in self._sorted:
            folders[name.rpartition("/")[0]].append(name)
        return folders

    def may_have_moved_in(self, file: RawLines) -> bool:
        """Whether text of annotations of any other file may stand in a file."""
        if self._history is None or file.digest in self._without:
            return False
        if self._sought.may_stand(file):
            return True
        self._without.add(file.digest)
        return False

    def keep(self) -> None:
        """Keep for later commands which files hold no text that is sought."""
        cache = None if self._history is None else self._history.cache()
        if cache is not None and "_without" in self.__dict__:
            cache.put_for_object(
                _WITHOUT, (self._sought.digest, sorted(self._without)[:_MAX_WITHOUT])
            )

    @cached_property
    def _without(self) -> set[bytes]:
        """Digests of the files that hold no text that is sought."""
        cache = None if self._history is None else self._history.cache()
        kept = None if cache is None else cache.get_for_object(_WITHOUT, tuple[bytes, list[bytes]])
        return set(kept[1]) if kept is not None and kept[0] == self._sought.digest else set()

    @cached_property
    def _sought(self) -> SoughtTexts:
        return SoughtTexts(
            each.recorded for name in self._names for each in self._departed_from(name)
        )

    def _was_here(self, path: str, departed: MovedOutRange) -> bool:
        """Whether a file had the text of an annotation of another file already when that was made."""
        versions = () if self._history is None else self._history.versions(path).versions
        version = next((version for version in versions if version.moment <= departed.moment), None)
        text = None if version is None else self._text(version)
        if text is None:
            return version is not None
        return locate([departed.recorded], text)[0].state in {State.EXACT, State.MOVED}

    def _text(self, version: Version) -> Text | None:
        """Return the text of a version; of many annotations in turn it is the same."""
        if self._latest is None or self._latest[0] != version.blob:
            data = None if self._history is None else self._history.contents(version)
            self._latest = version.blob, None if data is None else Text.from_bytes(data)
        return self._latest[1]

    def _departed_from(self, name: str) -> Sequence[MovedOutRange]:
        """Return the annotations of a file whose text is no longer in it."""
        if name not in self._departed:
            self._departed[name] = self._departures.of(name)
        return self._departed[name]

    def _left(self, name: str, guessed: Sequence[MovedOutRange]) -> set[str]:
        """Return those of which a file has nothing left, but lines that only look like it: the text that they were made in tells."""
        text = self._departures.text(name) if guessed and self._origins is not None else None
        if text is None or self._origins is None:
            return set()
        lineages = {each.first.id: each for each in self._trail.lineages_in(name)}
        origins = self._origins.of([lineages[each.id] for each in guessed if each.id in lineages])
        known = [each for each in guessed if each.id in origins]
        located = locate(
            [each.recorded for each in known], text, [origins[each.id] for each in known]
        )
        return {each.id for each, where in zip(known, located, strict=True) if where.start is None}


def _are_in_doubt(lineages: Sequence[Lineage], text: Text) -> bool:
    """Whether a text alone does not say for sure where all of some annotations stand."""
    recorded = [each.recorded for each in lineages if each.recorded is not None]
    if any(each.anchors.hash is None and each.anchors.file_hash is None for each in recorded):
        return True
    return None in standing_whole(recorded, text)


def _is_beyond_doubt(located: Located, text: Text) -> bool:
    if located.start is None or located.end is None:
        return False
    return distinctive_lines(text.lines[located.start - 1 : located.end]) >= MOVED_LINES
