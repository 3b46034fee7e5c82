"""Find the records that surely have no finding, many at a time.

This is a filter: the records that it leaves are checked one by one (`checks.records`), which takes
six times as long. Each line is decoded once, into a struct whose members are in alphabetical order,
so that msgspec prints its canonical form (RFC 5.2). The structs have no floats, so no value has a
longer form than the canonical one; the numbers of a risk are kept as they are written, and must be
canonical. A line of the same length as its canonical form therefore has no white space, no unusual
escapes and no duplicate members: the strict parser would read the same.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from collections.abc import Set as AbstractSet
from contextlib import suppress
from datetime import UTC, datetime
from itertools import compress
from operator import attrgetter, ne
from typing import Annotated, Any, Final, Literal, TypeAlias

import msgspec
from msgspec import UNSET, Meta, UnsetType

from vibes_lsp.checks.context import CheckContext
from vibes_lsp.checks.lineages import LineageFacts
from vibes_lsp.checks.records import SCORE_TOLERANCE, RecordChecks, latest_time
from vibes_lsp.errors import MalformedJson
from vibes_lsp.index.lineage_groups import LineageGroups
from vibes_lsp.index.log_columns import LogLineKind
from vibes_lsp.model.canonical_json import FastDecoder, canonical_json, parse_json
from vibes_lsp.model.hashing import sha256
from vibes_lsp.model.schemas import COMMIT_HASH_PATTERN, DIGEST_PATTERN
from vibes_lsp.model.timestamps import parse_timestamp
from vibes_lsp.model.vocabulary import (
    CONTEXT_MEMBERS,
    REMAP_ACTIONS,
    Action,
    AssuranceLevel,
    EdgeType,
    NodeType,
    Signal,
)
from vibes_lsp.risk.policy import WEIGHTED_AVERAGE
from vibes_lsp.risk.scoring import weighted_average

_LARGEST: Final = 1 << 53
_NonEmpty: TypeAlias = Annotated[str, Meta(min_length=1)]
_LineNumber: TypeAlias = Annotated[int, Meta(ge=1, le=_LARGEST)]
_Integer: TypeAlias = Annotated[int, Meta(ge=-_LARGEST, le=_LARGEST)]
_Text: TypeAlias = str | UnsetType | None


class _Factor(msgspec.Struct, gc=False, forbid_unknown_fields=True, kw_only=True):
    """A signal of a stored risk score."""

    reason: _Text = UNSET
    signal: str
    value: msgspec.Raw
    weight: msgspec.Raw


class _Annotation(msgspec.Struct, gc=False, forbid_unknown_fields=True, kw_only=True):
    """A line or function record without members beyond the RFC."""

    action: Action
    anchor_context: _Text = UNSET
    anchor_hash: _Text = UNSET
    annotation_id: str | UnsetType
    assurance_level: AssuranceLevel
    command_hash: _Text = UNSET
    commit_hash: _Text = UNSET
    decision_hash: _Text = UNSET
    environment_hash: str
    file_content_hash: _Text = UNSET
    file_path: _NonEmpty
    function_name: _NonEmpty | UnsetType = UNSET
    function_signature: _Text = UNSET
    line_end: _LineNumber | UnsetType = UNSET
    line_start: _LineNumber | UnsetType = UNSET
    prompt_hash: _Text = UNSET
    reasoning_hash: _Text = UNSET
    risk_factors: list[_Factor] | UnsetType | None = UNSET
    risk_score: msgspec.Raw | UnsetType = UNSET
    session_id: _Text = UNSET
    timestamp: str
    type: Literal["line", "function"]


class _Edge(msgspec.Struct, gc=False, forbid_unknown_fields=True, kw_only=True):
    """An edge without older names."""

    annotation_id: str | UnsetType
    edge_type: EdgeType
    metadata: dict[str, str | bool | _Integer | None] | UnsetType | None = UNSET
    session_id: _Text = UNSET
    source_ref: _NonEmpty
    source_type: NodeType
    target_ref: _NonEmpty
    target_type: NodeType
    timestamp: str
    type: Literal["edge"]


_ANNOTATION: Final[FastDecoder[_Annotation]] = FastDecoder(_Annotation)
_EDGE: Final[FastDecoder[_Edge]] = FastDecoder(_Edge)
_DECODERS: Final[dict[int, FastDecoder[Any]]] = {
    LogLineKind.LINE: _ANNOTATION,
    LogLineKind.FUNCTION: _ANNOTATION,
    LogLineKind.EDGE: _EDGE,
}
_encode: Final = msgspec.json.Encoder(order="deterministic").encode
_DIGEST_SIZE: Final = 64
_ID_SIZE: Final = len(',"annotation_id":""') + _DIGEST_SIZE
_NEVER: Final = datetime.min.replace(tzinfo=UTC)

_ABSENT: Final = frozenset({None, UNSET})
_is_digest: Final = re.compile(DIGEST_PATTERN).fullmatch
_is_commit: Final = re.compile(COMMIT_HASH_PATTERN).fullmatch
_DIGITS: Final = b"0123456789abcdef"
_SIGNALS: Final = frozenset(Signal)
_GET_WEIGHT: Final = attrgetter("weight")
_GET_VALUE: Final = attrgetter("value")
_GET_SIGNAL: Final = attrgetter("signal")
_MAX_NUMBER: Final = 24
"""Bytes of a number up to which it is read here."""
_MAX_NUMBERS: Final = 1 << 14
"""Numbers that are kept with their canonical form."""
_PLAIN_ACTIONS: Final = frozenset(Action) - REMAP_ACTIONS
_are_timestamps: Final = re.compile(
    r"(?:[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}(?:\.[0-9]{3})?Z\n)+"
).fullmatch


class _Rows:
    """Decoded records with their lines.

    Attributes:
        lines: The line numbers, ascending.
        records: The record on each line.
        sizes: The length of each line in bytes.
    """

    def __init__(self) -> None:
        self.lines: list[int] = []
        self.records: list[Any] = []
        self.sizes: list[int] = []

    def column(self, member: str) -> list[Any]:
        """Return a member of each record."""
        return list(map(attrgetter(member), self.records))

    def outside(self, member: str, allowed: AbstractSet[Any]) -> Iterable[int]:
        """Return the lines where a member has none of the allowed values."""
        values = self.column(member)
        if allowed >= set(values):
            return ()
        return self.lines_of(each not in allowed for each in values)

    def lines_of(self, chosen: Iterable[object]) -> Iterator[int]:
        """Return the lines for which there is a true value."""
        return compress(self.lines, chosen)


class SoundRecords:
    """Finds the records that have no finding, and tallies them.

    Args:
        context: The trail.
        groups: What edges say about the annotations.
        repeated_keys: The keys that several records have; these records are never taken.
    """

    def __init__(
        self, context: CheckContext, groups: LineageGroups, repeated_keys: AbstractSet[int]
    ) -> None:
        self._groups, self._repeated_keys = groups, repeated_keys
        self._latest = latest_time(context)
        self._compares_scores = context.config.policy.algorithm == WEIGHTED_AVERAGE
        by_type: dict[str | None, set[str]] = {}
        for key, kind in context.entry_types.items():
            if _is_digest(key):
                by_type.setdefault(kind, set()).add(key)
        self._entries: Final[dict[str, AbstractSet[Any]]] = {
            name: _ABSENT | by_type.get(kind, set()) for name, kind in CONTEXT_MEMBERS.items()
        }
        self._sessions: Final[AbstractSet[Any]] = (_ABSENT | context.session_ids) - {""}
        self._ends: Final[dict[NodeType, Collection[str]]] = {
            NodeType.CONTEXT: context.entry_types,
            NodeType.SESSION: context.session_ids,
        }

    def sift(
        self, first: int, texts: Sequence[bytes], checks: RecordChecks, facts: LineageFacts
    ) -> list[int]:
        """Tally the records without a finding on consecutive lines; return the other lines.

        Args:
            first: The number of the first line.
            texts: The lines.
            checks: Counts the records, and gets the annotations that edges refer to.
            facts: What is known of lineages.
        """
        if texts[0].endswith(b"\r"):
            texts = [each.removesuffix(b"\r") for each in texts]
        annotations, edges = _Rows(), _Rows()
        left: set[int] = set()
        kinds = self._groups.kinds[first - 1 : first - 1 + len(texts)]
        for line, (kind, text) in enumerate(zip(kinds, texts, strict=True), first):
            decoder = _DECODERS.get(kind)
            record = None if decoder is None else decoder.decode(text)
            if record is None:
                left.add(line)
                continue
            rows = edges if kind == LogLineKind.EDGE else annotations
            rows.lines.append(line)
            rows.records.append(record)
            rows.sizes.append(len(text))
        nearby = self._sift_annotations(annotations, left, checks, facts)
        self._sift_edges(edges, left, checks, nearby)
        return sorted(left)

    def _sift_annotations(
        self, rows: _Rows, left: set[int], checks: RecordChecks, facts: LineageFacts
    ) -> AbstractSet[str]:
        """Tally annotations; return the ids of those that are sound."""
        ids, moments = self._sift_records(rows, left)
        for member, known in self._entries.items():
            left.update(rows.outside(member, known))
        for member in ("anchor_hash", "file_content_hash"):
            left.update(_without_digest(rows, member))
        commits = set(rows.column("commit_hash")) - _ABSENT
        left.update(rows.outside("commit_hash", _ABSENT | set(filter(_is_commit, commits))))
        left.update(rows.outside("action", _PLAIN_ACTIONS))
        left.update(rows.lines_of(not _has_place(each) for each in rows.records))
        left.update(rows.lines_of(not self._has_sound_risk(each) for each in rows.records))
        sound = [
            (line, record, moment)
            for line, record, moment in zip(rows.lines, rows.records, moments, strict=True)
            if line not in left
        ]
        checks.count_sound((line, record.assurance_level) for line, record, _ in sound)
        for line, record, moment in sound:
            if self._groups.joined[line]:
                continue
            facts.add_single(
                (moment, line),
                self._groups,
                is_review=record.action == Action.REVIEW,
                has_commit=bool(record.commit_hash),
            )
        return {each for line, each in zip(rows.lines, ids, strict=True) if line not in left}

    def _has_sound_risk(self, annotation: _Annotation) -> bool:
        """Whether an annotation has no stored risk, or a valid one that its factors give."""
        score, factors = annotation.risk_score, annotation.risk_factors or ()
        if not factors and isinstance(score, UnsetType):
            return True
        weights = list(map(_fraction, map(bytes, map(_GET_WEIGHT, factors))))
        values = list(map(_fraction, map(bytes, map(_GET_VALUE, factors))))
        signals = set(map(_GET_SIGNAL, factors))
        if None in weights or None in values or len(signals) < len(factors):
            return False
        if not signals <= _SIGNALS:
            return False
        if isinstance(score, UnsetType):
            return True
        number = _fraction(bytes(score))
        if number is None or not self._compares_scores:
            return number is not None
        pairs: Any = list(zip(weights, values, strict=True))
        average = weighted_average(pairs)
        return average is None or abs(average - number) <= SCORE_TOLERANCE

    def _sift_edges(
        self, rows: _Rows, left: set[int], checks: RecordChecks, nearby: AbstractSet[str]
    ) -> None:
        """Tally edges; `nearby` are the ids of sound annotations among the same lines."""
        self._sift_records(rows, left)
        ends = self._ends
        left.update(
            rows.lines_of(
                (edge.source_type in ends and edge.source_ref not in ends[edge.source_type])
                or (edge.target_type in ends and edge.target_ref not in ends[edge.target_type])
                for edge in rows.records
            )
        )
        sound = [
            (line, edge)
            for line, edge in zip(rows.lines, rows.records, strict=True)
            if line not in left
        ]
        checks.count_sound((line, None) for line, _ in sound)
        for line, edge in sound:
            if edge.source_type not in ends and edge.source_ref not in nearby:
                checks.add_annotation_end(line, "source_ref", edge.source_ref)
            if edge.target_type not in ends and edge.target_ref not in nearby:
                checks.add_annotation_end(line, "target_ref", edge.target_ref)

    def _sift_records(
        self, rows: _Rows, left: set[int]
    ) -> tuple[Sequence[str], Sequence[datetime]]:
        """Compare ids, sessions and timestamps; return the ids and the times.

        Afterwards the records have no ids.
        """
        ids = rows.column("annotation_id")
        for record in rows.records:
            record.annotation_id = UNSET
        texts = list(map(_encode, rows.records))
        left.update(rows.lines_of(map(ne, ids, map(sha256, texts))))
        without_id = [size - _ID_SIZE for size in rows.sizes]
        left.update(rows.lines_of(map(ne, without_id, map(len, texts))))
        keys, repeated = self._groups.keys, self._repeated_keys
        if repeated:
            left.update(line for line in rows.lines if keys[line - 1] in repeated)
        left.update(rows.outside("session_id", self._sessions))
        moments = _moments(rows.column("timestamp"))
        left.update(rows.lines_of(each is None or each > self._latest for each in moments))
        return ids, [each or _NEVER for each in moments]


def _has_place(annotation: _Annotation) -> bool:
    """Whether an annotation has the members that its type requires."""
    if annotation.type == "function":
        return annotation.function_name is not UNSET
    start, end = annotation.line_start, annotation.line_end
    return not isinstance(start, UnsetType) and not isinstance(end, UnsetType) and start <= end


class _Fractions(dict[bytes, float | None]):
    """Numbers from 0 to 1 by their canonical form; None for any other text."""

    def __missing__(self, printed: bytes) -> float | None:
        value = _read_fraction(printed) if len(printed) <= _MAX_NUMBER else None
        if len(self) < _MAX_NUMBERS and len(printed) <= _MAX_NUMBER:
            self[printed] = value
        return value


_fraction: Final = _Fractions().__getitem__


def _read_fraction(printed: bytes) -> float | None:
    try:
        value = parse_json(printed)
    except MalformedJson:
        return None
    if type(value) not in (int, float) or canonical_json(value) != printed:
        return None
    return float(value) if 0 <= value <= 1 else None  # type: ignore[arg-type, operator]


def _without_digest(rows: _Rows, member: str) -> Iterable[int]:
    """Return the lines where a member is neither absent nor a digest."""
    values = rows.column(member)
    digests = [each for each in values if each]
    joined = "".join(digests)
    if (
        set(map(len, digests)) <= {_DIGEST_SIZE}
        and joined.isascii()
        and not joined.encode().translate(None, _DIGITS)
        and "" not in values
    ):
        return ()
    return rows.lines_of(each not in _ABSENT and not _is_digest(each) for each in values)


def _moments(stamps: Sequence[str]) -> Sequence[datetime | None]:
    """Return the times of timestamps; None for an invalid one."""
    if _are_timestamps("\n".join((*stamps, ""))):
        with suppress(ValueError):
            return list(map(datetime.fromisoformat, stamps))
    return list(map(parse_timestamp, stamps))
