"""Recorded ranges, their original text, and where they are now (R15)."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from enum import StrEnum
from typing import Final

import msgspec

from vibes_lsp.anchors.create_anchors import Anchors, range_hash_variants

_LOW: Final = 0.5
"""The confidence below which an ambiguous range owns no line."""


class State(StrEnum):
    """What happened to a range (R15)."""

    EXACT = "exact"
    MOVED = "moved"
    EDITED = "edited"
    LOST = "lost"
    UNVERIFIED = "unverified"


class Method(StrEnum):
    """How a range was located (R15).

    Attributes:
        FILE_HASH: The file has not changed.
        ANCHOR_HASH: The lines have the recorded hash.
        HISTORY: The original text was compared with the current one.
        CONTEXT: The recorded first lines were searched, because the whole range does not occur.
        FUZZY: Some of the recorded lines occur.
        NAME: A function was found by its name.
        LOG: An orphan record says that the lines are gone.
        RECORDED: Nothing was compared; these are the recorded lines.
        ANCHOR_BEFORE_EDIT: The lines match, but git had them before the edit.
        OLDER_THAN_EDIT: The lines were found, but all of them are older than the edit.
        LINE_HASHES: Git's blame and the hash of each line say it (R32).
        REPLAY: It waits for a commit; the texts after each edit say it.
    """

    FILE_HASH = "file-hash"
    ANCHOR_HASH = "anchor-hash"
    HISTORY = "history"
    CONTEXT = "context"
    FUZZY = "fuzzy"
    NAME = "name"
    LOG = "log"
    RECORDED = "recorded"
    ANCHOR_BEFORE_EDIT = "anchor-before-edit"
    OLDER_THAN_EDIT = "older-than-edit"
    LINE_HASHES = "line-hashes"
    REPLAY = "replay"


class AnchoredRange(msgspec.Struct, frozen=True, gc=False):
    """A recorded range, 1-based and inclusive, with its anchors."""

    start: int
    end: int
    anchors: Anchors

    @property
    def length(self) -> int:
        """Number of lines."""
        return self.end - self.start + 1

    def matches_at(self, lines: Sequence[str], start: int) -> bool:
        """Whether the lines from `start` on have the range's hash, in any known variant (R14)."""
        end = start - 1 + self.length
        return (
            self.anchors.hash is not None
            and end <= len(lines)
            and self.anchors.hash in range_hash_variants(lines[start - 1 : end])
        )


class DatedCommit(msgspec.Struct, frozen=True, gc=False):
    """A commit and its time."""

    commit: str
    moment: datetime


class LineKind(StrEnum):
    """Who wrote a line of a located range.

    Attributes:
        AI: The AI; this is verified.
        CLAIMED: The AI, according to the record only.
        EDITED: The AI; it was edited since.
        UNRECORDED: Nothing says that an AI wrote it.
    """

    AI = "ai"
    CLAIMED = "claimed"
    EDITED = "edited"
    UNRECORDED = "unrecorded"


class LocatedRange(msgspec.Struct, frozen=True, gc=False):
    """Where a range is now.

    Attributes:
        start: First line, 1-based; None when lost.
        end: Last line, inclusive; None when lost.
        state: What happened to it.
        method: How it was located.
        confidence: 0 to 1.
        ambiguous: Whether another place fits as well, or too little text fits to be sure.
        intact: How many of its lines are as the AI wrote them; None when unknown.
        kinds: The kind of each line from `start` to `end`; empty when unknown.
        older_commit: A commit before the edit that has the lines, where history contradicts the
            record.
    """

    start: int | None
    end: int | None
    state: State
    method: Method
    confidence: float
    ambiguous: bool = False
    intact: int | None = None
    kinds: tuple[LineKind, ...] = ()
    older_commit: DatedCommit | None = None

    def touches(self, first: int, last: int) -> bool:
        """Whether it has one of some lines, 1-based and inclusive."""
        return (
            self.start is not None
            and self.end is not None
            and self.start <= last
            and first <= self.end
        )

    @property
    def is_doubtful(self) -> bool:
        """Whether the range may be elsewhere: ambiguous, or no recorded line is known to remain."""
        return not self.sure and (
            self.ambiguous or self.state == State.UNVERIFIED or not self.intact
        )

    @property
    def is_contradicted(self) -> bool:
        """Whether git had the lines before the edit (R15). Such a range owns no line."""
        return self.method in {Method.ANCHOR_BEFORE_EDIT, Method.OLDER_THAN_EDIT}

    @property
    def may_own(self) -> bool:
        """Whether the range may own lines: not contradicted, and not a vague guess (R15)."""
        return not (self.is_contradicted or (self.ambiguous and self.confidence < _LOW))

    @property
    def is_proven(self) -> bool:
        """Whether the kind of each line is verified: at a sure place, or in a mapped edit.

        `kinds` of an inferred original text, or at one of several places, prove nothing.
        """
        return self.sure or (
            bool(self.kinds)
            and self.state == State.EDITED
            and not self.ambiguous
            and LineKind.CLAIMED not in self.kinds
        )

    @property
    def sure(self) -> bool:
        """Whether this is a claim that must not be wrong (R15)."""
        return self.state in (State.EXACT, State.MOVED) and not self.ambiguous
