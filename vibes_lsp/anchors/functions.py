"""Locate functions, methods and classes by name and signature (RFC 7.4).

`syntax` finds the definitions of a file.
"""

from __future__ import annotations

from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from enum import IntEnum
from pathlib import PurePosixPath

from vibes_lsp.anchors.create_anchors import range_hash_variants
from vibes_lsp.anchors.location import LocatedRange, Method, State
from vibes_lsp.anchors.occurrences import has_copy
from vibes_lsp.anchors.syntax.definitions import Definition, segments, surplus
from vibes_lsp.anchors.syntax.parsing import outline
from vibes_lsp.anchors.text import Text


@dataclass(frozen=True, slots=True)
class FunctionMatch:
    """Where a function, method or class is.

    Attributes:
        start: First line, 1-based, with decorators, attributes and `export`.
        end: Last line, inclusive.
        ambiguous: Whether another definition in the file fits as well.
        by_parser: Whether a grammar found it, not only a line pattern.
        signature_matches: Whether it has the given signature; None without one.
    """

    start: int
    end: int
    ambiguous: bool
    by_parser: bool
    signature_matches: bool | None


def locate_function(
    text: Text, path: str, name: str, signature: str | None, digest: str | None = None
) -> LocatedRange:
    """Return where a function is now; lost when it is not there.

    It is exact or edited according to the hash of its lines, and unverified without one.

    Args:
        text: The file, saved or not.
        path: Its path, which determines the language.
        name: As recorded, qualified or not.
        signature: As recorded, whole or only parameters.
        digest: `anchor_hash` of the whole function as it was written.
    """
    place = find_function(text, path, name, signature)
    if place is None:
        return LocatedRange(None, None, State.LOST, Method.NAME, 0.0)
    block = text.lines[place.start - 1 : place.end]
    if digest is not None and digest in range_hash_variants(block):
        ambiguous = has_copy(block, text, place.start)
        return LocatedRange(
            place.start,
            place.end,
            State.EXACT,
            Method.ANCHOR_HASH,
            0.5 if ambiguous else 0.99,
            ambiguous,
            len(block),
        )
    state = State.UNVERIFIED if digest is None else State.EDITED
    return LocatedRange(
        place.start, place.end, state, Method.NAME, _confidence(place), place.ambiguous
    )


def find_function(text: Text, path: str, name: str, signature: str | None) -> FunctionMatch | None:
    """Return the best match for a name and a signature; None when nothing matches.

    Arguments as for `locate_function`.
    """
    name_parts = segments(name)
    if not name_parts:
        return None
    outlined = outline(text, path)
    path_words = {
        word.lower()
        for word in (*PurePosixPath(path).parts, PurePosixPath(path).stem, *outlined.packages)
    }
    fits = [
        (_fit(definition, name_parts, path_words), definition)
        for definition in outlined.named.get(name_parts[-1], ())
    ]
    fitting = _first_choice(
        [(fit, definition) for fit, definition in fits if fit is not None],
        is_qualified=len(name_parts) > 1,
    )
    signature_text = (signature or "").strip()
    with_signature = _with_signature(fitting, signature_text, name_parts[-1])
    chosen = _definitions(with_signature or _without_constructors(fitting))
    if not chosen:
        return None
    fit, best = min(chosen, key=lambda pair: (pair[0], pair[1].start))
    ambiguous = len(chosen) > 1 or fit is _Fit.OTHER
    return FunctionMatch(
        best.start,
        best.end,
        ambiguous,
        best.by_parser,
        bool(with_signature) if signature_text else None,
    )


class _Fit(IntEnum):
    """How well the qualifiers of a definition match the given ones, best first."""

    WHOLE = 0
    """The same."""
    PART = 1
    """One has more: enclosing modules, or classes that were not given."""
    BETWEEN = 2
    """The definition has further qualifiers in between."""
    OTHER = 3
    """A qualifier is neither around the definition nor in the path; it may be the wrong one."""


_Fitting = Sequence[tuple[_Fit, Definition]]


def _fit(
    definition: Definition, name_parts: Sequence[str], path_words: AbstractSet[str]
) -> _Fit | None:
    """Return how a definition with this name fits; None when its qualifiers contradict."""
    qualifiers, expected = definition.path[:-1], list(name_parts[:-1])
    matched = 0
    for name in reversed(expected):
        if matched < len(qualifiers) and name in qualifiers[-1 - matched]:
            matched += 1
        else:
            break
    unmatched = expected[: len(expected) - matched]
    if not unmatched:
        return _Fit.WHOLE if matched == len(qualifiers) else _Fit.PART
    if matched == len(qualifiers):
        return _Fit.PART if all(part.lower() in path_words for part in unmatched) else _Fit.OTHER
    inner = iter(reversed(qualifiers))
    return (
        _Fit.BETWEEN
        if all(any(name in names for names in inner) for name in reversed(expected))
        else None
    )


def _first_choice(fitting: _Fitting, *, is_qualified: bool) -> _Fitting:
    """Return the best fits: from a grammar first, then by line pattern, then scopes."""
    for allowed in (
        [pair for pair in fitting if pair[1].by_parser and not pair[1].is_scope],
        [pair for pair in fitting if not pair[1].by_parser],
        fitting,
    ):
        if allowed:
            best = min(fit for fit, _ in allowed)
            worst = best if is_qualified else max(best, _Fit.PART)
            return [pair for pair in allowed if pair[0] <= worst]
    return []


def _with_signature(fitting: _Fitting, signature: str, name: str) -> _Fitting:
    """Return the definitions that have a signature, of several those with the least beyond it."""
    ranked = [
        (lacking, pair)
        for pair in fitting
        if signature and (lacking := surplus(signature, name, pair[1])) is not None
    ]
    least = min((lacking for lacking, _ in ranked), default=0)
    return [pair for lacking, pair in ranked if lacking == least]


def _without_constructors(fitting: _Fitting) -> _Fitting:
    """Prefer a class to its constructor: drop members named like their class."""
    kept = [
        pair for pair in fitting if len(pair[1].path) < 2 or not pair[1].path[-2] & pair[1].names
    ]
    return kept if any(fit <= _Fit.PART for fit, _ in kept) else fitting


def _definitions(fitting: _Fitting) -> _Fitting:
    """Prefer definitions to mere declarations."""
    return [pair for pair in fitting if pair[1].has_body] or fitting


def _confidence(place: FunctionMatch) -> float:
    if place.ambiguous:
        return 0.3
    if not place.by_parser:
        return 0.6
    return 0.9 if place.signature_matches else 0.8
