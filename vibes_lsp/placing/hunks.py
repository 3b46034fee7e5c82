"""The records that a commit being made must hold: hunks of the edits that wait (R29, R32)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple, TypeAlias

from vibes_lsp.anchors.create_anchors import make_context, range_hash
from vibes_lsp.anchors.text import Text
from vibes_lsp.model.hashing import annotation_id
from vibes_lsp.model.members import Members, text
from vibes_lsp.model.vocabulary import Action, RecordType
from vibes_lsp.placing.edits import RecordedEdit, edit_id
from vibes_lsp.placing.hash_placement import HashedText
from vibes_lsp.placing.standing import CandidateEdits, StandingLine, standing_lines

Origin: TypeAlias = tuple[str, str, int]
"""A commit that brought a line, the file's path and the line's number in it."""

_HunkKey: TypeAlias = tuple[str, str, str, bool]


@dataclass(frozen=True)
class FileAtCommit:
    """A file as a commit has it.

    Attributes:
        path: Its path, relative to the project.
        text: Its text as git stores it.
        content: The SHA-256 of its bytes, as git stores them.
        new: The numbers of the lines that no parent has.
        replacing: Those of them where a parent's lines are taken away.
        commit: The commit; None while it is being made.
    """

    path: str
    text: Text
    content: str
    new: AbstractSet[int]
    replacing: AbstractSet[int] = frozenset()
    commit: str | None = None

    @cached_property
    def hashed(self) -> HashedText:
        """Its lines with their hashes."""
        return HashedText(self.text.lines)


class WrittenHunks:
    """Hunks that were written before: the same lines of an edit become the same bytes again.

    So branches that meet have one record of them.

    Args:
        records: The hunks that this work tree has written, in commits that it has or has not.
    """

    def __init__(self, records: Iterable[Members] = ()) -> None:
        self._known: dict[_HunkKey, Members] = {}
        self._edits: set[str] = set()
        for record in records:
            self.again(record)

    def has(self, edit: str) -> bool:
        """Whether a hunk of an edit was written: what moved since is not waiting any more."""
        return edit in self._edits

    def again(self, record: Members) -> Members:
        """Return the hunk that was written for these lines; the one given if there is none."""
        self._edits.add(edit_id(record))
        return self._known.setdefault(_key(record), record)


def hunks(
    file: FileAtCommit,
    waiting: CandidateEdits,
    written: WrittenHunks,
    whole: HashedText | None = None,
) -> list[Members]:
    """Return the records of the edits' lines that a commit brings.

    Args:
        file: A file that the commit changes.
        waiting: The edits that its lines may be of.
        written: The hunks of earlier commits.
        whole: The file on disk if only a part of it is staged.
    """
    standing = standing_lines(waiting, file.hashed, file.new, whole)
    lines = [_Placed(standing[place], file, place) for place in sorted(standing)]
    return [written.again(record) for record in _records(lines)]


def late_hunks(
    head: HashedText,
    origins: Sequence[Origin | None],
    waiting: CandidateEdits,
    file_at: Callable[[str, str], FileAtCommit | None],
) -> list[Members]:
    """Return the records of edits that were committed without our hook (R29).

    They describe the lines in the commits that brought them.

    Args:
        head: The file as HEAD has it.
        origins: Where each of its lines comes from; None for those older than the edits, and for
            those that the log gives to an edit.
        waiting: The edits, less those of which the log has a line.
        file_at: Returns a file of a commit by the commit and the path.
    """
    candidates = {place for place, origin in enumerate(origins) if origin is not None}
    standing = standing_lines(waiting, head, candidates)
    lines: list[_Placed] = []
    for place in sorted(standing):
        origin = origins[place]
        file = None if origin is None else file_at(origin[0], origin[1])
        if origin is not None and file is not None and origin[2] < len(file.text.lines):
            lines.append(_Placed(standing[place], file, origin[2]))
    return _records(lines)


def other_records(file: FileAtCommit, edits: Iterable[RecordedEdit]) -> list[Members]:
    """Return the waiting records of a file that are not about lines, and that its commit brings.

    A function goes with the first commit that has it by name with a distinctive line that was
    recorded. What may not be compared is a claim, and goes with the first commit of its file.

    Args:
        file: A file that the commit changes.
        edits: The edits of this file that the log does not have.
    """
    return [
        edit.members
        for edit in edits
        if not edit.is_deletion and not edit.writes_lines and _may_enter(file, edit)
    ]


def deletion_enters(
    edit: RecordedEdit,
    parent: HashedText,
    now: AbstractSet[str],
    elsewhere: AbstractSet[str] = frozenset(),
) -> bool:
    """Whether a commit takes away a distinctive line that an edit removed and a parent has.

    Of a block without such lines, a parent must have it as one.

    Args:
        edit: The edit.
        parent: The file in a parent.
        now: The hashes of the lines of the file in the commit.
        elsewhere: The hashes of lines that the commit adds to other files; they are moved.
    """
    removed = set(edit.hashes) - now - elsewhere
    if any(parent.hashes[number] in removed for number in parent.distinctive):
        return True
    size, block = len(edit.hashes), list(edit.hashes)
    return bool(removed) and any(
        list(parent.hashes[start : start + size]) == block
        for start, name in enumerate(parent.hashes)
        if name == block[0]
    )


class _Placed(NamedTuple):
    """A line of an edit, and the line of a commit's file that it is."""

    line: StandingLine
    file: FileAtCommit
    place: int

    def continues(self, before: _Placed) -> bool:
        """Whether it belongs to the hunk of the line before it."""
        return (
            (self.file.commit, self.file.path) == (before.file.commit, before.file.path)
            and self.place == before.place + 1
            and self.line.edit is before.line.edit
            and self.line.is_sure == before.line.is_sure
        )


def _records(lines: Iterable[_Placed]) -> list[Members]:
    """Return a record for each group of neighbours."""
    groups: list[list[_Placed]] = []
    for line in lines:
        if groups and line.continues(groups[-1][-1]):
            groups[-1].append(line)
        else:
            groups.append([line])
    return [_record(group) for group in groups]


def _record(group: Sequence[_Placed]) -> Members:
    """Return the record of one hunk, with the members of its edit (R32)."""
    (edit, _, is_sure), file, start = group[0]
    end = group[-1].place + 1
    lines = file.text.lines[start:end]
    replaces = any(place in file.replacing for place in range(start, end))
    changed: Members = {
        "file_path": file.path,
        "line_start": start + 1,
        "line_end": end,
        "action": (Action.MODIFY if replaces else Action.CREATE).value,
        "commit_hash": file.commit,
        "anchor_context": make_context(lines),
        "anchor_hash": range_hash(lines),
        "file_content_hash": file.content,
        "line_hashes": "".join(edit.hashes[line.number] for line, _, _ in group),
    }
    if not is_sure:
        changed["sure"] = False
    members: Members = {**edit.members, **changed}
    if members == edit.members:
        return edit.members
    members["edit"] = edit.id
    members["annotation_id"] = annotation_id(members)
    return members


def _may_enter(file: FileAtCommit, edit: RecordedEdit) -> bool:
    name = text(edit.members, "function_name")
    if edit.members.get("type") != RecordType.FUNCTION or not edit.hashes or name is None:
        return True
    from vibes_lsp.anchors.functions import find_function  # noqa: PLC0415  # loads grammars

    match = find_function(file.text, file.path, name, text(edit.members, "function_signature"))
    return match is not None and any(
        file.hashed.hashes[number] in edit.hashes
        for number in range(match.start - 1, match.end)
        if number in file.hashed.distinctive
    )


def _key(record: Members) -> _HunkKey:
    return (
        edit_id(record),
        text(record, "file_path") or "",
        text(record, "line_hashes") or "",
        record.get("sure") is not False,
    )
