"""Context hashes (RFC 5.2) and annotation ids (RFC 5.4), and the variants that other tools compute.

Some tools hash a changed form of an entry or record (R2, R3). The `explain` functions try the known
changes in every combination, simplest first, and return those that reproduce the stored digest.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Final, Generic, TypeVar

from vibes_lsp.model.canonical_json import canonical_json
from vibes_lsp.model.members import JsonValue, Members
from vibes_lsp.model.vocabulary import ContextType


class ContextVariant(StrEnum):
    """How a manifest key was computed from its entry (R2).

    Attributes:
        SPEC: As in the RFC.
        NO_TYPE: Without `type`.
        ASCII: With non-ASCII characters escaped.
        NULL_DROPPED: Without null members.
        JS_NUMBER: With numbers printed as JavaScript does.
        REPLACER: With only the top-level member names at every depth (`JSON.stringify`).
        ENVIRONMENT_UNKNOWN: With the model "unknown".
        MISMATCH: In no known way.
    """

    SPEC = "spec"
    NO_TYPE = "no-type"
    ASCII = "ascii"
    NULL_DROPPED = "null-dropped"
    JS_NUMBER = "js-number"
    REPLACER = "replacer"
    ENVIRONMENT_UNKNOWN = "environment-unknown"
    MISMATCH = "mismatch"


class IdVariant(StrEnum):
    """How a stored `annotation_id` was computed from its record (R3).

    Attributes:
        SPEC: As in the RFC.
        LESS_ANCHORS: Without the anchors.
        LESS_COMMIT: Without `commit_hash`, or with null in its place.
        LESS_RISK: Without the risk members.
        ASCII: With non-ASCII characters escaped.
        ABSENT: The record has no id.
        MISMATCH: In no known way.
    """

    SPEC = "spec"
    LESS_ANCHORS = "less-anchors"
    LESS_COMMIT = "less-commit"
    LESS_RISK = "less-risk"
    ASCII = "ascii"
    ABSENT = "absent"
    MISMATCH = "mismatch"


ANCHOR_MEMBERS: Final = ("anchor_context", "anchor_hash", "file_content_hash")
RISK_MEMBERS: Final = ("risk_score", "risk_factors")


def sha256(data: bytes) -> str:
    """Return the digest as 64 lowercase hexadecimal digits (RFC 5.1)."""
    return hashlib.sha256(data).hexdigest()


def context_hash(entry: Members) -> str:
    """Return the manifest key of an entry: the hash of all members but `created_at` (RFC 5.2)."""
    return sha256(canonical_json(_without(entry, "created_at")))


def annotation_id(record: Members) -> str:
    """Return the id of a record: the hash of all members but `annotation_id` (RFC 5.4, R3)."""
    return sha256(canonical_json(_without(record, "annotation_id")))


def explain_context_hash(key: str, entry: Members) -> tuple[ContextVariant, ...]:
    """Return the variants that together reproduce `key` from `entry`, in the order of the enum.

    `(SPEC,)` when it follows the RFC, `(MISMATCH,)` when no known variant explains it.
    """
    return _explain(key, _without(entry, "created_at"), _CONTEXT_DEVIATIONS) or (
        ContextVariant.MISMATCH,
    )


def explain_annotation_id(record: Members) -> tuple[IdVariant, ...]:
    """Return the variants that reproduce the record's `annotation_id`; `(ABSENT,)` without one."""
    stored = record.get("annotation_id")
    if stored is None:
        return (IdVariant.ABSENT,)
    if not isinstance(stored, str):
        return (IdVariant.MISMATCH,)
    return _explain(stored, _without(record, "annotation_id"), _ID_DEVIATIONS) or (
        IdVariant.MISMATCH,
    )


_V = TypeVar("_V", ContextVariant, IdVariant)


@dataclass(frozen=True, slots=True)
class _HashInput:
    """The members to hash and how to serialise them."""

    members: Members
    ascii_only: bool = False
    javascript_numbers: bool = False

    def digest(self) -> str:
        return sha256(
            canonical_json(
                self.members, ascii_only=self.ascii_only, javascript_numbers=self.javascript_numbers
            )
        )


@dataclass(frozen=True, slots=True)
class _Deviation(Generic[_V]):
    variant: _V
    applies: Callable[[Members], bool]
    change: Callable[[_HashInput], _HashInput]


def _explain(
    digest: str, members: Members, changes: Sequence[_Deviation[_V]]
) -> tuple[_V, ...] | None:
    if sha256(canonical_json(members)) == digest:
        return (type(changes[0].variant).SPEC,)
    plain = _HashInput(members)
    possible = [change for change in changes if change.applies(members)]
    for chosen in _combinations(possible):
        form = plain
        for deviation in chosen:
            form = deviation.change(form)
        if form.digest() == digest:
            return tuple(dict.fromkeys(deviation.variant for deviation in chosen))
    return None


def _combinations(changes: Sequence[_Deviation[_V]]) -> Iterator[list[_Deviation[_V]]]:
    """Yield all non-empty selections; those without the later changes come first."""
    for mask in range(1, 1 << len(changes)):
        yield [change for bit, change in enumerate(changes) if mask >> bit & 1]


def _without(members: Members, *names: str) -> Members:
    kept = members.copy()
    for name in names:
        kept.pop(name, None)
    return kept


def _drop(*names: str) -> Callable[[_HashInput], _HashInput]:
    return lambda form: replace(form, members=_without(form.members, *names))


def _has_any(*names: str) -> Callable[[Members], bool]:
    return lambda members: any(name in members for name in names)


def _ascii(form: _HashInput) -> _HashInput:
    return replace(form, ascii_only=True)


def _javascript(form: _HashInput) -> _HashInput:
    return replace(form, javascript_numbers=True)


def _drop_nulls(form: _HashInput) -> _HashInput:
    kept: Members = {name: value for name, value in form.members.items() if value is not None}
    return replace(form, members=kept)


def _with_null_commit(form: _HashInput) -> _HashInput:
    return replace(form, members={**form.members, "commit_hash": None})


def _with_unknown_model(form: _HashInput) -> _HashInput:
    """The entry as hashed by tools that fill in the model afterwards, in place."""
    members: Members = {**form.members, "model_name": "unknown", "model_version": "unknown"}
    return replace(form, members=members)


def _apply_replacer(form: _HashInput) -> _HashInput:
    """Keep what `JSON.stringify` prints with the top-level keys as replacer, at every depth."""
    kept = _allow_only(form.members, frozenset(form.members))
    return replace(form, members=kept if isinstance(kept, dict) else {})


def _allow_only(value: JsonValue, names: frozenset[str]) -> JsonValue:
    if isinstance(value, dict):
        return {name: _allow_only(child, names) for name, child in value.items() if name in names}
    if isinstance(value, list):
        return [_allow_only(child, names) for child in value]
    return value


def _has_objects(value: JsonValue) -> bool:
    if isinstance(value, list):
        return any(isinstance(item, dict) or _has_objects(item) for item in value)
    return isinstance(value, dict)


def _has_numbers(value: JsonValue) -> bool:
    if isinstance(value, dict):
        return any(map(_has_numbers, value.values()))
    if isinstance(value, list):
        return any(map(_has_numbers, value))
    return isinstance(value, int | float) and not isinstance(value, bool)


def _has_non_ascii(members: Members) -> bool:
    return not canonical_json(members).isascii() or b"\x7f" in canonical_json(members)


_CONTEXT_DEVIATIONS: Final[tuple[_Deviation[ContextVariant], ...]] = (
    _Deviation(ContextVariant.NO_TYPE, _has_any("type"), _drop("type")),
    _Deviation(ContextVariant.ASCII, _has_non_ascii, _ascii),
    _Deviation(ContextVariant.NULL_DROPPED, lambda entry: None in entry.values(), _drop_nulls),
    _Deviation(ContextVariant.JS_NUMBER, _has_numbers, _javascript),
    _Deviation(
        ContextVariant.REPLACER,
        lambda entry: any(map(_has_objects, entry.values())),
        _apply_replacer,
    ),
    _Deviation(
        ContextVariant.ENVIRONMENT_UNKNOWN,
        lambda entry: entry.get("type") == ContextType.ENVIRONMENT,
        _with_unknown_model,
    ),
)

_ID_DEVIATIONS: Final[tuple[_Deviation[IdVariant], ...]] = (
    _Deviation(IdVariant.LESS_ANCHORS, _has_any(*ANCHOR_MEMBERS), _drop(*ANCHOR_MEMBERS)),
    _Deviation(IdVariant.LESS_COMMIT, _has_any("commit_hash"), _with_null_commit),
    _Deviation(IdVariant.LESS_COMMIT, _has_any("commit_hash"), _drop("commit_hash")),
    _Deviation(IdVariant.LESS_RISK, _has_any(*RISK_MEMBERS), _drop(*RISK_MEMBERS)),
    _Deviation(IdVariant.ASCII, _has_non_ascii, _ascii),
)
