"""Where the annotations of a file are in a text, and which of them owns each line (R7, R15, R18)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from operator import attrgetter
from typing import TYPE_CHECKING

import msgspec
from msgspec.structs import replace

from vibes_lsp.anchors.located import State
from vibes_lsp.index.lineage import Lineage

if TYPE_CHECKING:
    from vibes_lsp.index.file_history import FileHistory
from collections.abc import Collection, Mapping
from itertools import groupby
from typing import TypeAlias

from vibes_lsp.anchors.ages import disproved
from vibes_lsp.anchors.functions import located_by_name
from vibes_lsp.anchors.located import AnchoredRange, Located, Method
from vibes_lsp.anchors.locating import locate, standing_whole
from vibes_lsp.anchors.text import Text
from vibes_lsp.index.file_history import NO_HISTORY, FileHistory
from vibes_lsp.index.records import LogRecord, recorded_lines
from vibes_lsp.index.trail import Trail
from vibes_lsp.model.paths import normal_path
from vibes_lsp.model.vocabulary import Action, RecordType


class ShownLineage(msgspec.Struct, frozen=True):
    """A lineage to show, and the equal older ones that it stands for.

    Attributes:
        lineage: The highest ranked of its kind.
        repeats: The others, oldest first.
        placeholder: Whether the recorded range is a tool's stand-in for an unknown place, to be painted on no line.
    """

    lineage: Lineage
    repeats: tuple[Lineage, ...] = ()
    placeholder: bool = False


def show_once(lineages: Sequence[Lineage]) -> list[ShownLineage]:
    """Fold repeated annotations of one file together.

    Args:
        lineages: The lineages of one file, oldest first.

    Returns:
        What to show, in the order of rank. Placeholders (at least two unanchored changes of "line 1") make one.
    """
    stand_ins = [lineage for lineage in lineages if lineage.may_stand_in]
    if len(stand_ins) < 2:
        stand_ins = []
    others = (
        [lineage for lineage in lineages if not any(lineage is each for each in stand_ins)]
        if stand_ins
        else lineages
    )
    shown = [ShownLineage(group[-1], tuple(group[:-1])) for group in _alike(others)]
    if stand_ins:
        shown.append(ShownLineage(stand_ins[-1], tuple(stand_ins[:-1]), placeholder=True))
    return sorted(shown, key=lambda each: each.lineage.rank)


def _alike(lineages: Sequence[Lineage]) -> Iterator[list[Lineage]]:
    """Group lineages whose records a person could not tell apart; only those that agree in place and text are compared whole."""
    for some in _grouped(lineages, attrgetter("beginning")):
        for near in [some] if len(some) == 1 else _grouped(some, attrgetter("gist")):
            yield from [near] if len(near) == 1 else _grouped(near, attrgetter("fingerprint"))


def _grouped(
    lineages: Sequence[Lineage], key: Callable[[Lineage], object]
) -> Iterable[list[Lineage]]:
    groups: dict[object, list[Lineage]] = {}
    for lineage in lineages:
        groups.setdefault(key(lineage), []).append(lineage)
    return groups.values()


def whole_files(placements: Sequence[Placement], length: int, past: FileHistory) -> list[Placement]:
    """Return the edits that are known to have written the whole file: it is their lines alone now, or was when they were made."""
    if not any(_is_lost(each) for each in placements):
        return []
    found = []
    for each in placements:
        origin = past.origins.get(each.lineage.first.id)
        is_now = each.located.sure and (each.located.start, each.located.end) == (1, length)
        was = (
            origin is not None
            and not (origin.inferred or origin.before_edit)
            and (origin.start, origin.end) == (1, len(origin.text.lines))
        )
        if each.may_own and each.located.may_own and (is_now or was):
            found.append(each)
    return found


def with_replacing(placements: Sequence[Placement], whole: Sequence[Placement]) -> list[Placement]:
    """Return placements, those that are lost with the next edit that wrote the whole file."""
    whole = sorted(whole, key=lambda each: each.lineage.rank)
    found = list(placements)
    for number, each in enumerate(found):
        later = (other.current.id for other in whole if other.lineage.rank > each.lineage.rank)
        if whole and _is_lost(each) and (replacing := next(later, None)) is not None:
            found[number] = replace(each, replaced_by=replacing)
    return found


def _is_lost(placement: Placement) -> bool:
    return placement.may_own and placement.located.state == State.LOST


_NOWHERE = Located(None, None, State.LOST, Method.RECORDED, 0.0)
_GIVEN_UP = Located(None, None, State.LOST, Method.LOG, 0.0)
_UNPLACED = Located(None, None, State.UNVERIFIED, Method.RECORDED, 0.0)
_OWNS_NOTHING = frozenset({Action.DELETE, Action.REVIEW})
Known: TypeAlias = Mapping[tuple[str, ...], Located]
"""Where annotations are in a text, by the ids of their lineage."""


class Placement(msgspec.Struct, frozen=True):
    """An annotation in a text.

    Attributes:
        path: The file that it is in now, relative to the project.
        shown: The lineage, and the repeats that it stands for.
        located: Where it is.
        owned: The ranges of lines that belong to it, first and last inclusive; none for history, reviews and deletions.
        replaced_by: Of one that is lost, the id of a later edit that wrote the whole file, and so replaced its lines.
    """

    path: str
    shown: ShownLineage
    located: Located
    owned: tuple[tuple[int, int], ...] = ()
    replaced_by: str | None = None

    @property
    def lineage(self) -> Lineage:
        """The lineage that is placed."""
        return self.shown.lineage

    @property
    def current(self) -> LogRecord:
        """The record that speaks for it."""
        return self.lineage.current

    @property
    def moved_from(self) -> str | None:
        """The file that it is recorded for, if that is another one."""
        recorded = normal_path(self.current.text("file_path") or "")
        return None if recorded == self.path else recorded

    @property
    def is_history(self) -> bool:
        """Whether another edit has taken its place (R7)."""
        return bool(self.lineage.superseded_by)

    @property
    def is_item(self) -> bool:
        """Whether it claims code of an AI: only that is judged, reviewed, counted and marked.

        Not history (R7), not a review (R6), not what git's history contradicts (R15).
        """
        return self.is_code and not self.located.is_contradicted

    @property
    def is_code(self) -> bool:
        """Whether its records speak of code: not history (R7), not a review (R6)."""
        return not (self.is_history or self.lineage.is_review)

    @property
    def is_guess(self) -> bool:
        """Whether it only may be here: other places fit as well, and it owns no line (R15)."""
        return self.located.ambiguous and not self.owned and _may_own(self.shown)

    @property
    def is_pending(self) -> bool:
        """Whether it waits to be recorded."""
        return self.lineage.is_pending

    @property
    def may_own(self) -> bool:
        """Whether lines can belong to it: not to history, functions, reviews, deletions and stand-ins (R7, R18)."""
        return _may_own(self.shown)

    @property
    def order(self) -> tuple[bool, bool, int, int]:
        """Owners before history, what is placed before what is not, then down the document."""
        start = self.located.start
        return self.is_history, start is None, start or 0, -(self.located.end or 0)


def place(  # noqa: PLR0917  # what is known of a file, from several who know
    trail: Trail,
    path: str,
    text: Text,
    past: FileHistory = NO_HISTORY,
    pending: Sequence[Lineage] = (),
    known: Known | None = None,
    *,
    in_flux: bool = False,
    guess: bool = True,
) -> list[Placement]:
    """Return the annotations of a file in document order, history after owners.

    Args:
        trail: The trail, refreshed.
        path: Relative to the project, forward slashes.
        text: The file as it is now, saved or not.
        past: What history knows of them.
        pending: What waits to be recorded of the file; nothing that is written may name it.
        known: Where they were found in this text before more was recorded. They stay there, if it leaves no doubt where the rest is.
        in_flux: Whether they stay there even so: somebody is typing, and all will be located in a moment.
        guess: Whether to look for what may be left of those that do not stand whole; else they are lost, and history is not asked either.
    """
    lineages = [
        lineage for name in (path, *past.former_paths) for lineage in trail.lineages_in(name)
    ]
    lineages += [
        lineage
        for identifier in past.arrivals
        if (lineage := trail.lineage_of(identifier)) is not None
    ]
    if not lineages and not pending:  # as in most files of a project
        return []
    ids = {identifier for lineage in lineages for identifier in lineage.ids}
    lineages += [each for each in pending if each.current.id not in ids]
    shown = show_once(sorted(lineages, key=lambda lineage: lineage.rank))
    located = (
        _known(shown, path, text, known, is_enough=_always if in_flux else _is_beyond_doubt)
        if known
        else None
    )
    pairs = list(zip(shown, located or _locate(shown, path, text, past, guess=guess), strict=True))
    here = [
        (each, where)
        for each, where in pairs
        if where.sure or each.lineage.first.id not in past.arrivals
    ]
    placements = _placed(
        path, [each for each, _ in here], [where for _, where in here], len(text.lines)
    )
    return with_replacing(placements, whole_files(placements, len(text.lines), past))


def place_on(
    trail: Trail, path: str, text: Text, lines: tuple[int, int], known: Known
) -> list[Placement]:
    """Return the annotations that are on some lines of a file, and that no other edit has replaced.

    Args:
        trail: The trail, refreshed.
        path: Relative to the project, forward slashes.
        text: The file as it is now, saved or not.
        lines: First and last line, 1-based and inclusive; what is owned outside them is left out.
        known: Where annotations are in this text, as far as somebody has kept up with it.
    """
    current = [
        each for each in trail.lineages_in(path) if not each.superseded_by or each.may_stand_in
    ]
    shown = show_once(current)
    located = (_known(shown, path, text, known) if known else None) or _locate(shown, path, text)
    pairs = [
        (each, where)
        for each, where in zip(shown, located, strict=True)
        if _is_on(where, lines) and not each.lineage.superseded_by
    ]
    return _placed(
        path, [each for each, _ in pairs], [where for _, where in pairs], lines[1], lines[0]
    )


def located_in(
    text: Text, placements: Sequence[Placement], past: FileHistory = NO_HISTORY
) -> list[Located]:
    """Return where annotations are in another text of the same file, in the order given, without asking their trail; see `place`."""
    return _locate(
        [each.shown for each in placements], placements[0].path if placements else "", text, past
    )


def replaced(
    placements: Sequence[Placement], located: Sequence[Located], length: int
) -> list[Placement]:
    """Return placements whose places have changed, in document order, with the lines that they own now.

    Args:
        placements: What is placed.
        located: Where each of them is now.
        length: The number of lines of the text.
    """
    by_rank = sorted(zip(placements, located, strict=True), key=lambda pair: pair[0].lineage.rank)
    path = placements[0].path if placements else ""
    found = _placed(
        path, [placement.shown for placement, _ in by_rank], [where for _, where in by_rank], length
    )
    known = {each.replaced_by for each in placements if each.replaced_by is not None}
    return (
        with_replacing(found, [each for each in found if each.current.id in known])
        if known
        else found
    )


def _placed(
    path: str, shown: Sequence[ShownLineage], located: Sequence[Located], last: int, first: int = 1
) -> list[Placement]:
    owned = _owners(shown, located, first, last)
    pairs = enumerate(zip(shown, located, strict=True))
    placements = [
        Placement(path, each, where, owned.get(number, ())) for number, (each, where) in pairs
    ]
    return sorted(placements, key=lambda placement: placement.order)


def _locate(
    shown: Sequence[ShownLineage],
    path: str,
    text: Text,
    past: FileHistory = NO_HISTORY,
    *,
    guess: bool = True,
) -> list[Located]:
    found: dict[int, Located] = {}
    for numbers in _by_file(shown, past.arrivals):
        wanted = [
            (number, recorded)
            for number in numbers
            if (recorded := _range(shown[number])) is not None
        ]
        ranges = [recorded for _, recorded in wanted]
        if guess:
            located = locate(
                ranges,
                text,
                [past.origins.get(shown[number].lineage.first.id) for number, _ in wanted],
            )
        else:
            located = [each or _NOWHERE for each in standing_whole(ranges, text)]
        for (number, recorded), where in zip(wanted, located, strict=True):
            found[number] = _settled(shown[number], where, recorded, text)
    _disprove(shown, found, text, past)
    return [
        found[number] if number in found else _unplaced(each, path, text)
        for number, each in enumerate(shown)
    ]


def _disprove(
    shown: Sequence[ShownLineage], found: dict[int, Located], text: Text, past: FileHistory
) -> None:
    """Note which places history disproves (R15)."""
    edits = {
        number: past.edits[each.lineage.first.id]
        for number, each in enumerate(shown)
        if each.lineage.first.id in past.edits
    }
    open_ones = [
        number
        for number, where in found.items()
        if number in edits and where.start is not None and not where.sure
    ]
    if past.ages is None or not open_ones:
        return
    ages = past.ages.of(text)
    for number in open_ones:
        found[number] = disproved(found[number], ages, edits[number])


def _range(shown: ShownLineage) -> AnchoredRange | None:
    return None if shown.placeholder else shown.lineage.recorded


def _by_file(shown: Sequence[ShownLineage], arrivals: Collection[str]) -> Collection[list[int]]:
    """Return the annotations by the file that their lines were counted in: those of other files say nothing of where others are here."""
    files: dict[str | None, list[int]] = {None: []}
    for number, each in enumerate(shown):
        name = each.lineage.current.text("file_path") if each.lineage.first.id in arrivals else None
        files.setdefault(name, []).append(number)
    return files.values()


def _always(*_: object) -> bool:
    return True


def _known(
    shown: Sequence[ShownLineage],
    path: str,
    text: Text,
    known: Known,
    is_enough: Callable[[ShownLineage, Located], bool] = _always,
) -> list[Located] | None:
    """Return the places that are known, and those of the rest, which is located by itself; None when that is not enough for one of them."""
    kept = [None if each.placeholder else known.get(each.lineage.ids) for each in shown]
    rest = [each for each, where in zip(shown, kept, strict=True) if where is None]
    found = _locate(rest, path, text)
    if not all(map(is_enough, rest, found)):
        return None
    fresh = iter(found)
    return [where or next(fresh) for where in kept]


def _is_beyond_doubt(shown: ShownLineage, located: Located) -> bool:
    """Whether other annotations can tell nothing about a place: it is of this very text, or not found by what surrounds it."""
    by_file = located.state == State.EXACT and located.method == Method.FILE_HASH
    return (
        by_file
        or shown.placeholder
        or shown.lineage.recorded is None
        or shown.lineage.action == Action.DELETE
    )


def _is_on(located: Located, lines: tuple[int, int]) -> bool:
    return (
        located.start is not None
        and located.end is not None
        and located.start <= lines[1]
        and located.end >= lines[0]
    )


def _settled(shown: ShownLineage, located: Located, recorded: AnchoredRange, text: Text) -> Located:
    """Return the place that a record allows.

    A deletion's text is gone: it is shown where it was, and finding the text elsewhere proves nothing. Lines that were given anew hold for
    the very text that they were given for, and an orphan leaves only what is certain (RFC 7.3.1).
    """
    lineage = shown.lineage
    if lineage.action != Action.DELETE:
        if located.sure:
            return located
        given = (
            recorded_lines(lineage.current)
            if lineage.current.text("action") == Action.REBASE_REMAP
            else None
        )
        is_of_this_text = (
            given is not None
            and given[1] <= len(text.lines)
            and recorded.anchors.file_hash in text.file_hashes
        )
        if given is not None and is_of_this_text and given != (located.start, located.end):
            return Located(*given, State.EDITED, Method.FILE_HASH, 0.9)
        return _GIVEN_UP if lineage.is_orphaned and located.is_doubtful else located
    line = max(1, min(recorded.start, len(text.lines)))
    return Located(line, line, State.UNVERIFIED, Method.RECORDED, 0.3)


def _unplaced(shown: ShownLineage, path: str, text: Text) -> Located:
    if shown.placeholder:
        return _UNPLACED
    record = shown.lineage.current
    name = record.text("function_name")
    if not name:
        return _NOWHERE
    return located_by_name(
        text, path, name, record.text("function_signature"), shown.lineage.digest
    )


def _owners(
    shown: Sequence[ShownLineage], located: Sequence[Located], first: int, last: int
) -> dict[int, tuple[tuple[int, int], ...]]:
    """Give each line from first to last to the highest ranked lineage on it; `shown` comes in the order of rank.

    Evidence comes before rank: what is not sure to be there takes no line from what is (R7).
    """
    owner = [-1] * (last - first + 1)
    placed = [
        (where.sure, number)
        for number, (each, where) in enumerate(zip(shown, located, strict=True))
        if where.start is not None and where.end is not None and where.may_own and _may_own(each)
    ]
    for _, number in sorted(placed):
        start, end = (
            max(located[number].start or first, first),
            min(located[number].end or first, last),
        )
        owner[start - first : end - first + 1] = [number] * max(0, end - start + 1)
    owned: dict[int, list[tuple[int, int]]] = {}
    line = first
    for holder, run in groupby(owner):
        after = line + len(list(run))
        if holder >= 0:
            owned.setdefault(holder, []).append((line, after - 1))
        line = after
    return {number: tuple(ranges) for number, ranges in owned.items()}


def _may_own(shown: ShownLineage) -> bool:
    lineage = shown.lineage
    return not (
        shown.placeholder
        or lineage.superseded_by
        or lineage.action in _OWNS_NOTHING
        or lineage.current.type != RecordType.LINE
    )
