"""Locate the annotations of a file in a text (R7, R15, R18).

`anchors.locate` finds ranges in a text. This module decides which ranges to search for, and
corrects the result by the record, git's history and the other annotations.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import TypeAlias

from msgspec.structs import replace

from vibes_lsp.anchors.functions import locate_function
from vibes_lsp.anchors.history_mapping import apply_line_ages
from vibes_lsp.anchors.line_hashes import line_hash, split_hashes
from vibes_lsp.anchors.locate import locate, locate_sure
from vibes_lsp.anchors.location import AnchoredRange, LineKind, LocatedRange, Method, State
from vibes_lsp.anchors.text import Text
from vibes_lsp.index.file_history import NO_HISTORY, FileHistory
from vibes_lsp.index.line_owners import mark_replaced, owned_ranges, whole_file_edits
from vibes_lsp.model.vocabulary import Action
from vibes_lsp.placing.placements import Placement, ShownLineage, deduplicate
from vibes_lsp.trail.lineage import Lineage
from vibes_lsp.trail.records import recorded_lines
from vibes_lsp.trail.trail import Trail

_LOST = LocatedRange(None, None, State.LOST, Method.RECORDED, 0.0)
_ORPHANED = LocatedRange(None, None, State.LOST, Method.LOG, 0.0)
_PLACEHOLDER = LocatedRange(None, None, State.UNVERIFIED, Method.RECORDED, 0.0)
LocationsByLineage: TypeAlias = Mapping[tuple[str, ...], LocatedRange]
"""Where annotations are in a text, by the ids of their lineage."""


def locate_annotations(  # noqa: PLR0917  # facts about one file, from several sources
    trail: Trail,
    path: str,
    text: Text,
    history: FileHistory = NO_HISTORY,
    pending: Sequence[Lineage] = (),
    known_locations: LocationsByLineage | None = None,
    *,
    is_typing: bool = False,
    approximate: bool = True,
) -> list[Placement]:
    """Return the annotations of a file in document order, history after owners.

    Args:
        trail: The trail, refreshed.
        path: Relative to the project, forward slashes.
        text: The file as it is now, saved or not.
        history: What git knows about them.
        pending: Annotations of the file that are not in the log yet; no record may refer to them.
        known_locations: Where annotations were found in this text before others were recorded. They
            are used if each of the others can be located independently.
        is_typing: Use known locations always, because all annotations are located again shortly.
        approximate: Look for edited ranges too; otherwise these are lost, and history is not asked.
    """
    lineages = [
        lineage for name in (path, *history.former_paths) for lineage in trail.lineages_in(name)
    ]
    lineages += [
        lineage
        for identifier in history.moved_in
        if (lineage := trail.lineage_of(identifier)) is not None
    ]
    if not lineages and not pending:  # as in most files of a project
        return []
    ids = {identifier for lineage in lineages for identifier in lineage.ids}
    lineages += [each for each in pending if each.current.id not in ids]
    shown = deduplicate(sorted(lineages, key=lambda lineage: lineage.rank))
    located = (
        _with_known(
            shown,
            path,
            text,
            known_locations,
            is_enough=_always if is_typing else _is_independent,
        )
        if known_locations
        else None
    ) or _locate(shown, path, text, history, approximate=approximate)
    here = [
        (each, where)
        for each, where in zip(shown, located, strict=True)
        if where.sure or each.lineage.first.id not in history.moved_in
    ]
    placements = _placements(
        path, [each for each, _ in here], [where for _, where in here], len(text.lines)
    )
    return mark_replaced(placements, whole_file_edits(placements, len(text.lines), history))


def locate_on_lines(
    trail: Trail, path: str, text: Text, lines: tuple[int, int], known_locations: LocationsByLineage
) -> list[Placement]:
    """Return the annotations on some lines of a file that no other edit has replaced.

    Args:
        trail: The trail, refreshed.
        path: Relative to the project, forward slashes.
        text: The file as it is now, saved or not.
        lines: First and last line, 1-based and inclusive; ranges owned outside are left out.
        known_locations: Where annotations are in this text, as far as the caller has tracked them.
    """
    current = [
        each
        for each in trail.lineages_in(path)
        if not each.superseded_by or each.may_be_placeholder
    ]
    shown = deduplicate(current)
    located = (
        _with_known(shown, path, text, known_locations) if known_locations else None
    ) or _locate(shown, path, text)
    pairs = [
        (each, where)
        for each, where in zip(shown, located, strict=True)
        if _is_on(where, lines) and not each.lineage.superseded_by
    ]
    return _placements(
        path, [each for each, _ in pairs], [where for _, where in pairs], lines[1], lines[0]
    )


def locate_alone(shown: ShownLineage, path: str, text: Text) -> LocatedRange:
    """Return where an annotation is in a text, as if the file had no other."""
    return _locate([shown], path, text)[0]


def relocate(
    text: Text, placements: Sequence[Placement], history: FileHistory = NO_HISTORY
) -> list[LocatedRange]:
    """Return where annotations are in another text of the same file, in the order given."""
    return _locate(
        [each.shown for each in placements],
        placements[0].path if placements else "",
        text,
        history,
    )


def with_locations(
    placements: Sequence[Placement], located: Sequence[LocatedRange], length: int
) -> list[Placement]:
    """Return placements with new locations, in document order, with the lines that they own now.

    Args:
        placements: The placements.
        located: Where each of them is now.
        length: The number of lines of the text.
    """
    by_rank = sorted(zip(placements, located, strict=True), key=lambda pair: pair[0].lineage.rank)
    path = placements[0].path if placements else ""
    found = _placements(
        path, [placement.shown for placement, _ in by_rank], [where for _, where in by_rank], length
    )
    replacing = {each.replaced_by for each in placements if each.replaced_by is not None}
    return (
        mark_replaced(found, [each for each in found if each.current.id in replacing])
        if replacing
        else found
    )


def _placements(
    path: str,
    shown: Sequence[ShownLineage],
    located: Sequence[LocatedRange],
    last: int,
    first: int = 1,
) -> list[Placement]:
    owned = owned_ranges(shown, located, first, last)
    pairs = enumerate(zip(shown, located, strict=True))
    placements = [
        Placement(path, each, where, owned.get(number, ())) for number, (each, where) in pairs
    ]
    return sorted(placements, key=lambda placement: placement.sort_key)


def _locate(
    shown: Sequence[ShownLineage],
    path: str,
    text: Text,
    history: FileHistory = NO_HISTORY,
    *,
    approximate: bool = True,
) -> list[LocatedRange]:
    """Locate the ranges of each recorded file together; then check the results by git's history."""
    found: dict[int, LocatedRange] = {}
    for numbers in _by_recorded_file(shown, history.moved_in):
        wanted = [
            (number, recorded)
            for number in numbers
            if (recorded := _recorded_range(shown[number])) is not None
        ]
        ranges = [recorded for _, recorded in wanted]
        if approximate:
            originals = [
                history.original_texts.get(shown[number].lineage.first.id) for number, _ in wanted
            ]
            located = locate(ranges, text, originals)
        else:
            located = [each or _LOST for each in locate_sure(ranges, text)]
        for (number, recorded), where in zip(wanted, located, strict=True):
            found[number] = _corrected(shown[number], where, recorded, text)
    _disprove(shown, found, text, history)
    return [
        _as_written(each.lineage, found[number], text)
        if number in found
        else _without_range(each, path, text)
        for number, each in enumerate(shown)
    ]


def _disprove(
    shown: Sequence[ShownLineage], found: dict[int, LocatedRange], text: Text, history: FileHistory
) -> None:
    """Mark the locations that git's history disproves (R15)."""
    edit_times = {
        number: history.edit_times[each.lineage.first.id]
        for number, each in enumerate(shown)
        if each.lineage.first.id in history.edit_times
    }
    doubtful = [
        number
        for number, where in found.items()
        if number in edit_times and where.start is not None and not where.sure
    ]
    if history.ages is None or not doubtful:
        return
    ages = history.ages.of(text)
    for number in doubtful:
        found[number] = apply_line_ages(found[number], ages, edit_times[number])


def _recorded_range(shown: ShownLineage) -> AnchoredRange | None:
    return None if shown.is_placeholder else shown.lineage.recorded_range


def _by_recorded_file(
    shown: Sequence[ShownLineage], moved_in: Collection[str]
) -> Collection[list[int]]:
    """Group annotations by the file of their recorded lines: offsets compare only within one."""
    files: dict[str | None, list[int]] = {None: []}
    for number, each in enumerate(shown):
        name = each.lineage.current.text("file_path") if each.lineage.first.id in moved_in else None
        files.setdefault(name, []).append(number)
    return files.values()


def _always(*_: object) -> bool:
    return True


def _with_known(
    shown: Sequence[ShownLineage],
    path: str,
    text: Text,
    known_locations: LocationsByLineage,
    is_enough: Callable[[ShownLineage, LocatedRange], bool] = _always,
) -> list[LocatedRange] | None:
    """Return known locations, and locate the others; None if `is_enough` rejects one of these."""
    known = [
        None if each.is_placeholder else known_locations.get(each.lineage.ids) for each in shown
    ]
    rest = [each for each, where in zip(shown, known, strict=True) if where is None]
    found = _locate(rest, path, text)
    if not all(map(is_enough, rest, found)):
        return None
    fresh = iter(found)
    return [where or next(fresh) for where in known]


def _is_independent(shown: ShownLineage, located: LocatedRange) -> bool:
    """Whether other annotations cannot change a location.

    They cannot if the text is the recorded file, or if there is no range to search for.
    """
    by_file = located.state == State.EXACT and located.method == Method.FILE_HASH
    return (
        by_file
        or shown.is_placeholder
        or shown.lineage.recorded_range is None
        or shown.lineage.action == Action.DELETE
    )


def _is_on(located: LocatedRange, lines: tuple[int, int]) -> bool:
    return (
        located.start is not None
        and located.end is not None
        and located.start <= lines[1]
        and located.end >= lines[0]
    )


def _corrected(
    shown: ShownLineage, located: LocatedRange, recorded: AnchoredRange, text: Text
) -> LocatedRange:
    """Correct a location by the record's action.

    Deleted text is shown where it was, because finding it elsewhere proves nothing. The lines of a
    remap are right in the file that it was recorded for. After an orphan record a doubtful
    location counts as lost (RFC 7.3.1).
    """
    lineage = shown.lineage
    if lineage.action != Action.DELETE:
        if located.sure:
            return located
        remapped = (
            recorded_lines(lineage.current)
            if lineage.current.text("action") == Action.REBASE_REMAP
            else None
        )
        if (
            remapped is not None
            and remapped != (located.start, located.end)
            and remapped[1] <= len(text.lines)
            and recorded.anchors.file_hash in text.file_hashes
        ):
            return LocatedRange(*remapped, State.EDITED, Method.FILE_HASH, 0.9)
        return _ORPHANED if lineage.is_orphaned and located.is_doubtful else located
    line = max(1, min(recorded.start, len(text.lines)))
    return LocatedRange(line, line, State.UNVERIFIED, Method.RECORDED, 0.3)


def _as_written(lineage: Lineage, located: LocatedRange, text: Text) -> LocatedRange:
    """Return where a hunk is, as edited where its committed text is not what the edit wrote (R32).

    A hunk that is not sure is a claim, wherever its text stands.
    """
    first, start, end = lineage.first, located.start, located.end
    if not located.sure or first.text("edit") is None or start is None or end is None:
        return located
    hashes = split_hashes(first.members.get("line_hashes"))
    known: dict[str, tuple[LineKind, ...]] = lineage.__dict__  # the text has the anchor's hash
    if "kinds" not in known and len(hashes) == end + 1 - start:
        known["kinds"] = tuple(
            LineKind.AI if line_hash(line) == written else LineKind.EDITED
            for line, written in zip(text.lines[start - 1 : end], hashes, strict=True)
        )
    kinds = known.get("kinds", ())
    if first.members.get("sure") is False:
        return replace(located, state=State.EDITED, intact=end + 1 - start, kinds=())
    if LineKind.EDITED in kinds:
        intact = kinds.count(LineKind.AI)
        return replace(located, state=State.EDITED, intact=intact, kinds=kinds)
    return located


def _without_range(shown: ShownLineage, path: str, text: Text) -> LocatedRange:
    """Locate an annotation without a range: a placeholder, or a function by its name."""
    if shown.is_placeholder:
        return _PLACEHOLDER
    record = shown.lineage.current
    name = record.text("function_name")
    if not name:
        return _LOST
    return locate_function(
        text, path, name, record.text("function_signature"), shown.lineage.anchor_hash
    )
