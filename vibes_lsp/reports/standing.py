"""Which annotations stand now, and where: what a trail of current records holds in the place of each lineage (R7).

An annotation stands where it is placed in the checkout. Those that another one replaced, that only repeat another, whose text is
gone, that git's history contradicts (R15) or whose file is not here do not stand. Pure but for the files and the history that `Places` reads.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from itertools import groupby
from typing import Final

from vibes_lsp.anchors.located import LineKind, State
from vibes_lsp.anchors.text import Text, encode
from vibes_lsp.errors import UnreadableFile
from vibes_lsp.history.derived import CommitMethod
from vibes_lsp.index.commits import recorded_commit
from vibes_lsp.index.lineage import Lineage
from vibes_lsp.index.placements import Placement
from vibes_lsp.index.places import Places
from vibes_lsp.index.sources import read_source
from vibes_lsp.model.hashing import annotation_id, sha256
from vibes_lsp.model.members import JsonValue, Members
from vibes_lsp.model.vocabulary import Action, RecordType

SOURCE_ID: Final = "source_annotation_id"
"""Member of a record that differs from the trail's own: the id of the current record there."""
SOURCE_ACTION: Final = "source_action"
"""Member of a record that is exported as a creation though the edit was none: what the edit was."""
_PLACE: Final = ("file_path", "line_start", "line_end")
_RISK: Final = ("risk_score", "risk_factors")


class Absence(StrEnum):
    """Why an annotation does not stand."""

    HISTORY = "history"
    REPEATED = "repeated"
    LOST = "lost"
    CONTRADICTED = "contradicted"
    GUESSED = "guessed"
    ABSENT = "absent"


@dataclass(slots=True)
class Standing:
    """The annotations of a trail that stand.

    Attributes:
        records: What stands for each lineage: usually one record, several where its lines are no longer in one piece; by the line
            of the log on which the lineage begins.
        ids: Ids of these records by the id of every record of the lineage.
        absent: Why other lineages do not stand, by the id of their first record.
    """

    records: dict[int, list[Members]] = field(default_factory=dict)
    ids: dict[str, tuple[str, ...]] = field(default_factory=dict)
    absent: dict[str, Absence] = field(default_factory=dict)

    def add(self, lineage: Lineage, records: list[Members]) -> None:
        """Note what stands for a lineage."""
        identified = [record if "annotation_id" in record else {**record, "annotation_id": annotation_id(record)} for record in records]
        self.records[lineage.first.line] = identified
        self.absent.pop(lineage.first.id, None)  # a file it has left said so
        self.ids.update(dict.fromkeys(lineage.ids, tuple(str(record["annotation_id"]) for record in identified)))


def standing(places: Places) -> Standing:
    """Return the annotations that stand in the checkout; where none of their files is there, those that are current by the log."""
    places.read_ahead()
    lineages = places.trail.lineages()
    creating = _creating(lineages)
    found = Standing()
    files = places.annotated_files()
    for path in files:
        try:
            text = read_source(places.trail.directory.project, path)
        except UnreadableFile:
            continue
        _look(found, places, path, text, creating)
    for lineage in lineages:
        if lineage.first.line in found.records or lineage.first.id in found.absent:
            continue
        if lineage.superseded_by:
            found.absent[lineage.first.id] = Absence.HISTORY
        elif files and lineage.action != Action.DELETE:
            found.absent[lineage.first.id] = Absence.ABSENT
        else:
            found.add(lineage, [_record(lineage, _facts(lineage, places, creating))])
    return found


def _look(found: Standing, places: Places, path: str, text: Text, creating: frozenset[str]) -> None:
    """Take in the annotations of one file."""
    placements = places.of(path, text)
    pieces = _pieces(placements, creating)
    for placement in placements:
        for repeat in placement.shown.repeats:
            found.absent[repeat.first.id] = Absence.REPEATED
        reason = _absence(placement)
        ranges = pieces.get(placement.lineage.first.id)
        if reason is None and ranges:
            found.add(placement.lineage, [_placed(placement, each, text, places, creating) for each in ranges])
        elif placement.lineage.first.line not in found.records:
            found.absent[placement.lineage.first.id] = reason or Absence.HISTORY


def _absence(placement: Placement) -> Absence | None:
    if placement.is_history:
        return Absence.HISTORY
    if placement.located.is_contradicted and not placement.lineage.is_review:
        return Absence.CONTRADICTED
    if placement.is_guess:
        return Absence.GUESSED
    return Absence.LOST if placement.located.state is State.LOST and placement.lineage.action != Action.DELETE else None


def _creating(lineages: Iterable[Lineage]) -> frozenset[str]:
    """Return the lineages, by the id of their first record, whose lines exist because an AI created them.

    These are the creations, and what has replaced a creation whole: without those, a sum over creations would lose its lines.
    """
    known = list(lineages)
    by_current = {lineage.current.id: lineage for lineage in known}
    creating: set[str] = set()
    pending = [lineage for lineage in known if lineage.action == Action.CREATE]
    while pending:
        lineage = pending.pop()
        if lineage.first.id not in creating:
            creating.add(lineage.first.id)
            newer = (by_current[each] for each in lineage.superseded_by)
            pending += [each for each in newer if not each.is_review and each.action != Action.DELETE]
    return frozenset(creating)


def _pieces(placements: Iterable[Placement], creating: frozenset[str]) -> dict[str, list[tuple[int, int] | None]]:
    """Return the lines of each placement, by the id of its lineage's first record; None stands for those it records.

    A creation is cut where a person's lines or a later creation stand in it, so that a sum over creations has every line once. What is
    not sure to be there takes no line from what is (R7).
    """
    standing_ones = (each for each in placements if _absence(each) is None)
    known = sorted(standing_ones, key=lambda each: (each.located.sure, each.lineage.rank))
    owning = [each for each in known if each.may_own and each.located.may_own]
    written = {line for placement in owning for line in _written(placement)}
    created: dict[int, str] = {}
    for placement in owning:
        if placement.lineage.first.id in creating:
            own = range(placement.located.start or 1, (placement.located.end or 0) + 1)
            created.update(dict.fromkeys(written.intersection(own), placement.lineage.first.id))
    return {placement.lineage.first.id: _ranges(placement, created, creating) for placement in known}


def _ranges(placement: Placement, created: Mapping[int, str], creating: frozenset[str]) -> list[tuple[int, int] | None]:
    located, identifier = placement.located, placement.lineage.first.id
    unplaced = placement.shown.placeholder or placement.current.type != RecordType.LINE or placement.lineage.action == Action.DELETE
    if unplaced or located.start is None or located.end is None:
        return [None]
    if identifier not in creating or not placement.may_own:
        return [(located.start, located.end)]
    own = enumerate(line for line in range(located.start, located.end + 1) if created.get(line) == identifier)
    runs = (list(run) for _, run in groupby(own, key=lambda pair: pair[1] - pair[0]))
    return [(run[0][1], run[-1][1]) for run in runs]


def _written(placement: Placement) -> Iterator[int]:
    """Give the lines of a placement that are the AI's, as far as is known."""
    start, end, kinds = placement.located.start, placement.located.end, placement.located.kinds
    if start is not None and end is not None:
        yield from (line for line in range(start, end + 1) if not kinds or kinds[line - start] is not LineKind.HUMAN)


def _placed(placement: Placement, lines: tuple[int, int] | None, text: Text, places: Places, creating: frozenset[str]) -> Members:
    facts = _facts(placement.lineage, places, creating)
    if placement.moved_from is not None and placement.lineage.action != Action.DELETE:
        facts["file_path"] = placement.path
    if lines is None:
        return _record(placement.lineage, facts)
    located = placement.located
    facts |= {"line_start": lines[0], "line_end": lines[1]}
    if lines != (located.start, located.end):
        facts |= {"anchor_context": None, "anchor_hash": None}  # they are of the whole range
    if any(placement.lineage.first.members.get(name) != facts.get(name) for name in _PLACE):
        facts["file_content_hash"] = sha256(encode(text.content)) if located.sure else None  # it says that the lines are right
    return _record(placement.lineage, facts)


def _facts(lineage: Lineage, places: Places, creating: frozenset[str]) -> Members:
    """Return what is known of a lineage beyond its first record."""
    risk = dict.fromkeys(_RISK) if lineage.is_review else lineage.current.members  # a review is no code that sums may count (R6)
    facts: Members = {name: risk[name] for name in _RISK if lineage.current.members.get(name) is not None}
    facts |= {name: lineage.current.members[name] for name in _PLACE if name in lineage.current.members}
    commit = recorded_commit(lineage)
    if commit is None and (derived := places.derived.get(lineage.first.id)) is not None and derived.method is CommitMethod.LOG:
        commit = derived.commit  # an inferred one is a guess, and would stand here as a fact
    facts["commit_hash"] = commit
    facts["action"] = lineage.action or lineage.first.text("action")
    if lineage.first.id in creating and lineage.action != Action.CREATE:
        facts |= {"action": Action.CREATE.value, SOURCE_ACTION: lineage.action}
    return facts


def _record(lineage: Lineage, facts: Members) -> Members:
    """Return the record of the edit with what is known now; the very record where that changes nothing."""
    first = lineage.first.members
    changed = {name: value for name, value in facts.items() if first.get(name) != value}
    if not changed:
        return first
    kept: dict[str, JsonValue] = {name: value for name, value in first.items() if name != "annotation_id"}
    return {**kept, **changed, SOURCE_ID: lineage.current.id}
