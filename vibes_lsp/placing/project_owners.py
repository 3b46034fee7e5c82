"""Whose the lines of a project's files are: what git and the trail know about a file, asked once.

It runs git and reads files, so it is for commands and threads. What it returns asks nothing more.
"""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field, replace
from functools import cache, cached_property, lru_cache
from pathlib import PurePosixPath
from typing import Final

from vibes_lsp.anchors.line_hashes import is_long, line_hash
from vibes_lsp.anchors.location import LineKind
from vibes_lsp.anchors.text import Text
from vibes_lsp.errors import HistoryUnavailable
from vibes_lsp.git.line_origins import LineOrigin
from vibes_lsp.git.repository import Repository
from vibes_lsp.placing.claims import RecordClaim, claims_of
from vibes_lsp.placing.committed_lines import CommittedOwners, FileInHead
from vibes_lsp.placing.edit_placements import place_annotations
from vibes_lsp.placing.edits import LoggedLines, RecordedEdit, Snapshots
from vibes_lsp.placing.hash_placement import HashedText
from vibes_lsp.placing.hunks import WrittenHunks
from vibes_lsp.placing.line_owners import TextOwners, owned_text
from vibes_lsp.placing.lost_lines import LostBlocks, ReadText, lost_lines
from vibes_lsp.placing.moved_blocks import PlacedLines
from vibes_lsp.placing.placements import Placement
from vibes_lsp.placing.replay import replay
from vibes_lsp.placing.standing import CandidateEdits, has_left
from vibes_lsp.placing.trail_records import CommittedLog, TrailRecords, committed_log, read_edits
from vibes_lsp.store.waiting_lines import written_hunks
from vibes_lsp.trail.lineage import Lineage
from vibes_lsp.trail.trail import Trail

_MAX_KEPT: Final = 1_000
"""Files of which it is kept what is known."""


@dataclass(frozen=True, slots=True)
class KnownFile:
    """What is known of a file before its text on screen is looked at.

    Attributes:
        head: The file in HEAD; None without git, before the first commit, and until git answered.
        waiting: The edits that lines may be of which no commit has.
        ids: The ids of all records that are known here.
        elsewhere: What other files have lost of which a block may be here.
    """

    head: FileInHead | None = None
    waiting: CandidateEdits = field(default_factory=lambda: CandidateEdits(()))
    ids: frozenset[str] = frozenset()
    elsewhere: LostBlocks = field(default_factory=LostBlocks)

    def owned(self, text: Text, claims: Sequence[RecordClaim] = ()) -> TextOwners:
        """Return whose each line of a text is; see `line_owners.owned_text`."""
        waiting = self.waiting
        state = waiting.state
        is_of_text = any(
            edit.content in text.file_hashes and (state is None or edit.id not in state.places)
            for edit in waiting.own
        )
        snapshots = _with_text(waiting.snapshots, text)
        waiting = replace(waiting, snapshots=snapshots, state=None if is_of_text else state)
        return owned_text(text, self.head, waiting, claims, self.elsewhere)

    def with_edits(self, edits: Sequence[RecordedEdit], text: Text) -> KnownFile:
        """Return it with edits that were just made; the text is the one that they made."""
        waiting = self.waiting
        state = waiting.state
        if state is not None:
            own = [edit for edit in edits if edit.writes_lines]
            state = replay(own, _with_text(waiting.snapshots, text), state)
        return replace(
            self,
            waiting=replace(waiting, own=[*waiting.own, *edits], state=state),
            ids=self.ids | {edit.id for edit in edits},
        )


def place_file(
    trail: Trail,
    names: Sequence[str],
    text: Text,
    known: KnownFile,
    *,
    pending: Sequence[Lineage] = (),
) -> list[Placement]:
    """Return where the annotations of a file are: in document order, history after owners.

    Args:
        trail: The trail, refreshed.
        names: The file, relative to the project, and the names that it had before.
        text: The file as it is now, saved or not.
        known: What is known of the file; what was recorded since is added.
        pending: Annotations of it that are not in the trail yet.
    """
    return _place(trail, names, text, known, pending)[0]


def _place(
    trail: Trail,
    names: Sequence[str],
    text: Text,
    known: KnownFile,
    pending: Sequence[Lineage] = (),
) -> tuple[list[Placement], TextOwners]:
    """Return what `place_file` does, and whose each line is."""
    recorded = [lineage for name in names for lineage in trail.lineages_in(name)]
    ids = {identifier for lineage in recorded for identifier in lineage.ids}
    unknown = [lineage for lineage in pending if lineage.current.id not in ids]
    ids.update(identifier for lineage in unknown for identifier in lineage.ids)
    recorded += unknown
    known = known.with_edits(_unknown_edits(recorded, known), text)
    owned = known.owned(text, claims_of(trail, recorded))
    for owner in owned.owners:  # annotations of other files may own a line here
        if owner is not None and owner.record not in ids:
            ids.add(owner.record)
            if (lineage := trail.lineage_of(owner.record)) is not None:
                ids.update(lineage.ids)
                recorded.append(lineage)
    snapshots = _with_text(known.waiting.snapshots, text)
    return place_annotations(names[0], text, owned, recorded, snapshots), owned


def place_again(
    text: Text, placements: Sequence[Placement], known: KnownFile, claims: Sequence[RecordClaim]
) -> list[Placement]:
    """Return where the annotations of some placements are in another text of the file.

    It reads no trail, so any thread may do it.

    Args:
        text: The text.
        placements: The placements, all of one file.
        known: What is known of the file.
        claims: Those of the annotations that have no line hashes.
    """
    if not placements:
        return []
    lineages = [
        lineage
        for placement in placements
        for lineage in (placement.lineage, *placement.shown.duplicates)
    ]
    known = known.with_edits(_unknown_edits(lineages, known), text)
    snapshots = _with_text(known.waiting.snapshots, text)
    return place_annotations(
        placements[0].path, text, known.owned(text, claims), lineages, snapshots
    )


def _unknown_edits(lineages: Iterable[Lineage], known: KnownFile) -> list[RecordedEdit]:
    """Return the records that are not known yet, in the order of receipt."""
    records = {
        record.id: record
        for lineage in lineages
        for record in lineage.members
        if record.id not in known.ids
    }
    ordered = sorted(records.values(), key=lambda record: record.line)
    return list(read_edits(ordered))


class ProjectOwners:
    """Whose the lines of a project's files are, for one state of the trail and of HEAD.

    Args:
        trail: The trail, refreshed.
        repository: The repository that the project is in; None without git.
        read: Returns a file on disk.
        snapshots: Returns texts that this machine has kept; None where the answer must be the same
            on each machine.
        former: Returns the names that a file had before it was renamed.
        head: The commit whose lines are known; by default that of HEAD.

    Attributes:
        known: Returns what is known of a file, relative to the project.
    """

    def __init__(  # noqa: PLR0917  # what one caller has
        self,
        trail: Trail,
        repository: Repository | None,
        read: ReadText,
        snapshots: Callable[[str], bytes | None] | None = None,
        former: Callable[[str], Sequence[str]] = lambda _: (),
        head: str | None = None,
    ) -> None:
        self._trail, self._repository = trail, repository
        self._read, self._snapshots, self._former = read, snapshots, former
        self._snapshot = cache(self._read_snapshot)
        self.known = lru_cache(_MAX_KEPT)(self._find)
        self._head: str | None = None
        self._is_unread = False
        self._committed: CommittedOwners | None = None
        log = CommittedLog()
        if repository is not None:
            try:
                commit = head or repository.certain_head()
                log = CommittedLog() if commit is None else committed_log(repository, commit, trail)
                self._head = commit
            except HistoryUnavailable:
                self._is_unread = True
        self.records = TrailRecords(trail, log)
        if repository is not None and self._head is not None:
            project = trail.directory.project
            prefix = repository.prefix_of(project)
            state = self.records.state()
            self._committed = CommittedOwners(repository, prefix, self.records, state)

    def _find(self, path: str) -> KnownFile:
        names = (path, *self._former(path))
        try:
            head = self._in_head(names)
        except HistoryUnavailable:
            head = FileInHead(path, is_asked=False)
        files = [self.records.file(name) for name in names]
        if head is None or head.is_unread or head.is_nested:
            # no commit says anything of the file, so no commit has its records
            everything = [edit for file in files for edit in file.edits]
            return self._known_file(head, everything, {}, ())
        waiting = [edit for file in files for edit in file.waiting]
        lines = {edit: known for file in files for edit, known in file.lines.items()}
        return self._known_file(
            head, waiting, lines, [hunk for file in files for hunk in file.logged]
        )

    def _known_file(
        self,
        head: FileInHead | None,
        waiting: Sequence[RecordedEdit],
        logged: LoggedLines,
        records: Sequence[RecordedEdit],
    ) -> KnownFile:
        own = [edit for edit in waiting if edit.writes_lines]
        texts = {edit.content: self._snapshot(edit.content) for edit in waiting}
        state = None if self._snapshots is None else replay(own, texts.get)
        candidates = CandidateEdits(waiting, snapshots=texts.get, logged=logged, state=state)
        ids = {edit.id for edit in waiting} | {record.id for record in records}
        return KnownFile(head, candidates, frozenset(ids))

    def _with_all_origins(self, known: KnownFile) -> KnownFile:
        """Return what is known with the commits of all lines, to say since when git has them."""
        if self._committed is None or self._head is None or known.head is None:
            return known
        return replace(known, head=self._committed.with_all_origins(self._head, known.head))

    def _in_head(self, names: Sequence[str]) -> FileInHead | None:
        """Return a file as HEAD has it, by the first name that HEAD has.

        None without git, and for a file that is never in this repository.

        Raises:
            HistoryUnavailable: Git cannot read it.
        """
        if self._is_unread:
            raise HistoryUnavailable("git cannot read the commit of HEAD, or its log")
        if self._repository is not None and self._committed is not None and self._head is not None:
            for name in names:
                if (file := self._committed.known_file(self._head, name)).lines:
                    return file
        if self._is_nested(names[0]):
            return FileInHead(names[0], is_nested=True)
        if self._repository is None or self._committed is None:
            return None
        is_elsewhere = any(
            self.records.of_file(name) for name in names
        ) and self._repository.is_ignored(self._trail.directory.project / names[0])
        return None if is_elsewhere else FileInHead(names[0])

    def _is_nested(self, path: str) -> bool:
        """Whether a file is in a repository inside the project's, such as a submodule."""
        project = self._trail.directory.project
        folders = list(PurePosixPath(path).parents)[:-1]
        return self._repository is not None and any(
            os.path.lexists(project / folder / ".git") for folder in folders
        )

    def known_for(self, path: str, text: Text) -> KnownFile:
        """Return what is known of a file with what other files have lost that may be here.

        Args:
            path: Relative to the project.
            text: The file as it is now, saved or not.
        """
        names = (path, *self._former(path))
        if not any(self.records.file(name).edits for name in names) and not self.may_own(text):
            return KnownFile()  # git need not be asked
        known = self.known(path)
        if known.head is not None and known.head.is_unread:
            return known
        lineages = [lineage for name in names for lineage in self._trail.lineages_in(name)]
        owned = known.owned(text, claims_of(self._trail, lineages))
        if any(
            claim.is_contradicted and claim.older_commit is None for claim in owned.claims.values()
        ):
            known = self._with_all_origins(known)
        wanted = {
            line_hash(line)
            for line, kind, origin in zip(text.lines, owned.kinds, owned.origins, strict=True)
            if kind == LineKind.UNRECORDED and origin is None and is_long(line)
        }
        if (recorded := self.records.line_hashes()) is not None:
            wanted &= recorded
        if not wanted:
            return known
        waiting = replace(known.waiting, moved=self._moved(path, wanted))
        return replace(known, waiting=waiting, elsewhere=self._lost(path, wanted))

    def locate(self, path: str, text: Text) -> list[Placement]:
        """Return where the annotations of a file are; see `place_file`."""
        return self.locate_with_origins(path, text)[0]

    def locate_with_origins(
        self, path: str, text: Text
    ) -> tuple[list[Placement], Sequence[LineOrigin | None]]:
        """Return what `locate` does, and the commits of lines, as far as it asked for them."""
        names = (path, *self._former(path))
        placements, owned = _place(self._trail, names, text, self.known_for(path, text))
        return placements, owned.origins

    def may_own(self, text: Text) -> bool:
        """Whether lines of a file that no annotation names may be an edit's: one has its hash."""
        hashes = self.records.every_line_hash
        return any(is_long(line) and line_hash(line) in hashes for line in text.lines)

    def _moved(self, path: str, wanted: AbstractSet[str]) -> list[RecordedEdit]:
        """Return the edits of other files that have lost some lines, given by hash."""
        edits = {edit.id: edit for line in wanted for edit in self._by_hash.get(line, ())}
        elsewhere = [edit for edit in edits.values() if edit.path != path]
        names = {edit.id for edit in elsewhere}
        written = WrittenHunks(written_hunks(self._trail.directory, names) if names else ())
        # What a commit of another branch has stands there, and is a copy here.
        return [edit for edit in elsewhere if not written.has(edit.id) and self._has_left(edit)]

    @cached_property
    def _by_hash(self) -> Mapping[str, Sequence[RecordedEdit]]:
        """The edits that HEAD's log does not have, by the hashes of their lines."""
        edits: defaultdict[str, list[RecordedEdit]] = defaultdict(list)
        for edit in self.records.unwritten():
            for line in set(edit.hashes) if edit.writes_lines else ():
                edits[line].append(edit)
        return edits

    def _lost(self, path: str, wanted: AbstractSet[str]) -> LostBlocks:
        """Return the blocks with some lines, given by hash, that other files have lost."""
        if self._committed is None or self._head is None:
            return LostBlocks()
        blocks = [
            block
            for block in self._all_lost
            if block.path != path
            and any(is_long(line) and line_hash(line) in wanted for line in block.lines)
        ]
        names = {block.path for block in blocks}
        try:
            files = {name: self._committed.known_file(self._head, name) for name in names}
        except HistoryUnavailable:
            return LostBlocks()
        return LostBlocks(blocks, files)

    @cached_property
    def _all_lost(self) -> Sequence[PlacedLines]:
        """The lines of HEAD that files of the work tree have lost."""
        if self._repository is None or self._committed is None or self._head is None:
            return ()
        folder = self._trail.directory.project
        return list(lost_lines(folder, self._head, self._committed, self._read))

    def _has_left(self, edit: RecordedEdit) -> bool:
        """Whether the file of an edit has no distinctive line of it."""
        text = self._read(edit.path)
        texts = [] if text is None else [HashedText(text.lines)]
        return has_left(edit, self._snapshot(edit.content), texts)

    def _read_snapshot(self, content: str) -> Text | None:
        snapshot = None if self._snapshots is None else self._snapshots(content)
        return None if snapshot is None else Text.from_bytes(snapshot)


def _with_text(snapshots: Snapshots, text: Text) -> Snapshots:
    """Return the kept texts with the text that is looked at."""
    return lambda content: text if content in text.file_hashes else snapshots(content)
