"""Problems of an object by field; invalid parts of a config count as absent."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from tests.trails import OMIT, TrailWriter, complete
from vibes_lsp.model.config import Config, RiskScoring, validate_config
from vibes_lsp.model.validation import entry_problems, record_problems
from vibes_lsp.model.vocabulary import Band

if TYPE_CHECKING:
    from pathlib import Path

    from vibes_lsp.model.members import Members


@pytest.mark.parametrize("level", ["low", "medium", "high"])
def test_a_complete_trail_has_no_problems(tmp_path: Path, level: str) -> None:
    from vibes_lsp.store.audit_dir import AuditDir
    from vibes_lsp.store.manifest import read_manifest

    made = complete(tmp_path, level)
    records: list[Any] = list(made.writer.files.records())
    assert [record_problems(record) for record in records] == [[]] * len(records)
    manifest = read_manifest(AuditDir(tmp_path / ".ai-audit"))
    assert [entry_problems(manifest.entry(key) or {}) for key in manifest] == [[]] * len(manifest)


def messages(tmp_path: Path, **members: object) -> list[tuple[str, str]]:
    writer = TrailWriter(tmp_path)
    writer.environment()
    writer.line("a.py", 2, 3, **members)  # type: ignore[arg-type]
    (record,) = writer.files.records()
    return [(problem.field, problem.message) for problem in record_problems(record)]  # type: ignore[arg-type]


HEXADECIMAL = "64 lowercase hexadecimal digits"


@pytest.mark.parametrize(
    ("members", "field", "expected"),
    [
        ({"line_end": 1}, "line_end", None),
        ({"line_start": 0}, "line_start", "at least 1"),
        ({"line_start": "2"}, "line_start", "an integer"),
        ({"line_start": True}, "line_start", "an integer"),
        ({"line_start": 2.0}, "line_start", "an integer"),
        ({"timestamp": "2026-02-03"}, "timestamp", "an ISO 8601 date and time"),
        ({"timestamp": OMIT}, "timestamp", None),
        (
            {"action": "rewrite"},
            "action",
            "create, modify, delete, review, rebase_remap or rebase_orphan",
        ),
        ({"environment_hash": "AB" * 32}, "environment_hash", HEXADECIMAL),
        ({"environment_hash": "ab" * 32 + "\n"}, "environment_hash", HEXADECIMAL),
        ({"file_path": ""}, "file_path", "a non-empty string"),
        ({"commit_hash": "HEAD"}, "commit_hash", "4 to 64 lowercase hexadecimal digits"),
        ({"risk_score": 1.01}, "risk_score", "at most 1"),
        ({"risk_score": "1"}, "risk_score", "a number"),
        ({"line_hashes": "0123abc"}, "line_hashes", "8 lowercase hexadecimal digits for each line"),
        ({"line_hashes": ["0123abcd"]}, "line_hashes", "a string"),
        ({"sure": "no"}, "sure", "true or false"),
        ({"risk_factors": {}}, "risk_factors", "an array"),
        (
            {"risk_factors": [{"signal": "x", "value": 2, "weight": 1}]},
            "risk_factors.0.value",
            "at most 1",
        ),
        ({"risk_factors": [{"value": 1, "weight": 1}]}, "risk_factors.0.signal", None),
        ({"assurance_level": None}, "assurance_level", "a string"),
    ],
)
def test_a_problem_names_its_field(
    tmp_path: Path, members: dict[str, object], field: str, expected: str | None
) -> None:
    message = "is required" if expected is None else f"expected {expected}"
    if "line_end" in members:
        message = "the range ends before it starts"
    assert messages(tmp_path, **members) == [(field, message)]


def test_an_edge_needs_both_ends() -> None:
    edge: Members = {
        "type": "edge",
        "edge_type": "caused_by",
        "timestamp": "2026-02-03T10:00:00Z",
        "source_id": "a",
    }
    assert [(problem.field, problem.message) for problem in record_problems(edge)] == [
        ("target_ref", "is required")
    ]
    assert record_problems({**edge, "target_id": "b"}) == []
    assert [problem.field for problem in record_problems({**edge, "target_ref": "b"})] == [
        "target_type"
    ]
    assert record_problems({**edge, "target_ref": "b", "target_type": "context"}) == []


def test_only_a_session_start_needs_environment_and_level() -> None:
    session: Members = {
        "type": "session",
        "event": "end",
        "session_id": "s",
        "timestamp": "2026-02-03T10:00:00Z",
    }
    assert record_problems(session) == []
    assert [problem.field for problem in record_problems({**session, "event": "start"})] == [
        "environment_hash"
    ]


@pytest.mark.parametrize(
    "members", [{"type": "later", "file_path": 5}, {"type": "LINE"}, {"type": ""}]
)
def test_an_unknown_type_has_no_problems(members: Members) -> None:
    assert record_problems(members) == []
    assert entry_problems(members) == []


@pytest.mark.parametrize(
    "members", [{}, {"type": None}, {"type": 5}, {"type": ["line"]}, {"type": {}}]
)
def test_a_type_is_required(members: Members) -> None:
    assert [problem.field for problem in record_problems(members)] == ["type"]
    assert [problem.field for problem in entry_problems(members)] == ["type"]


def test_the_number_of_problems_is_limited() -> None:
    factors: Members = {"type": "line", "risk_factors": [{"signal": 1} for _ in range(10_000)]}
    assert len(record_problems(factors)) <= 20


def test_a_selection_must_be_one_of_the_options() -> None:
    decision: Members = {
        "type": "decision",
        "decision_point": "d",
        "options": [{"id": "x", "description": ""}],
        "selected": "y",
        "rationale": "",
        "created_at": "2026-02-03T10:00:00Z",
    }
    assert [problem.field for problem in entry_problems(decision)] == ["selected"]
    assert entry_problems({**decision, "selected": "x"}) == []


def test_an_empty_config_is_the_default_and_reports_missing_members() -> None:
    config, problems = validate_config({})
    assert config == Config()
    assert [problem.field for problem in problems] == [
        "standard",
        "standard_version",
        "assurance_level",
        "project_name",
    ]


SOUND: Members = {
    "standard": "VIBES",
    "standard_version": "1.0",
    "assurance_level": "high",
    "project_name": "p",
}


@pytest.mark.parametrize(
    ("name", "value", "fallback"),
    [
        ("assurance_level", "total", "medium"),
        ("project_name", 5, ""),
        ("tracked_extensions", ".py", None),
        ("tracked_extensions", [".py", 5], [".py"]),
        ("tracked_extensions", [5], []),
        ("exclude_patterns", {"a": 1}, []),
        ("exclude_patterns", ["gen/", "x" * 201, 5], ["gen/"]),
        ("compress_reasoning_threshold_bytes", -1, 10240),
        ("compress_reasoning_threshold_bytes", "10", 10240),
        ("external_blob_threshold_bytes", 1.5, 102400),
        ("risk_scoring", True, None),
        ("standard", "OTHER", "VIBES"),
        ("standard_version", 1.0, "1.0"),
    ],
)
def test_an_invalid_member_or_item_counts_as_absent(
    name: str, value: Any, fallback: object
) -> None:
    config, problems = validate_config({**SOUND, name: value})
    assert getattr(config, name) == fallback
    assert {problem.field.split(".")[0] for problem in problems} == {name}


@pytest.mark.parametrize(
    ("name", "value", "fallback"),
    [
        ("enabled", "yes", False),
        ("algorithm", "", "weighted_average"),
        ("weights", {"temperature": -1}, {}),
        ("weights", {"temperature": 10**400}, {}),
        ("thresholds", {"high": 0.1}, {}),
        ("thresholds", {"extreme": 0.9}, {}),
    ],
)
def test_an_invalid_risk_member_leaves_the_others(name: str, value: Any, fallback: object) -> None:
    sound: Members = {"enabled": True, "algorithm": "own", "weights": {"temperature": 1}}
    config, problems = validate_config({**SOUND, "risk_scoring": {**sound, name: value}})
    risk = config.risk_scoring
    assert risk is not None
    assert getattr(risk, name) == fallback
    for other in set(sound) - {name}:
        assert getattr(risk, other) == sound[other]
    assert problems
    assert all(problem.field.startswith(f"risk_scoring.{name}") for problem in problems)


def test_given_bounds_override_the_defaults() -> None:
    config, problems = validate_config({**SOUND, "risk_scoring": {"thresholds": {"critical": 0.7}}})
    assert not problems
    assert config.risk_scoring == RiskScoring(thresholds={Band.CRITICAL: 0.7})
