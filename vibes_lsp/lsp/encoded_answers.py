"""Answers built once as bytes: the library would convert each object of each answer again.

Measured by `benchmarks/server.py`, with 10,000 hints and 1,000 lenses.
"""

from __future__ import annotations

import json
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final, TypeVar

import msgspec

from vibes_lsp.lsp.snapshots import DocumentSnapshot
from vibes_lsp.model.members import JsonValue

_encode: Final = msgspec.json.Encoder().encode


@dataclass(frozen=True, slots=True)
class EncodedResult:
    """The result of a request: JSON in bytes, which is sent as it is."""

    body: bytes


@dataclass(frozen=True)
class EncodedItems:
    """The items of a list, each at a line.

    Attributes:
        lines: The 0-based line of each item, ascending.
        items: Each item as JSON.
    """

    lines: Sequence[int]
    items: Sequence[bytes]

    @cached_property
    def all(self) -> EncodedResult:
        """All items."""
        return self.followed_by(())

    def followed_by(self, others: Iterable[dict[str, Any]]) -> EncodedResult:
        """Return all items, then others."""
        return EncodedResult(b"[" + b",".join([*self.items, *map(_encoded, others)]) + b"]")

    def between(self, first: int, last: int) -> EncodedResult:
        """Return the items of some lines, inclusive."""
        begin, end = bisect_left(self.lines, first), bisect_right(self.lines, last)
        if end - begin == len(self.items):
            return self.all
        return EncodedResult(b"[" + b",".join(self.items[begin:end]) + b"]")


def encode_result(result: JsonValue) -> EncodedResult:
    """Return the result of a request as JSON."""
    return EncodedResult(_encoded(result))


def encode_items(items: Sequence[tuple[int, dict[str, Any]]]) -> EncodedItems:
    """Return items, each with its line, as JSON."""
    return EncodedItems([line for line, _ in items], [_encoded(item) for _, item in items])


def _encoded(item: JsonValue) -> bytes:
    try:
        return _encode(item)
    except UnicodeEncodeError:  # half a surrogate pair, in an id
        return json.dumps(item).encode()


_T = TypeVar("_T")


class EncodedAnswers:
    """The last answer of each kind about each open document."""

    def __init__(self) -> None:
        self._answers: dict[tuple[str, str], tuple[DocumentSnapshot, Hashable, Any]] = {}

    def get(
        self, kind: str, snapshot: DocumentSnapshot, variant: Hashable, build: Callable[[], _T]
    ) -> _T:
        """Return the last answer if it was about the same snapshot, else a new one.

        Args:
            kind: What is answered.
            snapshot: What the answer is about; of a file that is not open nothing is kept.
            variant: What else it depends on.
            build: Builds the answer.
        """
        last = self._answers.get((kind, snapshot.uri))
        if last is not None and last[0] is snapshot and last[1] == variant:
            answer: _T = last[2]
            return answer
        found = build()
        if snapshot.version is not None:
            self._answers[kind, snapshot.uri] = snapshot, variant, found
        return found

    def last(self, kind: str, uri: str, variant: Hashable) -> Any | None:
        """Return the last answer about a document, which may have been another version of it."""
        found = self._answers.get((kind, uri))
        return found[2] if found is not None and found[1] == variant else None

    def is_last(self, kind: str, uri: str, answer: object) -> bool:
        """Whether an answer about a document is still the last one."""
        last = self._answers.get((kind, uri))
        return last is not None and last[2] is answer

    def discard(self, uri: str) -> None:
        """Delete the answers about a document that was closed."""
        for key in [key for key in self._answers if key[1] == uri]:
            del self._answers[key]
