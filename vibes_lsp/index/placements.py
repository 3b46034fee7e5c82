"""Where the annotations of a file are in a text, and which line belongs to whom (R7, R15, R18)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby

from vibes_lsp.anchors.functions import located_by_name
from vibes_lsp.anchors.located import Located, Method, Origin, Recorded, State
from vibes_lsp.anchors.locating import locate
from vibes_lsp.anchors.text import Text
from vibes_lsp.index.lineage import Lineage
from vibes_lsp.index.past import NO_PAST, Past
from vibes_lsp.index.ranges import recorded_lines
from vibes_lsp.index.records import LogRecord
from vibes_lsp.index.repeats import Shown, show_once
from vibes_lsp.index.trail import Trail
from vibes_lsp.model.paths import normal_path
from vibes_lsp.model.vocabulary import Action, RecordType

_NOWHERE = Located(None, None, State.LOST, Method.RECORDED, 0.0)
_GIVEN_UP = Located(None, None, State.LOST, Method.LOG, 0.0)
_UNPLACED = Located(None, None, State.UNVERIFIED, Method.RECORDED, 0.0)
_OWNS_NOTHING = frozenset({Action.DELETE, Action.REVIEW})


@dataclass(frozen=True, slots=True)
class Placement:
    """An annotation in a text.

    Attributes:
        path: The file that it is in now, relative to the project.
        shown: The lineage, and the repeats that it stands for.
        located: Where it is.
        owned: The ranges of lines that belong to it, first and last inclusive; none for history, reviews and deletions.
    """

    path: str
    shown: Shown
    located: Located
    owned: tuple[tuple[int, int], ...] = ()

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


def place(trail: Trail, path: str, text: Text, past: Past = NO_PAST, pending: Sequence[Lineage] = ()) -> list[Placement]:
    """Return the annotations of a file in document order, history after owners.

    Args:
        trail: The trail, refreshed.
        path: Relative to the project, forward slashes.
        text: The file as it is now, saved or not.
        past: What history knows of them.
        pending: What waits to be recorded of the file; nothing that is written may name it.
    """
    lineages = [lineage for name in (path, *past.former_paths) for lineage in trail.lineages_in(name)]
    lineages += [lineage for identifier in past.arrivals if (lineage := trail.lineage_of(identifier)) is not None]
    known = {identifier for lineage in lineages for identifier in lineage.ids}
    lineages += [each for each in pending if each.current.id not in known]
    shown = show_once(sorted(lineages, key=lambda lineage: lineage.rank))
    pairs = list(zip(shown, _locate(shown, path, text, past.origins), strict=True))
    here = [(each, where) for each, where in pairs if where.sure or each.lineage.first.id not in past.arrivals]
    return _placed(path, [each for each, _ in here], [where for _, where in here], len(text.lines))


def located_in(text: Text, placements: Sequence[Placement], past: Past = NO_PAST) -> list[Located]:
    """Return where annotations are in another text of the same file, in the order given, without asking their trail; see `place`."""
    return _locate([each.shown for each in placements], placements[0].path if placements else "", text, past.origins)


def replaced(placements: Sequence[Placement], located: Sequence[Located], length: int) -> list[Placement]:
    """Return placements whose places have changed, in document order, with the lines that they own now.

    Args:
        placements: What is placed.
        located: Where each of them is now.
        length: The number of lines of the text.
    """
    by_rank = sorted(zip(placements, located, strict=True), key=lambda pair: pair[0].lineage.rank)
    path = placements[0].path if placements else ""
    return _placed(path, [placement.shown for placement, _ in by_rank], [where for _, where in by_rank], length)


def _placed(path: str, shown: Sequence[Shown], located: Sequence[Located], length: int) -> list[Placement]:
    owned = _owners(shown, located, length)
    pairs = enumerate(zip(shown, located, strict=True))
    placements = [Placement(path, each, where, owned.get(number, ())) for number, (each, where) in pairs]
    return sorted(placements, key=lambda placement: placement.order)


def _locate(shown: Sequence[Shown], path: str, text: Text, origins: Mapping[str, Origin]) -> list[Located]:
    ranges = [None if each.placeholder else each.lineage.recorded for each in shown]
    known = [origins.get(each.lineage.first.id) for each, recorded in zip(shown, ranges, strict=True) if recorded is not None]
    found = iter(locate([each for each in ranges if each is not None], text, known))
    return [
        _unplaced(each, path, text) if recorded is None else _settled(each, next(found), recorded, text)
        for each, recorded in zip(shown, ranges, strict=True)
    ]


def _settled(shown: Shown, located: Located, recorded: Recorded, text: Text) -> Located:
    """Return the place that a record allows.

    A deletion's text is gone: it is shown where it was, and finding the text elsewhere proves nothing. Lines that were given anew hold for
    the very text that they were given for, and an orphan leaves only what is certain (RFC 7.3.1).
    """
    lineage = shown.lineage
    if lineage.action != Action.DELETE:
        if located.sure:
            return located
        given = recorded_lines(lineage.current) if lineage.current.text("action") == Action.REBASE_REMAP else None
        is_of_this_text = given is not None and given[1] <= len(text.lines) and recorded.anchors.file_hash in text.file_hashes
        if given is not None and is_of_this_text and given != (located.start, located.end):
            return Located(*given, State.EDITED, Method.FILE_HASH, 0.9)
        return _GIVEN_UP if lineage.is_orphaned and located.is_doubtful else located
    line = max(1, min(recorded.start, len(text.lines)))
    return Located(line, line, State.UNVERIFIED, Method.RECORDED, 0.3)


def _unplaced(shown: Shown, path: str, text: Text) -> Located:
    if shown.placeholder:
        return _UNPLACED
    name = shown.lineage.current.text("function_name")
    return _NOWHERE if not name else located_by_name(text, path, name, shown.lineage.current.text("function_signature"))


def _owners(shown: Sequence[Shown], located: Sequence[Located], length: int) -> dict[int, tuple[tuple[int, int], ...]]:
    """Give each line to the highest ranked lineage on it; `shown` comes in the order of rank."""
    owner: list[int | None] = [None] * (length + 1)
    for number, (each, where) in enumerate(zip(shown, located, strict=True)):
        if where.start is None or where.end is None or not _may_own(each):
            continue
        end = min(where.end, length)
        owner[where.start : end + 1] = [number] * max(0, end + 1 - where.start)
    owned: dict[int, list[tuple[int, int]]] = {}
    last = 0
    for holder, lines in groupby(owner[1:]):
        first, last = last + 1, last + len(list(lines))
        if holder is not None:
            owned.setdefault(holder, []).append((first, last))
    return {number: tuple(ranges) for number, ranges in owned.items()}


def _may_own(shown: Shown) -> bool:
    lineage = shown.lineage
    return not (shown.placeholder or lineage.superseded_by or lineage.action in _OWNS_NOTHING or lineage.current.type != RecordType.LINE)
