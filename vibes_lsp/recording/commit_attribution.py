"""Where the lines of annotations stand in the commits that brought them (R4), and the records that say so.

A record is first looked for in the commit that it came with, then in the later ones that touched its file: of a commit of some
paths or hunks only, the log is whole and the lines come later. Nothing is taken for a commit's that stood there before it as well,
unless it is what the AI wrote, to the letter, and the record came with that very commit.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from vibes_lsp.anchors.create_anchors import Anchors, range_hashes
from vibes_lsp.anchors.functions import located_by_name
from vibes_lsp.anchors.located import Located, State
from vibes_lsp.anchors.locating import locate
from vibes_lsp.anchors.occurrences import copies
from vibes_lsp.anchors.text import Text
from vibes_lsp.history.commit_resolution import CommitMethod, ResolvedCommit
from vibes_lsp.history.committed import CommittedFile, CommittedFiles
from vibes_lsp.index.lineage import Lineage
from vibes_lsp.model.hashing import sha256
from vibes_lsp.model.members import Members
from vibes_lsp.model.paths import normal_path
from vibes_lsp.model.timestamps import format_timestamp
from vibes_lsp.model.vocabulary import Action, EdgeType, NodeType, RecordType, SupersedesReason
from vibes_lsp.recording.arguments import WrongArgument
from vibes_lsp.recording.context import Draft, Node


@dataclass(frozen=True, slots=True)
class Landed:
    """Lines in the commit that brought them; 1-based and inclusive."""

    file: CommittedFile
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class _Found:
    """Lines in some text."""

    start: int
    end: int
    lines: Sequence[str]
    sure: bool


@dataclass(frozen=True, slots=True)
class Attributions:
    """Finds the commits of lines.

    Attributes:
        files: The project's files in its commits; it has looked ahead.
        may_be: Whether a commit may be named at all.
    """

    files: CommittedFiles
    may_be: Callable[[str], bool]

    def of(
        self, path: str, derived: ResolvedCommit, lineages: Sequence[Lineage]
    ) -> dict[str, Landed]:
        """Return where the lines of some annotations landed, by the id of their first record; those that did not are left out.

        Args:
            path: The file that they are about, relative to the project.
            derived: The commit that they came with.
            lineages: The annotations; those of one edit help to find each other.
        """
        found: dict[str, Landed] = {}
        for file in self._candidates(path, derived.commit):
            left = [lineage for lineage in lineages if lineage.first.id not in found]
            if not left:
                break
            own = file.commit == derived.commit
            for lineage, where in zip(
                left, _find(left, Text.from_bytes(file.content), path), strict=True
            ):
                if where is None:
                    continue
                proven = where.sure and (not own or derived.method != CommitMethod.INFERRED)
                if (proven or self._brought(lineage, where, file)) and (
                    own or self.files.repository.is_ancestor(derived.commit, file.commit)
                ):
                    found[lineage.first.id] = Landed(file, where.start, where.end)
        return found

    def is_nowhere(self, lineage: Lineage, path: str, commits: Sequence[str]) -> bool:
        """Whether no trace of an annotation's lines is in its file in any of some commits."""
        known = (self.files.at(path, commit) for commit in commits)
        return not any(
            _is_anywhere(lineage, Text.from_bytes(file.content), path)
            for file in known
            if file is not None
        )

    def _candidates(self, path: str, commit: str) -> Iterator[CommittedFile]:
        own = self.files.at(path, commit)
        if own is not None and self.may_be(own.commit):
            yield own
        yield from (file for file in self.files.later(path, commit) if self.may_be(file.commit))

    def _brought(self, lineage: Lineage, where: _Found, file: CommittedFile) -> bool:
        """Whether the lines as a commit has them are in none of the commits before it."""
        earlier = (
            _find([lineage], Text.from_bytes(content), file.path)[0]
            for content in self.files.before(file)
        )
        return all(before is None or before.lines != where.lines for before in earlier)


@dataclass(slots=True)
class Renewals:
    """Records that take the place of others, with the edges that say so.

    Attributes:
        reason: Why.
        ids: The new records.
        replaced: The records whose place they take.
        edges: The ids of the edges.
        records: All of it, in the order of the log.
    """

    reason: SupersedesReason
    ids: list[str] = field(default_factory=list)
    replaced: list[str] = field(default_factory=list)
    edges: list[str] = field(default_factory=list)
    records: list[Members] = field(default_factory=list)

    def add(self, lineage: Lineage, landed: Landed) -> bool:
        """Add the record of a lineage as its commit has it; return whether it could be written.

        It is the same for everyone: it has the times of the edit and of the commit, none of today.
        """
        members = {
            **lineage.current.members,
            "action": Action.REBASE_REMAP.value,
            "file_content_hash": sha256(landed.file.content),
        }
        if lineage.current.type == RecordType.LINE:
            members.update(line_start=landed.start, line_end=landed.end)
        return self._add(lineage, members, landed.file.commit, landed.file.moment)

    def add_orphan(self, lineage: Lineage, commit: str, moment: datetime) -> bool:
        """Add a record which says that a lineage is nowhere in a commit, made at some time (RFC 7.3.1)."""
        return self._add(
            lineage,
            {**lineage.current.members, "action": Action.REBASE_ORPHAN.value},
            commit,
            moment,
        )

    def written(self) -> tuple[dict[str, Any], ...]:
        """Return the new records without the edges."""
        new = set(self.ids)
        return tuple(dict(record) for record in self.records if record["annotation_id"] in new)

    def _add(self, lineage: Lineage, members: Members, commit: str, moment: datetime) -> bool:
        draft = Draft(format_timestamp(moment))
        given = {name: value for name, value in members.items() if name != "annotation_id"}
        try:
            identifier = draft.add({**given, "commit_hash": commit})
        except (
            WrongArgument
        ):  # another tool's record which is not what the RFC asks for: we do not write such
            return False
        source, target = (
            Node(identifier, NodeType.ANNOTATION),
            Node(lineage.current.id, NodeType.ANNOTATION),
        )
        draft.edge(EdgeType.SUPERSEDES, source, target, {"reason": self.reason.value})
        self.ids.append(identifier)
        self.replaced.append(lineage.current.id)
        self.edges += draft.edges
        self.records += draft.records
        return True


def may_land(lineage: Lineage) -> bool:
    """Whether an annotation has lines that can be looked for: a deletion's are gone, and what has no anchor proves nothing."""
    if (
        lineage.action in {Action.DELETE, ""}
        or lineage.current.text("action") == Action.REBASE_ORPHAN
    ):
        return False
    if lineage.current.type == RecordType.FUNCTION:
        return bool(lineage.current.text("function_name"))
    recorded = lineage.recorded
    return recorded is not None and recorded.anchors != Anchors()


def grouped(
    lineages: Iterable[Lineage], derived: Mapping[str, ResolvedCommit]
) -> dict[tuple[str, ResolvedCommit], list[Lineage]]:
    """Return annotations by the file that they are about and the commit that they came with; those whose is not known are left out."""
    groups: dict[tuple[str, ResolvedCommit], list[Lineage]] = defaultdict(list)
    for lineage in lineages:
        if lineage.first.id in derived:
            groups[
                normal_path(lineage.current.text("file_path") or ""), derived[lineage.first.id]
            ].append(lineage)
    return groups


def _is_anywhere(lineage: Lineage, text: Text, path: str) -> bool:
    recorded = lineage.recorded
    if recorded is not None:
        return locate([recorded], text)[0].start is not None
    return (
        located_by_name(text, path, lineage.current.text("function_name") or "", None).start
        is not None
    )


def _find(lineages: Sequence[Lineage], text: Text, path: str) -> list[_Found | None]:
    """Return where annotations are in a text; None also for those of which one cannot be certain."""
    ranges = [lineage.recorded for lineage in lineages]
    located = iter(locate([each for each in ranges if each is not None], text))
    return [
        _function(lineage, text, path)
        if recorded is None
        else _lines(next(located), recorded.anchors, text)
        for lineage, recorded in zip(lineages, ranges, strict=True)
    ]


def _lines(located: Located, anchors: Anchors, text: Text) -> _Found | None:
    if located.start is None or located.end is None:
        return None
    lines = text.lines[located.start - 1 : located.end]
    if located.ambiguous and (
        located.state == State.EDITED or copies(lines, text, located.start) != []
    ):
        return None
    if not located.sure and (located.state == State.UNVERIFIED or anchors.hash is None):
        return None
    return _Found(located.start, located.end, lines, located.sure)


def _function(lineage: Lineage, text: Text, path: str) -> _Found | None:
    located = located_by_name(
        text,
        path,
        lineage.current.text("function_name") or "",
        lineage.current.text("function_signature"),
    )
    if located.start is None or located.end is None or located.ambiguous:
        return None
    lines = text.lines[located.start - 1 : located.end]
    return _Found(
        located.start,
        located.end,
        lines,
        lineage.first.text("anchor_hash") in set(range_hashes(lines)),
    )
