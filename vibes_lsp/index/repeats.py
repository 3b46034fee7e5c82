"""Annotations that other tools wrote more than once for one place (R18): shown once, with the number of times."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from operator import attrgetter

import msgspec

from vibes_lsp.index.lineage import Lineage


class Shown(msgspec.Struct, frozen=True):
    """A lineage to show, and the equal older ones that it stands for.

    Attributes:
        lineage: The highest ranked of its kind.
        repeats: The others, oldest first.
        placeholder: Whether the recorded range is a tool's stand-in for an unknown place, to be painted on no line.
    """

    lineage: Lineage
    repeats: tuple[Lineage, ...] = ()
    placeholder: bool = False


def show_once(lineages: Sequence[Lineage]) -> list[Shown]:
    """Fold repeated annotations of one file together.

    Args:
        lineages: The lineages of one file, oldest first.

    Returns:
        What to show, in the order of rank. Placeholders (at least two unanchored changes of "line 1") make one.
    """
    stand_ins = [lineage for lineage in lineages if lineage.may_stand_in]
    if len(stand_ins) < 2:
        stand_ins = []
    others = [lineage for lineage in lineages if not any(lineage is each for each in stand_ins)] if stand_ins else lineages
    shown = [Shown(group[-1], tuple(group[:-1])) for group in _alike(others)]
    if stand_ins:
        shown.append(Shown(stand_ins[-1], tuple(stand_ins[:-1]), placeholder=True))
    return sorted(shown, key=lambda each: each.lineage.rank)


def _alike(lineages: Sequence[Lineage]) -> Iterator[list[Lineage]]:
    """Group lineages whose records a person could not tell apart; only those that agree in place and text are compared whole."""
    for some in _grouped(lineages, attrgetter("beginning")):
        for near in [some] if len(some) == 1 else _grouped(some, attrgetter("gist")):
            yield from [near] if len(near) == 1 else _grouped(near, attrgetter("fingerprint"))


def _grouped(lineages: Sequence[Lineage], key: Callable[[Lineage], object]) -> Iterable[list[Lineage]]:
    groups: dict[object, list[Lineage]] = {}
    for lineage in lineages:
        groups.setdefault(key(lineage), []).append(lineage)
    return groups.values()
