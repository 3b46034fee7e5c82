"""The text that each annotation was made in, found in git's history (R4, R14, R17).

A version counts when the anchors match it. If they match a version older than the edit, the match
proves nothing (R14), and that version is returned as such. A text that was changed before it was
committed is in no version; this machine may have kept it. This runs git, so call it from a
thread or a command.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cache
from typing import Final, TypeAlias

from vibes_lsp.anchors.history_mapping import EditTime, LineAges
from vibes_lsp.anchors.locate import locate_sure
from vibes_lsp.anchors.location import DatedCommit, OriginalText
from vibes_lsp.anchors.text import Text
from vibes_lsp.history.commit_resolution import CommitMethod, ResolvedCommit
from vibes_lsp.history.file_versions import FileVersions, Version
from vibes_lsp.history.project_history import ProjectHistory
from vibes_lsp.history.stored_files import distinctive_lines
from vibes_lsp.index.older_text import OlderTextSearch, OlderVersions, SearchedAnnotation
from vibes_lsp.model.paths import normal_path
from vibes_lsp.model.vocabulary import Action
from vibes_lsp.trail.lineage import Lineage
from vibes_lsp.trail.lineage_commits import known_commit, recorded_commit, recorded_commits

_ALL_LATER: Final = 32
"""An edit is followed through this many of the last versions; before these through every second up
to twice as many, then through every fourth, and so on."""
_NEARBY: Final = 4
"""Versions around the time of an edit that are tried if the recorded commit lacks the text."""

EarliestEditTime: TypeAlias = Callable[[Lineage], datetime | None]
"""Returns the time before which a commit is older than an edit (R14)."""
KeptText: TypeAlias = Callable[[str], bytes | None]
"""Returns the text with a hash, if this machine has kept it."""


@dataclass(frozen=True, slots=True)
class _KnownOriginals:
    """The result of a search, with all that it asked and was told.

    Attributes:
        annotations: What was searched for.
        text: The file at that time.
        versions: The versions of files.
        at_commits: Files at commits; None for a commit that is missing or lacks the file.
        kept: The hashes of texts, and whether this machine had kept them.
        originals: The result.
        older_versions: A cache of versions older than an edit.
    """

    annotations: Sequence[SearchedAnnotation]
    text: Text | None
    versions: Mapping[str, FileVersions]
    at_commits: Mapping[tuple[str, str], Version | None]
    kept: Mapping[str, bool]
    originals: Mapping[str, OriginalText]
    older_versions: OlderVersions


KnownOriginals: TypeAlias = dict[str, _KnownOriginals]
"""The last search for each file. It saves four fifths of the time of a look-up after a commit."""


class OriginalTexts:
    """Finds the text that annotations were made in.

    Args:
        history: The project's git history.
        resolved_commits: Commits of annotations that record none, or a rewritten one, by the id of
            their first record.
        earliest_edit_time: Returns the time before which a commit is older than an edit (R14).
        kept_text: Returns the text with a hash, if this machine has kept it; None not to ask.
        known: The last searches for files, to which those of `of_file` are added; None not to.
    """

    def __init__(
        self,
        history: ProjectHistory,
        resolved_commits: Mapping[str, ResolvedCommit],
        earliest_edit_time: EarliestEditTime,
        kept_text: KeptText | None,
        known: KnownOriginals | None,
    ) -> None:
        self._history = history
        self._known = known
        self._resolved_commits = resolved_commits
        self._earliest_edit_time = earliest_edit_time
        self._kept_text = kept_text

    def of_file(
        self, path: str, annotations: Sequence[SearchedAnnotation], text: Text
    ) -> Mapping[str, OriginalText]:
        """Return what `of` does, from the last search for a file if it would be the same now.

        Args:
            path: The file, by its current name.
            annotations: All of its annotations.
            text: The file as it is now.
        """
        if self._known is None:
            return self._search({}).run(annotations, text).originals
        known = self._known.get(path)
        if known is None or not self._holds(known, annotations, text):
            older_versions = {} if known is None else known.older_versions
            _, missing = self._history.missing()
            known = self._search(older_versions).run(annotations, text)
            if self._history.missing()[1] == missing:  # else it may be fetched later
                self._known[path] = known
        return known.originals

    def of(
        self, lineages: Iterable[Lineage], text: Text | None = None
    ) -> Mapping[str, OriginalText]:
        """Return the original texts that git has, by the id of the first record.

        Args:
            lineages: The annotations.
            text: Their file as it is now.
        """
        return self._search({}).run(self.searched(lineages), text).originals

    def may_be_older(self, lineages: Iterable[Lineage]) -> bool:
        """Whether git may have had the text of some annotations before their edits."""
        history = self._history
        search = OlderTextSearch(
            history, lambda path: history.versions(path).versions, lambda _: None, {}
        )
        return bool(search.possible(self.searched(lineages)))

    def _search(self, older_versions: OlderVersions) -> _OriginalTextSearch:
        return _OriginalTextSearch(self._history, older_versions, self._kept_text)

    def _holds(
        self, known: _KnownOriginals, annotations: Sequence[SearchedAnnotation], text: Text | None
    ) -> bool:
        """Whether a search would ask the same now, and be told the same."""
        kept_text, history = self._kept_text, self._history
        return (
            known.annotations == annotations
            and known.text == text
            and all(history.versions(path) == found for path, found in known.versions.items())
            and all(history.version_at(*at) == found for at, found in known.at_commits.items())
            and all(
                (kept_text is not None and kept_text(each) is not None) == is_kept
                for each, is_kept in known.kept.items()
            )
        )

    def edit_times(self, annotations: Iterable[SearchedAnnotation]) -> dict[str, EditTime]:
        """Return when lines were edited, where that is known, by the id of the first record."""
        edits = [
            (each, each.earliest_edit)
            for each in annotations
            if each.earliest_edit is not None and each.lineage.action != Action.REVIEW
        ]
        versions = {
            path: self._history.versions(path).versions
            for path in {each.path for each, _ in edits if each.commits}
        }
        found: dict[str, EditTime] = {}
        for each, earliest in edits:
            later = each.versions_since_edit(versions.get(each.path, ()))
            since = min([earliest, *(version.moment for version in later)])
            found[each.id] = EditTime(
                earliest, frozenset(version.commit for version in later), since
            )
        return found

    def ages(self, path: str, since: datetime) -> LineAges | None:
        """Return the commit of each line of a file; None if git does not answer.

        Args:
            path: Relative to the project, forward slashes.
            since: Older lines get any commit before this time.
        """
        found = self._history.blame(path, since)
        data = None if found is None else self._history.contents(found[0])
        if found is None or data is None:
            return None
        return LineAges(
            Text.from_bytes(data), [DatedCommit(each.commit, each.moment) for each in found[1]]
        )

    def searched(self, lineages: Iterable[Lineage]) -> list[SearchedAnnotation]:
        """Return those annotations that have lines, with what is searched for."""
        return [each for lineage in lineages if (each := self._search_for(lineage)) is not None]

    def _search_for(self, lineage: Lineage) -> SearchedAnnotation | None:
        recorded = lineage.recorded_range
        path = lineage.current.text("file_path")
        if recorded is None or path is None or lineage.action == Action.DELETE:
            return None
        known = known_commit(lineage, self._resolved_commits.get(lineage.first.id))
        commit = (
            known.commit
            if known is not None and known.method != CommitMethod.INFERRED
            else recorded_commit(lineage)
        )
        commits = tuple(
            dict.fromkeys(each for each in (commit, *recorded_commits(lineage)) if each)
        )
        return SearchedAnnotation(
            lineage, normal_path(path), recorded, commit, self._earliest_edit_time(lineage), commits
        )


class _OriginalTextSearch:
    """Searches history for several annotations at once, so that each version is read once.

    Args:
        history: The project's git history.
        older_versions: As for `OlderTextSearch`.
        kept_text: As for `OriginalTexts`.
    """

    def __init__(
        self,
        history: ProjectHistory,
        older_versions: OlderVersions,
        kept_text: KeptText | None,
    ) -> None:
        self._history = history
        self._contents = history.contents
        self._known_versions: dict[str, FileVersions] = {}
        self._at_commits: dict[tuple[str, str], Version | None] = {}
        self._version_with_hash = cache(history.version_with_hash)
        self._texts: dict[str, Text | None] = {}
        self._kept_text = kept_text
        self._is_kept: dict[str, bool] = {}
        self._history, self._older_versions = history, older_versions

    def _versions(self, path: str) -> FileVersions:
        if path not in self._known_versions:
            self._known_versions[path] = self._history.versions(path)
        return self._known_versions[path]

    def _version_at(self, path: str, commit: str) -> Version | None:
        if (path, commit) not in self._at_commits:
            self._at_commits[path, commit] = self._history.version_at(path, commit)
        return self._at_commits[path, commit]

    def run(self, annotations: Sequence[SearchedAnnotation], text: Text | None) -> _KnownOriginals:
        """Return the original texts; a text older than the edit takes precedence."""
        found: dict[str, OriginalText] = {}
        current = None if text is None else distinctive_lines(text.lines)
        for candidates in zip(*(self._padded(each) for each in annotations), strict=True):
            tried = [
                (each, version)
                for each, version in zip(annotations, candidates, strict=True)
                if each.id not in found
            ]
            found.update(self._matching(tried, current))
        for each in annotations:
            if each.id not in found and (kept := self._kept(each)) is not None:
                found[each.id] = kept
        lengths = {each.id: each.recorded_range.length for each in annotations}
        search = OlderTextSearch(  # made here: as a member it would keep all texts in a cycle
            self._history,
            lambda path: self._versions(path).versions,
            self._text,
            self._older_versions,
        )
        for identifier, (version, start) in search.run(annotations, found, text).items():
            before = self._text(version)
            if before is not None:
                since, end = (
                    DatedCommit(version.commit, version.moment),
                    start + lengths[identifier] - 1,
                )
                found[identifier] = OriginalText(
                    before, start, end, self._later(version), before_edit=True, older_commit=since
                )
        asked = self._known_versions, self._at_commits, self._is_kept
        return _KnownOriginals(annotations, text, *asked, found, self._older_versions)

    def _padded(self, annotation: SearchedAnnotation) -> list[Version | None]:
        """Return the versions to try, likeliest first, padded with None to a common length."""
        older = (
            annotation.versions_before_edit(self._versions(annotation.path).versions)
            if annotation.is_anchored
            else []
        )
        candidates = dict.fromkeys(self._candidates(annotation))
        versions = [each for each in candidates if each not in older]
        return [*versions, *[None] * (_NEARBY + 3 - len(versions))]

    def _candidates(self, annotation: SearchedAnnotation) -> Iterator[Version]:
        path = annotation.path
        if annotation.commit is not None:
            version = self._version_at(path, annotation.commit)
            if version is not None:
                yield version
        file_hash = annotation.recorded_range.anchors.file_hash
        if file_hash is not None:
            version = self._version_with_hash(path, file_hash)
            if version is not None:
                yield version
        if annotation.commit is None or annotation.is_anchored:
            known = self._versions(path)
            after = known.first_after(annotation.lineage.first.moment)
            if after is None:
                return
            versions = known.versions
            number = versions.index(after) if after in versions else 0
            yield from versions[max(0, number - _NEARBY + 1) : number + 1][::-1]

    def _matching(
        self,
        tried: Sequence[tuple[SearchedAnnotation, Version | None]],
        current: frozenset[str] | None,
    ) -> dict[str, OriginalText]:
        """Return the original texts, given one version to try for each annotation.

        Annotations of one version are located together, because they help to locate each other. A
        version without a line of the current text, as of a file that git stores encrypted, does not
        show where lines without anchors are.
        """
        found: dict[str, OriginalText] = {}
        by_blob: dict[str, list[tuple[SearchedAnnotation, Version]]] = {}
        for each, version in tried:
            if version is not None:
                by_blob.setdefault(version.blob, []).append((each, version))
        for group in by_blob.values():
            text, later = self._text(group[0][1]), self._later(group[0][1])
            if text is None:
                continue
            anchored = [each for each, _ in group if each.is_anchored]
            located = locate_sure([each.recorded_range for each in anchored], text)
            for each, where in zip(anchored, located, strict=True):
                if where is not None and where.start is not None and where.end is not None:
                    found[each.id] = OriginalText(text, where.start, where.end, later)
            for each, _ in group:
                recorded = each.recorded_range
                if (
                    not each.is_anchored
                    and recorded.end <= len(text.lines)
                    and _has_line_of(text, current)
                ):
                    followed = tuple(version for version in later if _has_line_of(version, current))
                    found[each.id] = OriginalText(
                        text, recorded.start, recorded.end, followed, inferred=True
                    )
        return found

    def _kept(self, annotation: SearchedAnnotation) -> OriginalText | None:
        """Return the original text that this machine has kept."""
        recorded = annotation.recorded_range
        file_hash = recorded.anchors.file_hash
        if file_hash is None or self._kept_text is None:
            return None
        data = self._kept_text(file_hash)
        self._is_kept[file_hash] = data is not None
        if data is None:
            return None
        text = Text.from_bytes(data)
        [where] = locate_sure([recorded], text)
        if where is None or where.start is None or where.end is None:
            return None
        versions = self._versions(annotation.path).versions
        age = sum(each.moment >= annotation.lineage.first.moment for each in versions)
        return OriginalText(text, where.start, where.end, self._newest(versions[:age]))

    def _later(self, version: Version) -> tuple[Text, ...]:
        """Return versions after one, oldest first."""
        versions = self._versions(version.path).versions
        age = next((age for age, each in enumerate(versions) if each.blob == version.blob), 0)
        return self._newest(versions[:age])

    def _newest(self, versions: Sequence[Version]) -> tuple[Text, ...]:
        """Return the texts of versions that are the newest of a file, oldest first.

        Old ones are skipped by their age, the same for each version, so that each pair is compared
        once.
        """
        chosen = (
            each
            for number, each in enumerate(versions)
            if number % (1 << (number // _ALL_LATER).bit_length()) == 0
        )
        found: list[Text] = []
        for each in chosen:
            text = self._read(each, found[-1] if found else None)
            if text is not None:
                found.append(text)
        return tuple(reversed(found))

    def _text(self, version: Version) -> Text | None:
        if version.blob in self._texts:
            return self._texts[version.blob]
        later = self._later(version)
        return self._read(version, later[0] if later else None)

    def _read(self, version: Version, near: Text | None) -> Text | None:
        """Return the text of a version, sharing what it can with a similar text."""
        if version.blob not in self._texts:
            data = self._contents(version)
            self._texts[version.blob] = None if data is None else Text.from_bytes(data, near)
        return self._texts[version.blob]


def _has_line_of(version: Text, current: frozenset[str] | None) -> bool:
    """Whether a version has a distinctive line of the current text; true if that is unknown."""
    return current is None or any(line.strip() in current for line in version.lines)
