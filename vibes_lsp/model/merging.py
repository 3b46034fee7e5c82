"""Merging two versions of a JSON value that come from a common one, member by member. Pure."""

from __future__ import annotations

from typing import Final, TypeAlias

from vibes_lsp.model.canonical import same_value
from vibes_lsp.model.members import JsonValue, Members


class _Absent:
    """Stands for a member that is not there."""


ABSENT: Final = _Absent()
Version: TypeAlias = "JsonValue | _Absent"


class Contradiction(ValueError):
    """Both sides changed one value, each in its own way.

    Args:
        where: The names of the members that lead to it.
    """

    def __init__(self, where: tuple[str, ...]) -> None:
        super().__init__(".".join(where))
        self.where = ".".join(where)


def merge_members(base: Members | None, ours: Members, theirs: Members, where: tuple[str, ...] = ()) -> Members:
    """Return an object with what either side changed, in our order, their new members last.

    Args:
        base: The version that both come from; None where there was none.
        ours: One side.
        theirs: The other one.
        where: The names of the members that lead to it.

    Raises:
        Contradiction: Both changed one value differently. Lists of strings are merged by what was added and what was taken out.
    """
    merged: Members = {}
    for name in dict.fromkeys((*ours, *theirs)):
        value = _merge((base or {}).get(name, ABSENT), ours.get(name, ABSENT), theirs.get(name, ABSENT), (*where, name))
        if not isinstance(value, _Absent):
            merged[name] = value
    return merged


def _merge(base: Version, ours: Version, theirs: Version, where: tuple[str, ...]) -> Version:
    if _same(ours, theirs) or _same(base, theirs):
        return ours
    if _same(base, ours):
        return theirs
    if isinstance(ours, dict) and isinstance(theirs, dict):
        return merge_members(base if isinstance(base, dict) else None, ours, theirs, where)
    if isinstance(ours, list) and isinstance(theirs, list) and all(isinstance(each, str) for each in (*ours, *theirs)):
        before = base if isinstance(base, list) else []
        kept = [each for each in ours if each in theirs or each not in before]
        return kept + [each for each in theirs if each not in ours and each not in before]
    raise Contradiction(where)


def _same(one: Version, other: Version) -> bool:
    if isinstance(one, _Absent) or isinstance(other, _Absent):
        return one is other
    return same_value(one, other)
