"""Find the commits that introduced the lines of annotations (R4), and draft the records.

An annotation is looked for in the commit that added its record, then in later commits that touch
its file, because a commit of only some paths or hunks contains the whole log, but not all lines.
Lines that a parent has as well are not attributed to the commit, unless they are exactly what the
AI wrote and the same commit added the record.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from vibes_lsp.anchors.create_anchors import Anchors, range_hash_variants
from vibes_lsp.anchors.functions import locate_function
from vibes_lsp.anchors.line_hashes import line_hash, split_hashes
from vibes_lsp.anchors.locate import locate
from vibes_lsp.anchors.location import LocatedRange, State
from vibes_lsp.anchors.occurrences import has_copy
from vibes_lsp.anchors.text import Text
from vibes_lsp.git.commit_resolution import CommitMethod, ResolvedCommit
from vibes_lsp.maintenance.committed_files import CommittedFile, CommittedFiles
from vibes_lsp.maintenance.superseding_records import SupersedingRecords
from vibes_lsp.model.hashing import sha256
from vibes_lsp.model.members import Members
from vibes_lsp.model.paths import normal_path
from vibes_lsp.model.vocabulary import Action, RecordType
from vibes_lsp.trail.lineage import Lineage


@dataclass(frozen=True, slots=True)
class LinesOfCommit:
    """Lines in the commit that introduced them; 1-based and inclusive."""

    file: CommittedFile
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class _FoundLines:
    """Lines in a text."""

    start: int
    end: int
    lines: Sequence[str]
    sure: bool


@dataclass(frozen=True, slots=True)
class CommitAttribution:
    """Finds the commits of lines.

    Attributes:
        files: The project's files in its commits; `prefetch` was called.
        is_allowed: Whether a commit may be written into the log.
    """

    files: CommittedFiles
    is_allowed: Callable[[str], bool]

    def find(
        self, path: str, resolved: ResolvedCommit, lineages: Sequence[Lineage]
    ) -> dict[str, LinesOfCommit]:
        """Return the committed lines of annotations by the id of their first record.

        Annotations that no commit has are left out.

        Args:
            path: Their file, relative to the project.
            resolved: The commit that added their records.
            lineages: The annotations; those of one edit help to locate each other.
        """
        lines_by_id: dict[str, LinesOfCommit] = {}
        for file in self._candidates(path, resolved.commit):
            left = [lineage for lineage in lineages if lineage.first.id not in lines_by_id]
            if not left:
                break
            own = file.commit == resolved.commit
            for lineage, where in zip(
                left, _find(left, Text.from_bytes(file.content), path), strict=True
            ):
                if where is None or not (where.sure or _is_as_written(lineage, where)):
                    continue
                proven = where.sure and (not own or resolved.method != CommitMethod.INFERRED)
                if (proven or self._introduces(lineage, where, file)) and (
                    own or self.files.repository.is_ancestor(resolved.commit, file.commit)
                ):
                    lines_by_id[lineage.first.id] = LinesOfCommit(file, where.start, where.end)
        return lines_by_id

    def is_absent(self, lineage: Lineage, path: str, commits: Sequence[str]) -> bool:
        """Return whether an annotation's file has none of its lines in any of these commits."""
        known = (self.files.read(path, commit) for commit in commits)
        return not any(
            _is_found(lineage, Text.from_bytes(file.content), path)
            for file in known
            if file is not None
        )

    def _candidates(self, path: str, commit: str) -> Iterator[CommittedFile]:
        own = self.files.read(path, commit)
        if own is not None and self.is_allowed(own.commit):
            yield own
        yield from (
            file for file in self.files.later_versions(path, commit) if self.is_allowed(file.commit)
        )

    def _introduces(self, lineage: Lineage, where: _FoundLines, file: CommittedFile) -> bool:
        """Return whether none of a commit's parents has these lines."""
        earlier = (
            _find([lineage], Text.from_bytes(content), file.path)[0]
            for content in self.files.parent_contents(file)
        )
        return all(before is None or before.lines != where.lines for before in earlier)


def _is_as_written(lineage: Lineage, where: _FoundLines) -> bool:
    """Whether found lines have all line hashes of an annotation; true without line hashes."""
    if not lineage.has_hashes:
        return True
    hashes = split_hashes(lineage.first.members.get("line_hashes"))
    return hashes == tuple(map(line_hash, where.lines))


def add_committed(new: SupersedingRecords, lineage: Lineage, committed: LinesOfCommit) -> bool:
    """Add a lineage's record for the commit of its lines; return whether it is valid."""
    changes: Members = {
        "action": Action.REBASE_REMAP.value,
        "file_content_hash": sha256(committed.file.content),
    }
    if lineage.current.type == RecordType.LINE:
        changes.update(line_start=committed.start, line_end=committed.end)
    current, file = lineage.current, committed.file
    return new.add(current.id, current.members, changes, file.commit, file.moment)


def has_locatable_lines(lineage: Lineage) -> bool:
    """Return whether commits can be searched for an annotation's lines.

    A deletion's lines are gone; without an anchor a match proves nothing.
    """
    if (
        lineage.action in {Action.DELETE, ""}
        or lineage.current.text("action") == Action.REBASE_ORPHAN
    ):
        return False
    if lineage.current.type == RecordType.FUNCTION:
        return bool(lineage.current.text("function_name"))
    recorded = lineage.recorded_range
    return recorded is not None and recorded.anchors != Anchors()


def group_by_commit(
    lineages: Iterable[Lineage], resolved: Mapping[str, ResolvedCommit]
) -> dict[tuple[str, ResolvedCommit], list[Lineage]]:
    """Return annotations by file and commit; those without a resolved commit are left out."""
    groups: dict[tuple[str, ResolvedCommit], list[Lineage]] = defaultdict(list)
    for lineage in lineages:
        if lineage.first.id in resolved:
            groups[
                normal_path(lineage.current.text("file_path") or ""), resolved[lineage.first.id]
            ].append(lineage)
    return groups


def _is_found(lineage: Lineage, text: Text, path: str) -> bool:
    recorded = lineage.recorded_range
    if recorded is not None:
        return locate([recorded], text)[0].start is not None
    return (
        locate_function(text, path, lineage.current.text("function_name") or "", None).start
        is not None
    )


def _find(lineages: Sequence[Lineage], text: Text, path: str) -> list[_FoundLines | None]:
    """Return the lines of annotations in a text; None for those not found with certainty."""
    ranges = [lineage.recorded_range for lineage in lineages]
    located = iter(locate([recorded for recorded in ranges if recorded is not None], text))
    return [
        _function(lineage, text, path)
        if recorded is None
        else _lines(next(located), recorded.anchors, text)
        for lineage, recorded in zip(lineages, ranges, strict=True)
    ]


def _lines(located: LocatedRange, anchors: Anchors, text: Text) -> _FoundLines | None:
    if located.start is None or located.end is None:
        return None
    lines = text.lines[located.start - 1 : located.end]
    if located.ambiguous and (
        located.state == State.EDITED or has_copy(lines, text, located.start)
    ):
        return None
    if not located.sure and (located.state == State.UNVERIFIED or anchors.hash is None):
        return None
    return _FoundLines(located.start, located.end, lines, located.sure)


def _function(lineage: Lineage, text: Text, path: str) -> _FoundLines | None:
    located = locate_function(
        text,
        path,
        lineage.current.text("function_name") or "",
        lineage.current.text("function_signature"),
    )
    if located.start is None or located.end is None or located.ambiguous:
        return None
    lines = text.lines[located.start - 1 : located.end]
    return _FoundLines(
        located.start,
        located.end,
        lines,
        lineage.first.text("anchor_hash") in set(range_hash_variants(lines)),
    )
