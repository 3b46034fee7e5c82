"""Look up a file's annotations in git: original texts, former names, moves (R4, R14, R17).

It runs git and reads other files, so call it from a thread or a command.
"""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache, cached_property, partial
from typing import Final

from vibes_lsp.anchors.history_mapping import EditTime, LineAges
from vibes_lsp.anchors.locate import locate_sure
from vibes_lsp.anchors.location import OriginalText
from vibes_lsp.anchors.text import Text
from vibes_lsp.history.commit_resolution import ResolvedCommit
from vibes_lsp.history.project_history import ProjectHistory
from vibes_lsp.index.moves import MovedIn, MovedOut, MovedOutRange
from vibes_lsp.index.original_text import KeptText, KnownOriginals, OriginalTexts
from vibes_lsp.index.project_files import RawLines
from vibes_lsp.model.paths import can_be_in_project, is_too_long, normal_path
from vibes_lsp.trail.lineage import Lineage
from vibes_lsp.trail.lineage_commits import earliest_edit_time
from vibes_lsp.trail.trail import Trail


@dataclass(frozen=True, slots=True)
class FileHistory:
    """What git knows about a file's annotations, in addition to their records.

    Attributes:
        original_texts: The texts that annotations were made in, by the id of their first record.
        former_paths: Former names of the file; annotations recorded for them belong to this file.
        moved_in: Ids of annotations of other files whose text is in this file now, and only here.
        ages: The commit of each line. None if every annotation matches exactly, or if git does
            not answer.
        edit_times: When the annotated edits were made, by the id of the first record; of their
            commits those that lines are from.
    """

    original_texts: Mapping[str, OriginalText] = field(default_factory=dict)
    former_paths: tuple[str, ...] = ()
    moved_in: tuple[str, ...] = ()
    ages: LineAges | None = None
    edit_times: Mapping[str, EditTime] = field(default_factory=dict)


NO_HISTORY = FileHistory()


class FileHistories:
    """Looks up the history of annotated files, and follows renamed files to their new names.

    Args:
        trail: The trail, refreshed.
        history: The history of the project's files; None without git.
        resolved_commits: Commits of annotations that record none, or a rewritten one, by the id of
            their first record.
        renamed: New names by old ones, of files that were renamed since the last commit.
        moved_out: A cache, shared by lookups, of annotated text that is gone from its file.
        known: The last searches for original texts, shared by lookups; None not to keep any.
        kept_text: Returns a text that this machine has kept; None not to ask.
        resolve: Adds the commits of some annotations to `resolved_commits`.
    """

    def __init__(  # noqa: PLR0917  # what one caller has
        self,
        trail: Trail,
        history: ProjectHistory | None,
        resolved_commits: Mapping[str, ResolvedCommit],
        renamed: Mapping[str, str],
        moved_out: MovedOut,
        known: KnownOriginals | None,
        kept_text: KeptText | None,
        resolve: Callable[[Sequence[Lineage]], None],
    ) -> None:
        self._trail, self._history, self._renamed = trail, history, renamed
        self._project: Final = str(trail.directory.project)
        self._names = cache(partial(_names_in, trail))  # no cycle: the trail hangs on it
        self._original_texts = (
            None
            if history is None
            else OriginalTexts(
                history,
                resolved_commits,
                lambda lineage: earliest_edit_time(trail.log, lineage),
                kept_text,
                known,
            )
        )
        self._moved_in = MovedIn(
            trail,
            history,
            self._original_texts,
            moved_out,
            self._names,
            resolve=resolve,
        )

    def of(self, path: str, text: Text) -> FileHistory:
        """Return the history of a file's annotations.

        Args:
            path: Relative to the project, forward slashes.
            text: The file as it is now, saved or not.
        """
        former = self.former_paths(path)
        lineages = [
            lineage for name in (path, *former) for lineage in self._trail.lineages_in(name)
        ]
        return self._look_up(path, lineages, text, self.moved_in(path, text))

    def own_history(
        self, path: str, uncertain: Sequence[Lineage] = (), text: Text | None = None
    ) -> FileHistory:
        """Return the history of a file's own annotations.

        Those that moved in are left out, because looking for them reads other files.

        Args:
            path: Relative to the project, forward slashes.
            uncertain: Annotations whose original texts are needed.
            text: The file as it is now; needed if there are any.
        """
        return (
            self._look_up(path, uncertain, text)
            if uncertain and text is not None
            else FileHistory(former_paths=self.former_paths(path))
        )

    def may_be_older(self, lineages: Sequence[Lineage]) -> bool:
        """Whether git may have had the text of some annotations before their edits."""
        texts = self._original_texts
        return texts is not None and texts.may_be_older(lineages)

    def _look_up(
        self, path: str, lineages: Sequence[Lineage], text: Text, moved_in: tuple[str, ...] = ()
    ) -> FileHistory:
        former = self.former_paths(path)
        if self._original_texts is None:
            return FileHistory({}, former, moved_in)
        annotations = self._original_texts.searched(lineages)
        originals = self._original_texts.of_file(path, annotations, text)
        edit_times = self._original_texts.edit_times(annotations)
        checkable = [
            each for each in lineages if each.first.id in edit_times and not each.superseded_by
        ]
        if not _are_uncertain(checkable, text):
            return FileHistory(originals, former, moved_in)
        ages = self._original_texts.ages(path, min(edit.earliest for edit in edit_times.values()))
        if ages is None:
            return FileHistory(originals, former, moved_in)
        blamed = {each.commit for each in ages.lines}
        named = {
            each: replace(edit, commits=edit.commits & blamed) for each, edit in edit_times.items()
        }
        return FileHistory(originals, former, moved_in, ages, named)

    def moved_in(self, path: str, text: Text) -> tuple[str, ...]:
        """Return the ids of annotations of other files whose text moved into a file."""
        return tuple(self._moved_in.of(path, self.former_paths(path), text))

    def may_have_moved_in(self, path: str, file: RawLines) -> bool:
        """Whether text of annotations of other files may be in a file that has none itself."""
        return self._moved_in.may_be_in(path, file)

    def put_moved_out(self, ranges: Mapping[str, Sequence[MovedOutRange]]) -> None:
        """Put the gone text of files, as `MovedOut` returns it; it is not looked for again."""
        self._moved_in.put_moved_out(ranges)

    @property
    def last_sources(self) -> tuple[str, ...]:
        """The files of which some gone text is in the last file, moved there or not."""
        return self._moved_in.last_sources

    def save_cache(self) -> None:
        """Save for later commands which files contain no text that moved."""
        self._moved_in.save_cache()

    def prefetch(self, paths: Iterable[str] | None = None, also: Iterable[str] = ()) -> None:
        """Read git's history of files at once, by default of all annotated files.

        That of the log and of files that are gone comes with it: it is needed for any file.

        Args:
            paths: The files.
            also: Files that are read at the same time if any has to be read.
        """
        if self._history is not None:
            names = self.names if paths is None else (*paths, *self._gone)
            wanted = (*names, *self._log_path)
            is_read = all(map(self._history.has_walked, wanted)) if also else True
            self._history.prefetch(wanted if is_read else (*wanted, *also))

    def prefetch_own(self, path: str) -> None:
        """Read git's history of one file and of the log, and of no other."""
        if self._history is not None:
            self._history.prefetch((path, *self._log_path))

    @property
    def _log_path(self) -> tuple[str, ...]:
        directory = self._trail.directory
        is_inside = directory.log.is_relative_to(directory.project)
        return (directory.log.relative_to(directory.project).as_posix(),) if is_inside else ()

    @cached_property
    def annotated_files(self) -> Mapping[str, None]:
        """The existing files that annotations are about, by their current names (R19)."""
        now = dict.fromkeys(
            self._new_names.get(name) if name in self._gone else name for name in self.names
        )
        return dict.fromkeys(
            name
            for name in now
            if name is not None and name not in self._gone and self._exists(name)
        )

    @property
    def new_names(self) -> Mapping[str, str]:
        """The names that files have now which were renamed, by the recorded ones."""
        return {
            name: now
            for name, now in self._new_names.items()
            if now not in self._gone and self._exists(now)
        }

    def current_name(self, name: str) -> str:
        """Return the name that a file has now, as `new_names`: asks about this one alone.

        Args:
            name: As recorded.
        """
        if self._exists(name):
            return name
        now = self._renamed.get(name)
        if now is None and self._history is not None:
            now = self._history.current_paths([name]).get(name)
        return name if now is None or not self._exists(now) else now

    @property
    def has_gone_files(self) -> bool:
        """Whether annotations are about files that do not exist, even by another name."""
        return len(self._gone) > len(self._new_names)

    @property
    def has_renames(self) -> bool:
        """Whether the caller named renamed files."""
        return bool(self._renamed)

    def possible_sources(self, path: str) -> Sequence[str]:
        """Return the files that are read to find annotations that moved into a file."""
        if self._history is None:
            return ()
        return list(self._moved_in.possible_sources(path, self.former_paths(path)))

    def sources_of_all(self, paths: Iterable[str]) -> Collection[str]:
        """Return the files that are read to find annotations that moved into files."""
        return self._moved_in.sources_of_all({path: self.former_paths(path) for path in paths})

    def former_paths(self, path: str) -> tuple[str, ...]:
        """Return the former names of a file under which annotations are recorded."""
        return tuple(self._former_names.get(path, ()))

    @cached_property
    def _former_names(self) -> Mapping[str, Sequence[str]]:
        former: dict[str, list[str]] = defaultdict(list)
        for name, now in self._new_names.items():
            if now != name:
                former[now].append(name)
        return former

    @cached_property
    def _new_names(self) -> Mapping[str, str]:
        """The new names of renamed files: from the client, else from git."""
        found = {name: self._renamed[name] for name in self._gone if name in self._renamed}
        if self._history is not None:
            found |= self._history.current_paths(name for name in self._gone if name not in found)
        return {name: found[name] for name in self._gone if name in found}

    @cached_property
    def _gone(self) -> Mapping[str, None]:
        """The names of files that do not exist."""
        return dict.fromkeys(name for name in self.names if not self._exists(name))

    @property
    def names(self) -> Sequence[str]:
        """The recorded names of files of this project (R19).

        Names that are too long for any file are included: their text may be in another file.
        """
        return self._names()

    def _exists(self, name: str) -> bool:
        # A Path takes ten times as long, and there may be tens of thousands.
        return os.path.isfile(f"{self._project}/{name}")  # noqa: PTH113


def _names_in(trail: Trail) -> Sequence[str]:
    names = dict.fromkeys(map(normal_path, trail.annotated_paths()))
    return [name for name in names if can_be_in_project(name) or is_too_long(name)]


def _are_uncertain(lineages: Sequence[Lineage], text: Text) -> bool:
    """Whether the text alone does not show where all annotations are."""
    recorded = [each.recorded_range for each in lineages if each.recorded_range is not None]
    if any(each.anchors.hash is None and each.anchors.file_hash is None for each in recorded):
        return True
    return None in locate_sure(recorded, text)
