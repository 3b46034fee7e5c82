"""Look up a record, a context entry or a session by its id or a unique prefix of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Literal

from vibes_lsp.errors import AmbiguousId, UnknownId
from vibes_lsp.model.members import Members
from vibes_lsp.trail.records import LoggedSession, LogRecord
from vibes_lsp.trail.trail import Trail

MIN_PREFIX: Final = 4
"""Fewest characters of a prefix."""
_MAX_NAMED: Final = 5
"""Ids that the error about an ambiguous prefix names."""


@dataclass(frozen=True, slots=True)
class LookupResult:
    """What an id names.

    Attributes:
        kind: Which of the following it is; an entry is a context of the manifest.
        id: The whole id.
        record: The record.
        entry: The entry exactly as stored; None if it is not a JSON object.
        session: The session.
    """

    kind: Literal["record", "entry", "session"]
    id: str
    record: LogRecord | None = None
    entry: Members | None = None
    session: LoggedSession | None = None


def look_up(trail: Trail, prefix: str) -> LookupResult:
    """Return the record, entry or session whose id starts with `prefix`; exact matches win.

    Raises:
        UnknownId: Nothing has such an id, or the prefix is shorter than `MIN_PREFIX`.
        AmbiguousId: Several have.
    """
    whole = look_up_exact(trail, prefix)
    if whole is not None:
        return whole
    matches = [
        LookupResult("record", record.id, record=record) for record in trail.log.with_prefix(prefix)
    ]
    matches += [_entry(trail, key) for key in trail.manifest.with_prefix(prefix)]
    matches += [
        LookupResult("session", identifier, session=trail.log.session(identifier))
        for identifier in trail.session_ids()
        if identifier.startswith(prefix)
    ]
    if not matches:
        raise UnknownId(
            f"no record, context entry or session has an id that starts with {prefix!r}",
            hint="`vibes log` lists the records",
        )
    return _only(prefix, matches)


def look_up_exact(trail: Trail, identifier: str) -> LookupResult | None:
    """Return the record, entry or session with this whole id, without searching the log.

    Raises:
        UnknownId: The id is shorter than `MIN_PREFIX`.
        AmbiguousId: Several have this id.
    """
    if len(identifier) < MIN_PREFIX:
        raise UnknownId(
            f"id {identifier!r} is too short", hint=f"give at least {MIN_PREFIX} characters"
        )
    record = trail.log.by_id(identifier)
    matches = [LookupResult("record", record.id, record=record)] if record is not None else []
    if identifier in trail.manifest:
        matches.append(_entry(trail, identifier))
    session = trail.log.session(identifier)
    if session is not None:
        matches.append(LookupResult("session", identifier, session=session))
    return _only(identifier, matches) if matches else None


def _entry(trail: Trail, key: str) -> LookupResult:
    return LookupResult("entry", key, entry=trail.manifest.entry(key))


def _only(prefix: str, matches: Sequence[LookupResult]) -> LookupResult:
    if len(matches) > 1:
        named = ", ".join(f"{match.kind} {match.id[:20]}" for match in matches[:_MAX_NAMED])
        more = f" and {len(matches) - _MAX_NAMED} more" if len(matches) > _MAX_NAMED else ""
        raise AmbiguousId(
            f"ambiguous id {prefix!r}: {len(matches)} ids start with it: {named}{more}",
            hint="give more characters",
        )
    return matches[0]
