"""The text that each annotation of a file was made in, found in git's history (R4, R14, R17).

A version counts when the anchors fit it. It asks git, and so is for a thread or the command line: no hover waits for it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache

from vibes_lsp.anchors.located import Origin, Recorded
from vibes_lsp.anchors.locating import standing_whole
from vibes_lsp.anchors.making import Anchors
from vibes_lsp.anchors.text import Text
from vibes_lsp.history.derived import CommitMethod, DerivedCommit
from vibes_lsp.history.project import ProjectHistory
from vibes_lsp.history.versions import Version
from vibes_lsp.index.commits import known_commit, recorded_commit
from vibes_lsp.index.lineage import Lineage
from vibes_lsp.model.paths import normal_path
from vibes_lsp.model.vocabulary import Action

_ALL_LATER = 32
"""An edit is followed through all of so many last versions; before these through every second up to twice as many, and so on."""

_NEARBY = 4
"""Versions after the time of an edit that are tried, when the one that the record names does not have it."""


@dataclass(frozen=True, slots=True)
class _Wanted:
    """A lineage whose text is looked for."""

    lineage: Lineage
    path: str
    recorded: Recorded
    commit: str | None

    @property
    def is_anchored(self) -> bool:
        """Whether there is anything that a text can be checked against."""
        return self.recorded.anchors != Anchors()


class Origins:
    """Chooses the text of then.

    Args:
        history: The project's git history.
        derived: Commits of annotations that record none that holds, by the id of their first record.
    """

    def __init__(self, history: ProjectHistory, derived: Mapping[str, DerivedCommit]) -> None:
        self._history = history
        self._derived = derived
        self._texts: dict[str, Text | None] = {}

    def of(self, lineages: Iterable[Lineage]) -> dict[str, Origin]:
        """Return the origins of annotations by the id of their first record; those that history does not hold are left out."""
        return _Choice(self._history, self._derived, self._texts).of(lineages)


class _Choice:
    """Chooses for some annotations at once. They are of one file or a few, and so what one asks history serves the others, too.

    Args:
        history: As for `Origins`.
        derived: As for `Origins`.
        texts: The versions that have been read, by their blobs.
    """

    def __init__(self, history: ProjectHistory, derived: Mapping[str, DerivedCommit], texts: dict[str, Text | None]) -> None:
        self._contents = history.contents
        self._versions = cache(history.versions)
        self._version_at = cache(history.version_at)
        self._version_with_hash = cache(history.version_with_hash)
        self._derived = derived
        self._texts = texts

    def of(self, lineages: Iterable[Lineage]) -> dict[str, Origin]:
        """Return the origins."""
        pending = [wanted for lineage in lineages if (wanted := self._wanted(lineage)) is not None]
        found: dict[str, Origin] = {}
        for wanted in pending:
            before = self._before_the_edit(wanted)
            if before is not None:
                found[wanted.lineage.first.id] = before
        for candidates in zip(*(self._padded(wanted) for wanted in pending), strict=True):
            tried = [(wanted, version) for wanted, version in zip(pending, candidates, strict=True) if wanted.lineage.first.id not in found]
            found.update(self._fitting(tried))
        return found

    def _wanted(self, lineage: Lineage) -> _Wanted | None:
        recorded = lineage.recorded
        path = lineage.current.text("file_path")
        if recorded is None or path is None or lineage.action == Action.DELETE:
            return None
        known = known_commit(lineage, self._derived.get(lineage.first.id))
        commit = known.commit if known is not None and known.method != CommitMethod.INFERRED else recorded_commit(lineage)
        return _Wanted(lineage, normal_path(path), recorded, commit)

    def _padded(self, wanted: _Wanted) -> list[Version | None]:
        """Return the versions to try for an annotation, the likeliest first, filled up to the same number for all."""
        versions = list(dict.fromkeys(self._candidates(wanted)))
        return [*versions, *[None] * (_NEARBY + 3 - len(versions))]

    def _candidates(self, wanted: _Wanted) -> Iterator[Version]:
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

    def _fitting(self, tried: Sequence[tuple[_Wanted, Version | None]]) -> dict[str, Origin]:
        """Return the origins among some versions, one for each annotation; those of one version help to find each other."""
        found: dict[str, Origin] = {}
        by_blob: dict[str, list[tuple[_Wanted, Version]]] = {}
        for wanted, version in tried:
            if version is not None:
                by_blob.setdefault(version.blob, []).append((wanted, version))
        for group in by_blob.values():
            text, later = self._text(group[0][1]), self._later(group[0][1])
            if text is None:
                continue
            anchored = [wanted for wanted, _ in group if wanted.is_anchored]
            for wanted, located in zip(anchored, standing_whole([wanted.recorded for wanted in anchored], text), strict=True):
                if located is not None and located.start is not None and located.end is not None:
                    found[wanted.lineage.first.id] = Origin(text, located.start, located.end, later)
            for wanted, _ in group:
                if not wanted.is_anchored and wanted.recorded.end <= len(text.lines):
                    found[wanted.lineage.first.id] = Origin(text, wanted.recorded.start, wanted.recorded.end, later, inferred=True)
        return found

    def _before_the_edit(self, wanted: _Wanted) -> Origin | None:
        """Return the text before the edit, if that is what the tool made its anchors of: then they prove nothing (R14).

        Commits know whole seconds only, and clocks differ: what came with the commit of the record, or after it, was not before.
        """
        if wanted.recorded.anchors.hash is None:
            return None
        second = wanted.lineage.first.moment.replace(microsecond=0)
        version = next((version for version in self._before(wanted) if version.moment < second), None)
        if version is None:
            return None
        text = self._text(version)
        if text is None or not wanted.recorded.is_in(text.lines, wanted.recorded.start):
            return None
        return Origin(text, wanted.recorded.start, wanted.recorded.end, self._later(version), before_edit=True)

    def _before(self, wanted: _Wanted) -> Sequence[Version]:
        """Return the versions before the commit of a record, newest first; all where it made none of them."""
        versions, commit = self._versions(wanted.path).versions, wanted.commit
        own = next((number for number, each in enumerate(versions) if commit is not None and each.commit.startswith(commit)), -1)
        return versions[own + 1 :]

    def _later(self, version: Version) -> tuple[Text, ...]:
        """Return the versions that came after one, oldest first: of all that lie far back the same ones, so that they are compared once."""
        versions = self._versions(version.path).versions
        age = next((age for age, each in enumerate(versions) if each.blob == version.blob), 0)  # 0 also if it is none of them
        chosen = (each for number, each in enumerate(versions[:age]) if number % (1 << (number // _ALL_LATER).bit_length()) == 0)
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
