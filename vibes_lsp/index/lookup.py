"""Finding anything by its id or a unique prefix of it: a record, a context entry or a session."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Literal

from vibes_lsp.errors import AmbiguousId, UnknownId
from vibes_lsp.index.records import LoggedSession, LogRecord
from vibes_lsp.index.trail import Trail
from vibes_lsp.model.members import Members

MIN_PREFIX: Final = 4
"""Fewest characters of an id that are looked up."""
_SHOWN: Final = 5


@dataclass(frozen=True, slots=True)
class LookupResult:
    """What an id names.

    Attributes:
        kind: What it is; `entry` is a context of the manifest.
        id: The whole id.
        record: The record, when it is one.
        entry: The entry exactly as stored, when it is one; None also for one that is not a JSON object.
        session: The session, when it is one.
    """

    kind: Literal["record", "entry", "session"]
    id: str
    record: LogRecord | None = None
    entry: Members | None = None
    session: LoggedSession | None = None


def look_up(trail: Trail, prefix: str) -> LookupResult:
    """Return the one thing whose id begins with `prefix`; a whole id always wins over longer ones.

    Raises:
        UnknownId: Nothing has such an id, or the prefix is shorter than `MIN_PREFIX`.
        AmbiguousId: Several things have.
    """
    whole = look_up_exact(trail, prefix)
    if whole is not None:
        return whole
    found = [
        LookupResult("record", record.id, record=record) for record in trail.log.with_prefix(prefix)
    ]
    found += [_entry(trail, key) for key in trail.manifest if key.startswith(prefix)]
    found += [
        _session(trail, identifier)
        for identifier in trail.log.columns.sessions
        if identifier and identifier.startswith(prefix)
    ]
    if not found:
        raise UnknownId(
            f"no record, context entry or session begins with {prefix!r}",
            hint="`vibes log` lists the records",
        )
    return _only(prefix, found)


def look_up_exact(trail: Trail, identifier: str) -> LookupResult | None:
    """Return the one thing with this whole id, None when there is none; the log is not searched for it.

    Raises:
        UnknownId: The id is shorter than `MIN_PREFIX`.
        AmbiguousId: Several things have this id.
    """
    if len(identifier) < MIN_PREFIX:
        raise UnknownId(
            f"{identifier!r} is too short for an id", hint=f"give at least {MIN_PREFIX} characters"
        )
    record = trail.log.by_id(identifier)
    found = [LookupResult("record", identifier, record=record)] if record is not None else []
    if identifier in trail.manifest:
        found.append(_entry(trail, identifier))
    if identifier in trail.log.columns.sessions:
        found.append(_session(trail, identifier))
    return _only(identifier, found) if found else None


def _entry(trail: Trail, key: str) -> LookupResult:
    return LookupResult("entry", key, entry=trail.manifest.entry(key))


def _session(trail: Trail, identifier: str) -> LookupResult:
    return LookupResult("session", identifier, session=trail.log.session(identifier))


def _only(prefix: str, found: Sequence[LookupResult]) -> LookupResult:
    if len(found) > 1:
        named = ", ".join(f"{each.kind} {each.id[:20]}" for each in found[:_SHOWN])
        more = f" and {len(found) - _SHOWN} more" if len(found) > _SHOWN else ""
        raise AmbiguousId(
            f"{prefix!r} begins {len(found)} ids: {named}{more}", hint="give more characters"
        )
    return found[0]
