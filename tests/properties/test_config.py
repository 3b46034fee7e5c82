"""Any config: valid parts are in force, the rest is reported, and nothing raises."""

from __future__ import annotations

import json
from dataclasses import fields
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.properties.json_values import JSON
from vibes_lsp.model.config import Config
from vibes_lsp.store.config import parse_config

SOUND: dict[str, Any] = {
    "standard": "VIBES",
    "standard_version": "1.0",
    "assurance_level": "high",
    "project_name": "demo",
    "tracked_extensions": [".py", ".rs"],
    "exclude_patterns": ["gen/", "*.tmp"],
    "compress_reasoning_threshold_bytes": 10,
    "external_blob_threshold_bytes": 20,
    "durability": "full",
    "redaction": {"enabled": True, "mask": ["corp-*-x"], "allow": ["text"]},
    "risk_scoring": {
        "enabled": True,
        "algorithm": "weighted_average",
        "weights": {"temperature": 1},
        "thresholds": {"critical": 0.9},
        "review_rules": [{"condition": "scope_lines > 1", "action": "flag"}],
        "baselines": {"scope_files": 5},
        "capability_tiers": {"our-*": "small"},
    },
    "backfill": {"when": "manual"},
}


def places(value: object, path: tuple[str | int, ...] = ()) -> list[tuple[str | int, ...]]:
    """Return the path of every value of the policy."""
    items = (
        value.items()
        if isinstance(value, dict)
        else enumerate(value)
        if isinstance(value, list)
        else ()
    )
    return [path, *(place for name, child in items for place in places(child, (*path, name)))]


def replaced(value: Any, path: tuple[str | int, ...], other: object) -> Any:
    """Return a value with another one at a path."""
    if not path:
        return other
    copy: Any = dict(value) if isinstance(value, dict) else list(value)
    copy[path[0]] = replaced(copy[path[0]], path[1:], other)
    return copy


@given(place=st.sampled_from(places(SOUND)), value=JSON)
def test_one_wrong_member_raises_nothing_and_costs_no_other_member(
    place: tuple[str | int, ...], value: Any
) -> None:
    config = parse_config(json.dumps(replaced(SOUND, place, value)).encode())
    config.tracking.tracks("src/a.py")
    assert isinstance(config.policy.rules, tuple)
    if not place or config.problem is not None:
        return
    sound, read = parse_config(json.dumps(SOUND).encode()).config, config.config
    kept = [each.name for each in fields(Config) if each.name != place[0]]
    assert [getattr(read, name) for name in kept] == [getattr(sound, name) for name in kept]


@pytest.mark.parametrize("wrong", [[], {}, 7, True, "\ud800", [[]], {"a": []}], ids=str)
def test_a_wrong_type_anywhere_is_reported(wrong: Any) -> None:
    silent = [
        ".".join(map(str, place))
        for place in places(SOUND)
        if place
        and type(wrong) is not type(_at(place))
        and not parse_config(json.dumps(replaced(SOUND, place, wrong)).encode()).problems
    ]
    assert [
        place for place in silent if not (isinstance(wrong, int | bool) and _is_number(place))
    ] == []


def _at(place: tuple[str | int, ...]) -> Any:
    value: Any = SOUND
    for part in place:
        value = value[part]
    return value


def _is_number(place: str) -> bool:
    return isinstance(
        _at(tuple(int(part) if part.isdigit() else part for part in place.split("."))), int | float
    )
