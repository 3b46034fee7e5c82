"""Finding anything by its id or a unique prefix of it: a record, a context entry or a session."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal

from vibes_lsp.errors import AmbiguousId, UnknownId
from vibes_lsp.index.records import LogRecord
from vibes_lsp.index.sessions import Session, read_session
from vibes_lsp.index.trail import Trail
from vibes_lsp.model.members import Members

MIN_PREFIX: Final = 4
"""Fewest characters of an id that are looked up."""
_SHOWN: Final = 5


@dataclass(frozen=True, slots=True)
class Found:
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
    session: Session | None = None


def look_up(trail: Trail, prefix: str) -> Found:
    """Return the one thing whose id begins with `prefix`; a whole id always wins over longer ones.

    Raises:
        UnknownId: Nothing has such an id, or the prefix is shorter than `MIN_PREFIX`.
        AmbiguousId: Several things have.
    """
    if len(prefix) < MIN_PREFIX:
        raise UnknownId(f"{prefix!r} is too short for an id", hint=f"give at least {MIN_PREFIX} characters")
    found = [Found("record", record.id, record=record) for record in trail.log.with_prefix(prefix)]
    found += [Found("entry", key, entry=trail.manifest.entry(key)) for key in trail.manifest if key.startswith(prefix)]
    for identifier in trail.log.columns.sessions:
        if identifier and identifier.startswith(prefix):
            found.append(Found("session", identifier, session=read_session(trail.log, identifier)))
    exact = [each for each in found if each.id == prefix]
    candidates = exact or found
    if not candidates:
        raise UnknownId(f"no record, context entry or session begins with {prefix!r}", hint="`vibes log` lists the records")
    if len(candidates) > 1:
        named = ", ".join(f"{each.kind} {each.id[:20]}" for each in candidates[:_SHOWN])
        more = f" and {len(candidates) - _SHOWN} more" if len(candidates) > _SHOWN else ""
        raise AmbiguousId(f"{prefix!r} begins {len(candidates)} ids: {named}{more}", hint="give more characters")
    return candidates[0]
