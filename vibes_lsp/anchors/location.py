"""What there is to say about where a range is (R15)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Final

import msgspec

from vibes_lsp.anchors.create_anchors import Anchors, range_hash_variants
from vibes_lsp.anchors.text import Text

_LOW: Final = 0.5
"""The confidence below which an ambiguous guess owns no line."""


class State(StrEnum):
    """What became of a range (R15)."""

    EXACT = "exact"
    MOVED = "moved"
    EDITED = "edited"
    LOST = "lost"
    UNVERIFIED = "unverified"


class Method(StrEnum):
    """How a range was located (R15)."""

    FILE_HASH = "file-hash"
    ANCHOR_HASH = "anchor-hash"
    HISTORY = "history"
    CONTEXT = "context"
    NORMALISED = "normalised"
    FUZZY = "fuzzy"
    NAME = "name"
    LOG = "log"
    RECORDED = "recorded"
    ANCHOR_BEFORE_EDIT = "anchor-before-edit"
    OLDER_THAN_EDIT = "older-than-edit"


class AnchoredRange(msgspec.Struct, frozen=True, gc=False):
    """A range as a record has it, 1-based and inclusive."""

    start: int
    end: int
    anchors: Anchors

    @property
    def length(self) -> int:
        """Number of lines."""
        return self.end - self.start + 1

    def matches_at(self, lines: Sequence[str], start: int) -> bool:
        """Whether the range stands at a line of a text, its digest made in any of the ways that tools have (R14)."""
        block = self._block(lines, start)
        return (
            block is not None
            and self.anchors.hash is not None
            and self.anchors.hash in range_hash_variants(block)
        )

    def _block(self, lines: Sequence[str], start: int) -> Sequence[str] | None:
        end = start - 1 + self.length
        return (
            lines[start - 1 : end] if self.anchors.hash is not None and end <= len(lines) else None
        )


class DatedCommit(msgspec.Struct, frozen=True, gc=False):
    """A commit that has some lines, and its time: git has them since then, or longer."""

    commit: str
    moment: datetime


@dataclass(frozen=True, slots=True)
class OriginalText:
    """The text that a range was made in, as history has it.

    Attributes:
        text: The whole file then.
        start: First line of the range in it, 1-based.
        end: Last line, inclusive.
        later: Versions of the file since then, oldest first; not all need be there.
        inferred: Whether nothing in the record proves that it is this text: nothing located by it is sure (R17).
        before_edit: Whether the anchors were made of this text before the AI changed it: they prove nothing (R14).
        older_commit: The commit that has this text, of one before the edit.
    """

    text: Text
    start: int
    end: int
    later: tuple[Text, ...] = ()
    inferred: bool = False
    before_edit: bool = False
    older_commit: DatedCommit | None = None


class LineKind(StrEnum):
    """Whose a line inside a placed range is: the AI's and verified, claimed to be the AI's but not verified, edited since, or a person's."""

    AI = "ai"
    CLAIMED = "claimed"
    EDITED = "edited"
    HUMAN = "human"


class LocatedRange(msgspec.Struct, frozen=True, gc=False):
    """Where a range is now.

    Attributes:
        start: First line, 1-based; None when lost.
        end: Last line, inclusive; None when lost.
        state: What became of it.
        method: How it was located.
        confidence: How much to trust the place, 0 to 1.
        ambiguous: Whether another place would fit as well, or too little text fits to be sure of this one.
        intact: How many of its lines are as the AI wrote them; None when that is not known.
        kinds: Whose each line from `start` to `end` is; empty when that is not known.
        older_commit: The commit before the edit that has the lines, where history disproves the record.
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

    @property
    def is_doubtful(self) -> bool:
        """Whether it may well be another place: ambiguous, or nothing is known to be left there of what was recorded."""
        return not self.sure and (
            self.ambiguous or self.state == State.UNVERIFIED or not self.intact
        )

    @property
    def is_contradicted(self) -> bool:
        """Whether history disproves the record: git has had these lines since before the edit (R15). It owns nothing and claims nothing."""
        return self.method in {Method.ANCHOR_BEFORE_EDIT, Method.OLDER_THAN_EDIT}

    @property
    def may_own(self) -> bool:
        """Whether lines can belong to what is here: not where history disproves it, nor where it only may be (R15)."""
        return not (self.is_contradicted or (self.ambiguous and self.confidence < _LOW))

    @property
    def is_proven(self) -> bool:
        """Whether it is verified whose each line is: a sure place, or an edit told line by line.

        `kinds` of an inferred text, or at one of several places, prove nothing.
        """
        return self.sure or (bool(self.kinds) and self.state == State.EDITED and not self.ambiguous)

    @property
    def sure(self) -> bool:
        """Whether this is a claim that must not be wrong (R15)."""
        return self.state in (State.EXACT, State.MOVED) and not self.ambiguous
