"""The text that each annotation of a file was made in, found in git's history (R4, R14, R17).

A version counts when the anchors fit it. It asks git, and so is for a thread or the command line: no hover waits for it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from functools import cache
from typing import TypeAlias

from vibes_lsp.anchors.ages import Ages, EditTime
from vibes_lsp.anchors.located import OriginalText, Since
from vibes_lsp.anchors.locating import standing_whole
from vibes_lsp.anchors.text import Text
from vibes_lsp.history.commit_resolution import CommitMethod, ResolvedCommit
from vibes_lsp.history.file_versions import Version
from vibes_lsp.history.project_history import ProjectHistory
from vibes_lsp.index.commits import known_commit, recorded_commit, recorded_commits
from vibes_lsp.index.lineage import Lineage
from vibes_lsp.index.older_text import Predating, Standing, Wanted
from vibes_lsp.model.paths import normal_path
from vibes_lsp.model.vocabulary import Action

_ALL_LATER = 32
"""An edit is followed through all of so many last versions; before these through every second up to twice as many, and so on."""

_NEARBY = 4
"""Versions after the time of an edit that are tried, when the one that the record names does not have it."""

Begun: TypeAlias = Callable[[Lineage], datetime | None]
"""Gives the time before which a commit was made before an edit (R14)."""


class OriginalTexts:
    """Chooses the text of then.

    Args:
        history: The project's git history.
        derived: Commits of annotations that record none that holds, by the id of their first record.
        begun: Gives the time before which a commit was made before an edit (R14).
        standing: What earlier questions have found out about texts before the edit.
    """

    def __init__(
        self,
        history: ProjectHistory,
        derived: Mapping[str, ResolvedCommit],
        begun: Begun,
        standing: Standing | None = None,
    ) -> None:
        self._history = history
        self._derived = derived
        self._begun = begun
        self._standing: Standing = {} if standing is None else standing
        self._texts: dict[str, Text | None] = {}

    def of(self, lineages: Iterable[Lineage], text: Text | None = None) -> dict[str, OriginalText]:
        """Return the origins of annotations by the id of their first record; those that history does not hold are left out.

        Args:
            lineages: The annotations.
            text: Their file as it is now.
        """
        wanted = [each for lineage in lineages if (each := self._wanted(lineage)) is not None]
        return _Choice(self._history, self._texts, self._standing).of(wanted, text)

    def edits(self, lineages: Iterable[Lineage]) -> dict[str, EditTime]:
        """Return when lines were edited, by the id of the first record; where that is not known, they are left out."""
        wanted = [each for lineage in lineages if (each := self._wanted(lineage)) is not None]
        may_be = [
            each
            for each in wanted
            if each.begun is not None and each.lineage.action != Action.REVIEW
        ]
        versions = {
            path: self._history.versions(path).versions
            for path in {each.path for each in may_be if each.commits}
        }
        found: dict[str, EditTime] = {}
        for each in may_be:
            later = each.later(versions.get(each.path, ()))
            if each.begun is not None:
                since = min([each.begun, *(version.moment for version in later)])
                found[each.id] = EditTime(
                    each.begun, frozenset(version.commit for version in later), since
                )
        return found

    def ages(self, path: str, since: datetime) -> Ages | None:
        """Return since when git has each line of a file, which is not told apart before some time; None where git cannot tell."""
        found = self._history.blamed(path, since)
        data = None if found is None else self._history.contents(found[0])
        if found is None or data is None:
            return None
        return Ages(Text.from_bytes(data), [Since(each.commit, each.moment) for each in found[1]])

    def _wanted(self, lineage: Lineage) -> Wanted | None:
        recorded = lineage.recorded
        path = lineage.current.text("file_path")
        if recorded is None or path is None or lineage.action == Action.DELETE:
            return None
        known = known_commit(lineage, self._derived.get(lineage.first.id))
        commit = (
            known.commit
            if known is not None and known.method != CommitMethod.INFERRED
            else recorded_commit(lineage)
        )
        commits = tuple(
            dict.fromkeys(each for each in (commit, *recorded_commits(lineage)) if each)
        )
        return Wanted(lineage, normal_path(path), recorded, commit, self._begun(lineage), commits)


class _Choice:
    """Chooses for some annotations at once. They are of one file or a few, and so what one asks history serves the others, too.

    Args:
        history: As for `OriginalTexts`.
        texts: The versions that have been read, by their blobs.
        standing: As for `OriginalTexts`.
    """

    def __init__(
        self, history: ProjectHistory, texts: dict[str, Text | None], standing: Standing
    ) -> None:
        self._contents = history.contents
        self._versions = cache(history.versions)
        self._version_at = cache(history.version_at)
        self._version_with_hash = cache(history.version_with_hash)
        self._texts = texts
        self._predating = Predating(
            history, lambda path: self._versions(path).versions, self._text, standing
        )

    def of(self, pending: Sequence[Wanted], text: Text | None) -> dict[str, OriginalText]:
        """Return the origins: for those whose text was there before the edit, that text."""
        found: dict[str, OriginalText] = {}
        for candidates in zip(*(self._padded(wanted) for wanted in pending), strict=True):
            tried = [
                (wanted, version)
                for wanted, version in zip(pending, candidates, strict=True)
                if wanted.id not in found
            ]
            found.update(self._fitting(tried))
        lengths = {wanted.id: wanted.recorded.length for wanted in pending}
        for identifier, (version, start) in self._predating.of(pending, found, text).items():
            before = self._text(version)
            if before is not None:
                since, end = Since(version.commit, version.moment), start + lengths[identifier] - 1
                found[identifier] = OriginalText(
                    before, start, end, self._later(version), before_edit=True, since=since
                )
        return found

    def _padded(self, wanted: Wanted) -> list[Version | None]:
        """Return the versions to try for an annotation, the likeliest first, filled up to the same number for all."""
        earlier = wanted.earlier(self._versions(wanted.path).versions) if wanted.is_anchored else []
        versions = [each for each in dict.fromkeys(self._candidates(wanted)) if each not in earlier]
        return [*versions, *[None] * (_NEARBY + 3 - len(versions))]

    def _candidates(self, wanted: Wanted) -> Iterator[Version]:
        path = wanted.path
        if wanted.commit is not None:
            version = self._version_at(path, wanted.commit)
            if version is not None:
                yield version
        if wanted.recorded.anchors.file_hash is not None:
            version = self._version_with_hash(path, wanted.recorded.anchors.file_hash)
            if version is not None:
                yield version
        if wanted.commit is None or wanted.is_anchored:
            known = self._versions(path)
            after = known.after(wanted.lineage.first.moment)
            if after is None:
                return
            versions = known.versions
            number = versions.index(after) if after in versions else 0
            yield from versions[max(0, number - _NEARBY + 1) : number + 1][::-1]

    def _fitting(self, tried: Sequence[tuple[Wanted, Version | None]]) -> dict[str, OriginalText]:
        """Return the origins among some versions, one for each annotation; those of one version help to find each other."""
        found: dict[str, OriginalText] = {}
        by_blob: dict[str, list[tuple[Wanted, Version]]] = {}
        for wanted, version in tried:
            if version is not None:
                by_blob.setdefault(version.blob, []).append((wanted, version))
        for group in by_blob.values():
            text, later = self._text(group[0][1]), self._later(group[0][1])
            if text is None:
                continue
            anchored = [wanted for wanted, _ in group if wanted.is_anchored]
            for wanted, located in zip(
                anchored,
                standing_whole([wanted.recorded for wanted in anchored], text),
                strict=True,
            ):
                if located is not None and located.start is not None and located.end is not None:
                    found[wanted.id] = OriginalText(text, located.start, located.end, later)
            for wanted, _ in group:
                if not wanted.is_anchored and wanted.recorded.end <= len(text.lines):
                    found[wanted.id] = OriginalText(
                        text, wanted.recorded.start, wanted.recorded.end, later, inferred=True
                    )
        return found

    def _later(self, version: Version) -> tuple[Text, ...]:
        """Return the versions that came after one, oldest first: of all that lie far back the same ones, so that they are compared once."""
        versions = self._versions(version.path).versions
        age = next(
            (age for age, each in enumerate(versions) if each.blob == version.blob), 0
        )  # 0 also if it is none of them
        chosen = (
            each
            for number, each in enumerate(versions[:age])
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
        """Return a version, given one that is like it."""
        if version.blob not in self._texts:
            data = self._contents(version)
            self._texts[version.blob] = None if data is None else Text.from_bytes(data, near)
        return self._texts[version.blob]
