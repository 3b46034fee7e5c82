"""Content addresses: context hashes (RFC 5.2), annotation ids (RFC 5.4), and which known variant explains a foreign one.

Real trails were written by tools with bugs (R2, R3). A variant is a change that such a tool made to what it hashed; the
verifiers try every applicable combination, plainest first, and say which one reproduces the stored digest.
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
    """How a manifest key relates to its entry (R2), plainest first."""

    SPEC = "spec"
    NO_TYPE = "no-type"
    ASCII = "ascii"
    NULL_DROPPED = "null-dropped"
    JS_NUMBER = "js-number"
    REPLACER = "replacer"
    ENVIRONMENT_UNKNOWN = "environment-unknown"
    MISMATCH = "mismatch"


class IdVariant(StrEnum):
    """How a stored `annotation_id` relates to its record (R3), plainest first."""

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
    """Return the digest as 64 lower-case hexadecimal characters (RFC 5.1)."""
    return hashlib.sha256(data).hexdigest()


def context_hash(entry: Members) -> str:
    """Return the key under which a manifest entry is stored (RFC 5.2): all members but `created_at`, nulls as stored."""
    return sha256(canonical_json(_without(entry, "created_at")))


def annotation_id(record: Members) -> str:
    """Return the id of a log record (RFC 5.4): all members but `annotation_id`, anchors and risk included (R3)."""
    return sha256(canonical_json(_without(record, "annotation_id")))


def explain_context_hash(key: str, entry: Members) -> tuple[ContextVariant, ...]:
    """Say how `key` was computed from `entry`.

    Returns:
        `(SPEC,)`, or the variants that together reproduce the key in the order of the enum, or `(MISMATCH,)`.
    """
    return _explain(key, _without(entry, "created_at"), _CONTEXT_CHANGES) or (
        ContextVariant.MISMATCH,
    )


def explain_annotation_id(record: Members) -> tuple[IdVariant, ...]:
    """Say how the record's own `annotation_id` was computed; `(ABSENT,)` when it has none."""
    stored = record.get("annotation_id")
    if stored is None:
        return (IdVariant.ABSENT,)
    if not isinstance(stored, str):
        return (IdVariant.MISMATCH,)
    return _explain(stored, _without(record, "annotation_id"), _ID_CHANGES) or (IdVariant.MISMATCH,)


_V = TypeVar("_V", ContextVariant, IdVariant)


@dataclass(frozen=True, slots=True)
class _Form:
    """What is hashed, and how it is printed."""

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
class _Change(Generic[_V]):
    variant: _V
    applies: Callable[[Members], bool]
    change: Callable[[_Form], _Form]


def _explain(
    digest: str, members: Members, changes: Sequence[_Change[_V]]
) -> tuple[_V, ...] | None:
    plain = _Form(members)
    if plain.digest() == digest:
        return (type(changes[0].variant).SPEC,)
    possible = [change for change in changes if change.applies(members)]
    for chosen in _combinations(possible):
        form = plain
        for each in chosen:
            form = each.change(form)
        if form.digest() == digest:
            return tuple(dict.fromkeys(each.variant for each in chosen))
    return None


def _combinations(changes: Sequence[_Change[_V]]) -> Iterator[list[_Change[_V]]]:
    """All non-empty selections, in the order that tries a later change only when the earlier ones do not suffice."""
    for mask in range(1, 1 << len(changes)):
        yield [change for bit, change in enumerate(changes) if mask >> bit & 1]


def _without(members: Members, *names: str) -> Members:
    return {name: value for name, value in members.items() if name not in names}


def _dropping(*names: str) -> Callable[[_Form], _Form]:
    return lambda form: replace(form, members=_without(form.members, *names))


def _having(*names: str) -> Callable[[Members], bool]:
    return lambda members: any(name in members for name in names)


def _ascii(form: _Form) -> _Form:
    return replace(form, ascii_only=True)


def _javascript(form: _Form) -> _Form:
    return replace(form, javascript_numbers=True)


def _drop_nulls(form: _Form) -> _Form:
    kept: Members = {name: value for name, value in form.members.items() if value is not None}
    return replace(form, members=kept)


def _null_commit(form: _Form) -> _Form:
    return replace(form, members={**form.members, "commit_hash": None})


def _unknown_model(form: _Form) -> _Form:
    """The entry as it was before its writer learnt the model and changed it in place."""
    members: Members = {**form.members, "model_name": "unknown", "model_version": "unknown"}
    return replace(form, members=members)


def _replaced(form: _Form) -> _Form:
    """What JavaScript prints when the sorted top-level keys are given as the replacer: an allow-list at every depth."""
    kept = _allowing(form.members, frozenset(form.members))
    return replace(form, members=kept if isinstance(kept, dict) else {})


def _allowing(value: JsonValue, names: frozenset[str]) -> JsonValue:
    if isinstance(value, dict):
        return {name: _allowing(child, names) for name, child in value.items() if name in names}
    if isinstance(value, list):
        return [_allowing(child, names) for child in value]
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


_CONTEXT_CHANGES: Final[tuple[_Change[ContextVariant], ...]] = (
    _Change(ContextVariant.NO_TYPE, _having("type"), _dropping("type")),
    _Change(ContextVariant.ASCII, _has_non_ascii, _ascii),
    _Change(ContextVariant.NULL_DROPPED, lambda entry: None in entry.values(), _drop_nulls),
    _Change(ContextVariant.JS_NUMBER, _has_numbers, _javascript),
    _Change(
        ContextVariant.REPLACER, lambda entry: any(map(_has_objects, entry.values())), _replaced
    ),
    _Change(
        ContextVariant.ENVIRONMENT_UNKNOWN,
        lambda entry: entry.get("type") == ContextType.ENVIRONMENT,
        _unknown_model,
    ),
)

_ID_CHANGES: Final[tuple[_Change[IdVariant], ...]] = (
    _Change(IdVariant.LESS_ANCHORS, _having(*ANCHOR_MEMBERS), _dropping(*ANCHOR_MEMBERS)),
    _Change(IdVariant.LESS_COMMIT, _having("commit_hash"), _null_commit),
    _Change(IdVariant.LESS_COMMIT, _having("commit_hash"), _dropping("commit_hash")),
    _Change(IdVariant.LESS_RISK, _having(*RISK_MEMBERS), _dropping(*RISK_MEMBERS)),
    _Change(IdVariant.ASCII, _has_non_ascii, _ascii),
)
