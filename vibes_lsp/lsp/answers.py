"""What was answered last about each open document, so that the next answer can leave out what the client knows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import count
from typing import Any

from vibes_lsp.model.members import Members


@dataclass(slots=True)
class Answers:
    """The last answer about each document, under an id that the client gives back."""

    _numbers: count[int] = field(default_factory=lambda: count(1))
    _last: dict[str, tuple[str, Sequence[Members]]] = field(default_factory=dict)

    def give(self, uri: str, placements: Sequence[Members], previous: str | None) -> dict[str, Any]:
        """Return `placements` and their `resultId`; of the answer that `previous` names, and if it is the last, only what is other `since`.

        Then placements that are as they were are left out, and so are the members of the others that are; `annotationId` says which one it is.
        Where other annotations are there than before, or in another order, or one lost a member, all is said.
        """
        known, before = self._last.get(uri, (None, ()))
        result = str(next(self._numbers))
        self._last[uri] = result, placements
        if previous is None or previous != known or not _are_alike(before, placements):
            return {"resultId": result, "placements": list(placements)}
        changed = [_news(old, new) for old, new in zip(before, placements, strict=True) if old != new]
        return {"resultId": result, "since": previous, "placements": changed}

    def forget(self, uri: str) -> None:
        """Drop what was said about a document."""
        self._last.pop(uri, None)


def _are_alike(before: Sequence[Members], after: Sequence[Members]) -> bool:
    """Whether the same annotations are in both, in the same order, and none has lost a member."""
    return len(before) == len(after) and all(
        old["annotationId"] == new["annotationId"] and old.keys() <= new.keys() for old, new in zip(before, after, strict=True)
    )


def _news(old: Members, new: Members) -> Members:
    missing = object()
    changed = {name: value for name, value in new.items() if old.get(name, missing) != value}
    return {"annotationId": new["annotationId"], **changed}
