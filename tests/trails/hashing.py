"""Context hashes and annotation ids by RFC 5.2 and 5.4, and those of writers with known bugs.

Written from the RFC with the standard library only, as a check of the product's own hashing.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Mapping
from decimal import Decimal
from itertools import combinations
from typing import Final

CONTEXT_VARIANTS: Final = (
    "spec",
    "no-type",
    "ascii",
    "null-dropped",
    "js-number",
    "replacer",
    "environment-unknown",
)
"""Variants for `context_hash`, alone or joined by `+` (R2)."""

ID_VARIANTS: Final = (
    "spec",
    "less-anchors",
    "less-commit",
    "less-commit-member",
    "less-risk",
    "ascii",
)
"""Variants for `annotation_id`, alone or joined by `+` (R3)."""

ANCHOR_MEMBERS: Final = frozenset({"anchor_context", "anchor_hash", "file_content_hash"})
RISK_MEMBERS: Final = frozenset({"risk_score", "risk_factors"})

_LARGEST_EXACT_INTEGER: Final = 2**53


def context_hash(entry: Mapping[str, object], variant: str = "spec") -> str:
    """Return the hash of an entry (RFC 5.2), or what a writer with a known bug computes (R2).

    Args:
        entry: The entry as stored.
        variant: One of `CONTEXT_VARIANTS`, or several joined by `+`.

    Raises:
        ValueError: The variant is unknown, or the entry has NaN or an unpaired surrogate.
    """
    names = _parse(variant, CONTEXT_VARIANTS)
    hashable = _without(entry, {"created_at"})
    if "no-type" in names:
        hashable = _without(hashable, {"type"})
    if "environment-unknown" in names:
        hashable.update(model_name="unknown", model_version="unknown")
    if "null-dropped" in names:
        hashable = {name: value for name, value in hashable.items() if value is not None}
    allowed = frozenset(hashable) if "replacer" in names else None
    return _digest(_render(hashable, "ascii" in names, "js-number" in names, allowed))


def annotation_id(record: Mapping[str, object], variant: str = "spec") -> str:
    """Return the id of a record (RFC 5.4), or what a writer with a known bug computes (R3).

    `less-commit` hashes `commit_hash: null`, because the commit was filled in later;
    `less-commit-member` hashes no `commit_hash`.

    Args:
        record: The record, with or without an `annotation_id`.
        variant: One of `ID_VARIANTS`, or several joined by `+`.

    Raises:
        ValueError: The variant is unknown, or the record has NaN or an unpaired surrogate.
    """
    names = _parse(variant, ID_VARIANTS)
    hashable = _without(record, {"annotation_id"})
    if "less-anchors" in names:
        hashable = _without(hashable, ANCHOR_MEMBERS)
    if "less-risk" in names:
        hashable = _without(hashable, RISK_MEMBERS)
    if "less-commit-member" in names:
        hashable = _without(hashable, {"commit_hash"})
    elif "less-commit" in names:
        hashable["commit_hash"] = None
    return _digest(_render(hashable, "ascii" in names, js_numbers=False, allowed=None))


def variant_of(entry: Mapping[str, object], key: str) -> str | None:
    """Return the simplest variant whose hash of the entry is `key`; None without one.

    Fewer quirks come first, then the order of `CONTEXT_VARIANTS`.
    """
    quirks = CONTEXT_VARIANTS[1:] if entry.get("type") == "environment" else CONTEXT_VARIANTS[1:-1]
    candidates = [
        "spec",
        *("+".join(names) for size in range(1, 4) for names in combinations(quirks, size)),
    ]
    return next((variant for variant in candidates if context_hash(entry, variant) == key), None)


def _parse(variant: str, known: tuple[str, ...]) -> frozenset[str]:
    names = frozenset(variant.split("+"))
    if unknown := names.difference(known):
        raise ValueError(f"unknown hash variant {sorted(unknown)} in {variant!r}")
    return names


def _without(members: Mapping[str, object], names: frozenset[str] | set[str]) -> dict[str, object]:
    return {name: value for name, value in members.items() if name not in names}


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8")).hexdigest()


def _render(
    value: object, ascii_only: bool, js_numbers: bool, allowed: frozenset[str] | None
) -> str:
    """Return JSON with sorted keys and no whitespace.

    `allowed` is JavaScript's array replacer: it keeps only these member names, at every depth.
    """
    if isinstance(value, Mapping):
        names = sorted(name for name in value if allowed is None or name in allowed)
        members = (
            f"{json.dumps(name, ensure_ascii=ascii_only)}:{_render(value[name], ascii_only, js_numbers, allowed)}"
            for name in names
        )
        return "{" + ",".join(members) + "}"
    if isinstance(value, list | tuple):
        return (
            "[" + ",".join(_render(item, ascii_only, js_numbers, allowed) for item in value) + "]"
        )
    if js_numbers and not isinstance(value, bool) and isinstance(value, int | float):
        return javascript_number(value)
    return json.dumps(value, ensure_ascii=ascii_only, allow_nan=False)


def javascript_number(number: float) -> str:
    """Return a number as JavaScript prints it: `1` for 1.0, `1e-7` for 1e-07.

    Raises:
        ValueError: The number is NaN or infinite.
    """
    if isinstance(number, int) and abs(number) <= _LARGEST_EXACT_INTEGER:
        return str(number)
    if not math.isfinite(number):
        raise ValueError(f"{number!r} is not a JSON number")
    shortest = Decimal(repr(float(number)))
    sign, digit_tuple, _ = shortest.as_tuple()
    point = shortest.adjusted() + 1
    digits = "".join(map(str, digit_tuple)).rstrip("0")
    if not digits:
        return "0"
    if len(digits) <= point <= 21:
        text = digits.ljust(point, "0")
    elif 0 < point <= 21:
        text = f"{digits[:point]}.{digits[point:]}"
    elif -6 < point <= 0:
        text = f"0.{'0' * -point}{digits}"
    else:
        fraction = f".{digits[1:]}" if len(digits) > 1 else ""
        text = f"{digits[0]}{fraction}e{point - 1:+d}"
    return f"-{text}" if sign else text
