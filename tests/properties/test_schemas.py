"""Unknown members survive every schema unchanged (RFC 12.2, 12.3), and validation never fails."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import TypeAdapter

from tests.properties.json_values import JSON, MEMBERS, NUMBERS, TEXT, json_values
from vibes_lsp.model.canonical_json import canonical_json
from vibes_lsp.model.config import Config, validate_config
from vibes_lsp.model.schemas import ContextEntry, ManifestFrame, Record
from vibes_lsp.model.tracking import Tracking
from vibes_lsp.model.validation import entry_problems, record_problems
from vibes_lsp.risk.policy import read_policy
from vibes_lsp.store.config import LoadedConfig

if TYPE_CHECKING:
    from vibes_lsp.model.members import JsonValue, Members

DIGEST = "ab" * 32
TIME = "2026-02-03T10:00:00Z"
ANNOTATION: Members = {
    "environment_hash": DIGEST,
    "action": "create",
    "assurance_level": "high",
    "file_path": "a.py",
    "commit_hash": None,
    "risk_score": 1,
    "risk_factors": [{"signal": "temperature", "value": 0, "weight": 1, "custom": 1.0}],
    "line_hashes": "0123abcd00000000",
    "edit": DIGEST,
    "sure": False,
    "evidence": "compared",
    "timestamp": TIME,
}
OPTION: Members = {"id": "x", "description": "", "pros": ["p"], "later": {"a": 1}}
SAMPLES: dict[str, tuple[Any, Members]] = {
    "line": (Record, {"type": "line", "line_start": 1, "line_end": 2, **ANNOTATION}),
    "function": (Record, {"type": "function", "function_name": "f", **ANNOTATION}),
    "session": (
        Record,
        {
            "type": "session",
            "event": "start",
            "session_id": "s",
            "environment_hash": DIGEST,
            "assurance_level": "low",
            "timestamp": TIME,
        },
    ),
    "edge": (
        Record,
        {
            "type": "edge",
            "edge_type": "supersedes",
            "source_id": "a",
            "target_id": "b",
            "metadata": {"n": 1.0, "m": 1},
            "timestamp": TIME,
        },
    ),
    "delegation": (
        Record,
        {
            "type": "delegation",
            "parent_session_id": "s",
            "child_session_id": "t",
            "timestamp": TIME,
        },
    ),
    "environment": (
        ContextEntry,
        {
            "type": "environment",
            "tool_name": "t",
            "tool_version": "1",
            "model_name": "m",
            "model_version": "1",
            "model_parameters": {"temperature": 1},
            "created_at": TIME,
        },
    ),
    "prompt": (
        ContextEntry,
        {"type": "prompt", "prompt_text": "", "prompt_type": "other", "created_at": TIME},
    ),
    "command": (
        ContextEntry,
        {
            "type": "command",
            "command_text": "",
            "command_type": "shell",
            "command_exit_code": 0,
            "created_at": TIME,
        },
    ),
    "reasoning": (
        ContextEntry,
        {
            "type": "reasoning",
            "compressed": True,
            "reasoning_text_compressed": "",
            "created_at": TIME,
        },
    ),
    "decision": (
        ContextEntry,
        {
            "type": "decision",
            "decision_point": "",
            "options": [OPTION],
            "selected": "x",
            "rationale": "",
            "created_at": TIME,
        },
    ),
    "manifest": (
        ManifestFrame,
        {
            "standard": "VIBES",
            "version": "1.0",
            "entries": {
                DIGEST: {
                    "type": "prompt",
                    "prompt_text": "",
                    "prompt_type": "other",
                    "created_at": TIME,
                    "later": 1.0,
                }
            },
        },
    ),
    "config": (
        Config,
        {
            "standard": "VIBES",
            "standard_version": "1.0",
            "assurance_level": "low",
            "project_name": "p",
            "risk_scoring": {
                "weights": {"temperature": 1},
                "thresholds": {"high": 0.7},
                "review_rules": [],
                "later": [1, 1.0],
            },
        },
    ),
}


@given(st.sampled_from(sorted(SAMPLES)), MEMBERS)
def test_unknown_members_survive_a_round_trip(name: str, extra: Members) -> None:
    model, sample = SAMPLES[name]

    adapter = TypeAdapter(model)
    whole: Members = {**{f"x-{each}": value for each, value in extra.items()}, **sample}
    dumped = adapter.dump_python(adapter.validate_python(whole), exclude_unset=True, mode="json")
    assert canonical_json(dumped) == canonical_json(whole)


@pytest.mark.parametrize(
    "name", ["model_config", "model_fields", "schema", "json", "copy", "__dict__", "self", ""]
)
@pytest.mark.parametrize("model", SAMPLES)
def test_a_member_named_like_a_part_of_the_checker_survives(model: str, name: str) -> None:
    adapter = TypeAdapter(SAMPLES[model][0])
    whole: Members = {**SAMPLES[model][1], name: 1}
    assert canonical_json(
        adapter.dump_python(adapter.validate_python(whole), exclude_unset=True, mode="json")
    ) == canonical_json(whole)


ODD_TEXT = st.one_of(TEXT, st.text(st.characters(), max_size=4))
ODD: st.SearchStrategy[JsonValue] = st.one_of(
    json_values(ODD_TEXT), st.sampled_from([10**400, -(10**400), "\ud800", "1", 1e308])
)


def variations(sample: Members) -> st.SearchStrategy[Members]:
    """A valid object with some members replaced by anything."""
    replaced = st.dictionaries(
        st.one_of(st.sampled_from(sorted(sample)), ODD_TEXT), ODD, max_size=4
    )
    return replaced.map(lambda changes: {**sample, **changes})


@given(
    st.one_of(
        st.sampled_from(sorted(SAMPLES)).flatmap(lambda name: variations(SAMPLES[name][1])),
        st.dictionaries(ODD_TEXT, ODD, max_size=5),
    )
)
def test_checking_anything_never_raises(members: Members) -> None:
    for problem in (*record_problems(members), *entry_problems(members)):
        assert problem.message
        assert problem.kind


CONFIG_MEMBERS = [
    "standard",
    "standard_version",
    "assurance_level",
    "project_name",
    "tracked_extensions",
    "exclude_patterns",
    "compress_reasoning_threshold_bytes",
    "external_blob_threshold_bytes",
    "risk_scoring",
]
RISK = st.dictionaries(
    st.sampled_from(["enabled", "algorithm", "weights", "thresholds", "review_rules"]),
    st.one_of(
        ODD,
        st.dictionaries(
            st.sampled_from(["low", "medium", "high", "critical", "x"]),
            st.one_of(NUMBERS, st.just(10**400)),
            max_size=4,
        ),
        st.lists(
            st.fixed_dictionaries(
                {}, optional={"condition": ODD, "action": st.sampled_from(["flag", "run", 1])}
            ),
            max_size=2,
        ),
    ),
)
CONFIGS = st.dictionaries(
    st.sampled_from(CONFIG_MEMBERS),
    st.one_of(ODD, RISK, st.sampled_from(["VIBES", "1.0", "low"]), st.lists(ODD_TEXT, max_size=3)),
)


@given(st.one_of(CONFIGS, st.dictionaries(ODD_TEXT, ODD, max_size=4)))
def test_a_config_of_any_content_gives_a_policy(members: Members) -> None:
    config, problems = validate_config(members)
    assert config.assurance_level in ("low", "medium", "high")
    for name, value in members.items():
        if (
            name in CONFIG_MEMBERS
            and value is not None
            and not any(problem.field.split(".")[0] == name for problem in problems)
        ):
            assert canonical_json(
                config.model_dump(mode="json", include={name}, exclude_unset=True)[name]
            ) == canonical_json(value)
    Tracking(config.tracked_extensions, config.exclude_patterns).tracks("src/a.py")


LEVEL = st.sampled_from(["low", "medium", "high", "High", "", 1])
LISTS = st.one_of(
    ODD,
    st.lists(
        st.sampled_from([".py", ".md", "src/", "*.md", "src/\ud800", "*" * 201, "\ud800", 1]),
        max_size=3,
    ),
)
PLAIN = st.fixed_dictionaries(
    {}, optional={"assurance_level": LEVEL, "tracked_extensions": LISTS, "exclude_patterns": LISTS}
)


@given(st.one_of(PLAIN, CONFIGS, st.dictionaries(ODD_TEXT, ODD, max_size=4)))
def test_what_is_said_of_a_config_before_it_is_checked_is_what_the_check_says(
    members: Members,
) -> None:
    config, _ = validate_config(members)
    checked = Tracking(config.tracked_extensions, config.exclude_patterns)
    loaded = LoadedConfig(present=True, members=members)
    assert loaded.policy == read_policy(config, members)[0]
    for path in ("src/a.py", "a.py", "a.md", "a"):
        assert loaded.tracking.tracks(path) == checked.tracks(path)


@given(st.sampled_from(CONFIG_MEMBERS), JSON, st.data())
def test_each_broken_part_of_a_config_falls_back_alone(
    broken: str, value: JsonValue, data: st.DataObject
) -> None:
    sound: Members = {
        "standard": "VIBES",
        "standard_version": "1.1",
        "assurance_level": "high",
        "project_name": "p",
        "tracked_extensions": [".py"],
        "exclude_patterns": ["gen/"],
        "compress_reasoning_threshold_bytes": 7,
        "external_blob_threshold_bytes": 8,
        "risk_scoring": {"enabled": True},
    }
    config, _ = validate_config({**sound, broken: value, data.draw(TEXT.map("x-{}".format)): value})
    whole, problems = validate_config(sound)
    assert problems == []
    rest = set(sound) - {broken}
    assert config.model_dump(include=rest) == whole.model_dump(include=rest)
