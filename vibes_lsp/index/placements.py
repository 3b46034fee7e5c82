"""Where the annotations of a file are in a text, and which line belongs to whom (R7, R15, R18)."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import groupby

from vibes_lsp.anchors.locating import Located, Method, Recorded, State, locate
from vibes_lsp.anchors.making import Anchors
from vibes_lsp.anchors.text import Text
from vibes_lsp.index.lineage import Lineage
from vibes_lsp.index.records import LogRecord
from vibes_lsp.index.repeats import Shown, show_once
from vibes_lsp.index.trail import Trail
from vibes_lsp.model.members import integer
from vibes_lsp.model.vocabulary import Action, RecordType

_NOWHERE = Located(None, None, State.LOST, Method.RECORDED, 0.0)
_UNPLACED = Located(None, None, State.UNVERIFIED, Method.RECORDED, 0.0)
_OWNS_NOTHING = frozenset({Action.DELETE, Action.REVIEW})


@dataclass(frozen=True, slots=True)
class Placement:
    """An annotation in a text.

    Attributes:
        shown: The lineage, and the repeats that it stands for.
        located: Where it is.
        owned: The ranges of lines that belong to it, first and last inclusive; none for history, reviews and deletions.
    """

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
    def is_history(self) -> bool:
        """Whether another edit has taken its place (R7)."""
        return bool(self.lineage.superseded_by)

    @property
    def may_own(self) -> bool:
        """Whether lines can belong to it: not to history, functions, reviews, deletions and stand-ins (R7, R18)."""
        return _may_own(self.shown)

    @property
    def order(self) -> tuple[bool, bool, int, int]:
        """Owners before history, what is placed before what is not, then down the document."""
        start = self.located.start
        return self.is_history, start is None, start or 0, -(self.located.end or 0)


def place(trail: Trail, path: str, text: Text) -> list[Placement]:
    """Return the annotations of a file in document order, history after owners.

    Args:
        trail: The trail, refreshed.
        path: Relative to the project, forward slashes.
        text: The file as it is now, saved or not.
    """
    shown = show_once(trail.lineages_in(path))
    located = _locate(shown, text)
    owned = _owners(shown, located, len(text.lines))
    placements = [Placement(each, where, owned.get(number, ())) for number, (each, where) in enumerate(zip(shown, located, strict=True))]
    return sorted(placements, key=lambda placement: placement.order)


def recorded_lines(record: LogRecord) -> tuple[int, int] | None:
    """Return the range that a record gives; None when it gives none that makes sense."""
    start, end = integer(record.members, "line_start"), integer(record.members, "line_end")
    if record.type != RecordType.LINE or start is None or end is None or not 1 <= start <= end:
        return None
    return start, end


def _locate(shown: Sequence[Shown], text: Text) -> list[Located]:
    ranges = [None if each.placeholder else _recorded(each.lineage) for each in shown]
    found = iter(locate([each for each in ranges if each is not None], text))
    return [
        _unplaced(each, text) if recorded is None else _settled(each, next(found), recorded, text)
        for each, recorded in zip(shown, ranges, strict=True)
    ]


def _recorded(lineage: Lineage) -> Recorded | None:
    lines = recorded_lines(lineage.current)
    if lines is None:
        return None
    context, digest = _first(lineage, "anchor_context"), _first(lineage, "anchor_hash") or None
    anchors = Anchors(
        context if context is not None and (context.strip() or digest) else None,
        digest,
        lineage.current.text("file_content_hash") or _first(lineage, "file_content_hash") or None,
    )
    return Recorded(*lines, anchors)


def _first(lineage: Lineage, name: str) -> str | None:
    """Return an anchor as the oldest member has it: anchors describe what the AI wrote, whatever came later (R14).

    The context of blank lines is empty or a line break; it means something beside a hash.
    """
    return next((value for member in lineage.members if (value := member.text(name)) is not None), None)


def _settled(shown: Shown, located: Located, recorded: Recorded, text: Text) -> Located:
    """A deletion's text is gone: it is shown where it was, and finding the text elsewhere proves nothing."""
    if shown.lineage.action != Action.DELETE:
        return located
    line = max(1, min(recorded.start, len(text.lines)))
    return Located(line, line, State.UNVERIFIED, Method.RECORDED, 0.3)


def _unplaced(shown: Shown, text: Text) -> Located:
    if shown.placeholder:
        return _UNPLACED
    name = shown.lineage.current.text("function_name")
    return _NOWHERE if not name else _by_name(name, text)


def _by_name(name: str, text: Text) -> Located:
    """Find a function by its name alone: the one line that looks like its definition (a parser does better, later)."""
    plain = re.split(r"[.:#]+", name)[-1].strip()
    defines = re.compile(
        rf"(?:[\w@<>\[\],&*]+\s+)*?(?:def|function|fn|func|fun|class|struct|interface|sub|method)\s+{re.escape(plain)}(?!\w)"
    )
    lines = [
        number for number, line in enumerate(text.lines, 1) if plain and plain in line and len(line) < 2000 and defines.match(line.lstrip())
    ]
    if not lines:
        return replace(_NOWHERE, method=Method.NAME)
    ambiguous = len(lines) > 1
    return Located(lines[0], lines[0], State.UNVERIFIED, Method.NAME, 0.3 if ambiguous else 0.6, ambiguous)


def _owners(shown: Sequence[Shown], located: Sequence[Located], length: int) -> dict[int, tuple[tuple[int, int], ...]]:
    """Give each line to the highest ranked lineage on it; `shown` comes in the order of rank."""
    owner: list[int | None] = [None] * (length + 1)
    for number, (each, where) in enumerate(zip(shown, located, strict=True)):
        if where.start is None or where.end is None or not _may_own(each):
            continue
        end = min(where.end, length)
        owner[where.start : end + 1] = [number] * max(0, end + 1 - where.start)
    owned: dict[int, list[tuple[int, int]]] = {}
    for holder, lines in groupby(range(1, length + 1), key=lambda line: owner[line]):
        run = list(lines)
        if holder is not None:
            owned.setdefault(holder, []).append((run[0], run[-1]))
    return {number: tuple(ranges) for number, ranges in owned.items()}


def _may_own(shown: Shown) -> bool:
    lineage = shown.lineage
    return not (shown.placeholder or lineage.superseded_by or lineage.action in _OWNS_NOTHING or lineage.current.type != RecordType.LINE)
