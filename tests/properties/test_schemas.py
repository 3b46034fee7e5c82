"""Unknown members are no problem (RFC 12.2, 12.3), and validation never fails."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hypothesis import given
from hypothesis import strategies as st

from tests.properties.json_values import JSON, MEMBERS, NUMBERS, TEXT, json_values
from vibes_lsp.model.config import validate_config
from vibes_lsp.model.tracking import Tracking
from vibes_lsp.model.validation import entry_problems, record_problems

if TYPE_CHECKING:
    from collections.abc import Callable

    from vibes_lsp.model.members import JsonValue, Members
    from vibes_lsp.model.validation import Problem

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
SAMPLES: dict[str, tuple[Callable[[Members], list[Problem]], Members]] = {
    "line": (record_problems, {"type": "line", "line_start": 1, "line_end": 2, **ANNOTATION}),
    "function": (record_problems, {"type": "function", "function_name": "f", **ANNOTATION}),
    "session": (
        record_problems,
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
        record_problems,
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
        record_problems,
        {
            "type": "delegation",
            "parent_session_id": "s",
            "child_session_id": "t",
            "timestamp": TIME,
        },
    ),
    "environment": (
        entry_problems,
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
        entry_problems,
        {"type": "prompt", "prompt_text": "", "prompt_type": "other", "created_at": TIME},
    ),
    "command": (
        entry_problems,
        {
            "type": "command",
            "command_text": "",
            "command_type": "shell",
            "command_exit_code": 0,
            "created_at": TIME,
        },
    ),
    "reasoning": (
        entry_problems,
        {
            "type": "reasoning",
            "compressed": True,
            "reasoning_text_compressed": "",
            "created_at": TIME,
        },
    ),
    "decision": (
        entry_problems,
        {
            "type": "decision",
            "decision_point": "",
            "options": [OPTION],
            "selected": "x",
            "rationale": "",
            "created_at": TIME,
        },
    ),
    "config": (
        lambda members: validate_config(members)[1],
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
def test_unknown_members_are_no_problem(name: str, extra: Members) -> None:
    problems_of, sample = SAMPLES[name]
    assert problems_of({**{f"x-{each}": value for each, value in extra.items()}, **sample}) == []


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
            assert name == "risk_scoring" or getattr(config, name) == value
    Tracking(config.tracked_extensions, config.exclude_patterns).tracks("src/a.py")


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
    for name in set(sound) - {broken}:
        assert getattr(config, name) == getattr(whole, name)
