"""`vibes log`, `sessions`, `models` and `stats`: tables, and JSON with records as on disk."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

import pytest

from tests.cli.run_vibes import vibes

if TYPE_CHECKING:
    from tests.cli.run_vibes import RunVibes
    from tests.trails import CompleteTrail
    from tests.unit.checks.projects import Project


def ordered(text: str | bytes) -> Any:
    """Parse JSON into pairs, to compare the order of members."""
    return json.loads(text, object_pairs_hook=list)


def records(trail: CompleteTrail) -> list[dict[str, Any]]:
    return [json.loads(line) for line in trail.writer.files.log.read_bytes().splitlines()]


def test_log_lists_annotations_the_newest_last(valid_trail: CompleteTrail) -> None:
    done = vibes("log", cwd=valid_trail.root)
    assert (done.code, done.err) == (0, "")
    assert done.lines[0].split() == ["id", "age", "action", "what", "model"]
    identifier, age, *rest = done.lines[2].split()
    assert (identifier, rest) == (
        valid_trail.created[:8],
        ["create", "src/auth.py:1-8", "claude-opus-4-5"],
    )
    assert re.fullmatch(r"\d+(d|mo|y)", age)
    shown = [line.split()[0] for line in done.lines[2:]]
    assert shown == [
        record["annotation_id"][:8]
        for record in records(valid_trail)
        if record["type"] in ("line", "function")
    ]


def test_records_in_json_are_exactly_as_on_disk(project: Project) -> None:
    unknown: dict[str, Any] = {
        "x_number": 1.0,
        "x_large": 2**70,
        "x_tiny": 1e-7,
        "x_null": None,
        "x_nested": {"b": [1, {"a": ""}], "a": "Größe 😀"},
    }
    project.line(**unknown)
    done = vibes("log", "--type", "all", "--json", cwd=project.root)
    pairs = dict(ordered(done.out))["records"]
    on_disk = [ordered(line) for line in project.writer.files.log.read_bytes().splitlines()]
    assert [dict(each)["record"] for each in pairs] == on_disk
    assert [dict(each)["line"] for each in pairs] == list(range(1, 28))
    assert [dict(each)["id"] for each in pairs] == [
        dict(record)["annotation_id"] for record in on_disk
    ]


@pytest.mark.parametrize("kind", ["line", "function", "session", "edge", "delegation"])
def test_log_of_one_type(valid_trail: CompleteTrail, run_vibes: RunVibes, kind: str) -> None:
    done = run_vibes("log", "--type", kind, "--json", cwd=valid_trail.root)
    assert [each["record"] for each in done.json["records"]] == [
        each for each in records(valid_trail) if each["type"] == kind
    ]
    assert run_vibes("log", "--type", kind, cwd=valid_trail.root).code == 0


def test_log_says_how_many_lines_cannot_be_read(project: Project, run_vibes: RunVibes) -> None:
    project.line()
    project.writer.raw_log(b'{"type":"line","file_path":"a.py","tokens":1,"tokens":2}\n')
    done = run_vibes("log", cwd=project.root)
    assert done.lines[-1] == "1 more cannot be read; see `vibes check`"


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (["--file", "src/auth.py"], ["created", "modified", "function"]),
        (["--file", "./src//auth.py"], ["created", "modified", "function"]),
        (["--tool", "maestro"], ["created", "modified", "function"]),
        (["--tool", "claude"], ["worker_line", "pending", "committed", "remapped"]),
        (["--model", "OPUS", "--file", "src/middleware.py"], ["worker_line"]),
        (["--model", "gpt"], []),
        (["--limit", "2"], ["committed", "remapped"]),
    ],
)
def test_log_filters(
    valid_trail: CompleteTrail, run_vibes: RunVibes, arguments: list[str], expected: list[str]
) -> None:
    done = run_vibes("log", "--json", *arguments, cwd=valid_trail.root)
    assert [each["id"] for each in done.json["records"]] == [
        getattr(valid_trail, name) for name in expected
    ]


def test_log_of_one_session(valid_trail: CompleteTrail, run_vibes: RunVibes) -> None:
    done = run_vibes("log", "--json", "--session", valid_trail.session[:6], cwd=valid_trail.root)
    assert [each["id"] for each in done.json["records"]] == [
        valid_trail.created,
        valid_trail.modified,
        valid_trail.function,
    ]


def test_an_empty_listing_says_so(valid_trail: CompleteTrail, run_vibes: RunVibes) -> None:
    done = run_vibes("log", "--model", "nobody", cwd=valid_trail.root)
    assert (done.code, done.lines) == (0, ["no records"])
    assert run_vibes("stats", "--by", "session", "--open", cwd=valid_trail.root).lines == [
        "no open sessions"
    ]


def test_sessions_are_listed_with_what_happened_in_them(valid_trail: CompleteTrail) -> None:
    done = vibes("stats", "--by", "session", cwd=valid_trail.root)
    assert (done.code, done.err) == (0, "")
    rows = [line.split() for line in done.lines[2:] if line[:1].strip()]
    assert [rows[0][0], *rows[0][2:]] == [
        valid_trail.session[:8],
        "17",
        "s",
        "3",
        "claude-opus-4-5",
        "Sign-up",
    ]
    assert [row[0] for row in rows][:2] == [valid_trail.session[:8], valid_trail.worker_session[:8]]
    assert rows[2][-3:] == ["a", "person", "Ada"]


def test_sessions_in_json_have_the_names_that_records_have(
    valid_trail: CompleteTrail, run_vibes: RunVibes
) -> None:
    lead, worker, reviewer = run_vibes(
        "stats", "--by", "session", "--json", cwd=valid_trail.root
    ).json["sessions"]
    assert lead == {
        "session_id": valid_trail.session,
        "start": "2026-02-03T10:00:00.000Z",
        "end": "2026-02-03T10:00:17.000Z",
        "open": False,
        "environment_hash": valid_trail.environment,
        "assurance_level": "high",
        "description": "Sign-up",
        "parent_session_id": None,
        "agent_name": "lead",
        "agent_type": "orchestrator",
        "tool_name": "Maestro",
        "model_name": "claude-opus-4-5",
        "annotations": 3,
        "line": 1,
    }
    assert (worker["session_id"], worker["parent_session_id"]) == (
        valid_trail.worker_session,
        valid_trail.session,
    )
    assert reviewer["model_name"] == "none"


def test_open_sessions_alone(project: Project, run_vibes: RunVibes) -> None:
    session = project.writer.session_start(description="Unfinished")
    (only,) = run_vibes("stats", "--by", "session", "--open", "--json", cwd=project.root).json[
        "sessions"
    ]
    assert (only["session_id"], only["open"], only["end"]) == (session, True, None)
    assert (
        "open" in run_vibes("stats", "--by", "session", "--open", cwd=project.root).lines[2].split()
    )


def test_models_show_the_shares_of_current_annotations(valid_trail: CompleteTrail) -> None:
    done = vibes("stats", "--by", "model", cwd=valid_trail.root)
    assert (done.code, done.err) == (0, "")
    assert [line.split() for line in done.lines[2:]] == [
        ["60.0%", "3", "1", "claude-opus-4-5", "20251101", "Maestro", "1.0.0"],
        ["40.0%", "2", "2", "claude-opus-4-5", "20251101", "Claude", "Code", "1.5.2"],
    ]
    first, _ = vibes("stats", "--by", "model", "--json", cwd=valid_trail.root).json["models"]
    assert first == {
        "tool_name": "Maestro",
        "tool_version": "1.0.0",
        "model_name": "claude-opus-4-5",
        "model_version": "20251101",
        "annotations": 3,
        "files": 1,
        "share": 0.6,
    }


def test_versions_of_a_model_are_told_apart_and_counted_together(
    project: Project, run_vibes: RunVibes
) -> None:
    for version in ("2026-01", "unknown"):
        environment = project.writer.environment(
            tool="chat", tool_version="unknown", model="other", model_version=version
        )
        project.line("src/auth.py", environment=environment)
    rows = [
        line.split()[1:] for line in run_vibes("stats", "--by", "model", cwd=project.root).lines
    ]
    assert ["1", "1", "other", "2026-01", "chat"] in rows
    assert ["1", "1", "other", "chat"] in rows
    (models,) = [
        line for line in run_vibes("stats", cwd=project.root).lines if line.startswith("models")
    ]
    assert models.endswith("29% other (chat)")


def test_stats_count_what_is_in_the_trail(valid_trail: CompleteTrail) -> None:
    done = vibes("stats", cwd=valid_trail.root)
    assert (done.code, done.err) == (0, "")
    for row in (
        "annotations       5, of which 0 superseded",
        "actions           4 create, 1 modify",
        "log records       25",
    ):
        assert row in [line.rstrip() for line in done.lines]
    stats = vibes("stats", "--json", cwd=valid_trail.root).json
    shares = stats.pop("models")
    assert [share["share"] for share in shares] == [0.6, 0.4]
    assert stats == {
        "records": 25,
        "annotations": 5,
        "current": 5,
        "files": 3,
        "foreignFiles": 0,
        "untrackedFiles": 0,
        "sessions": 3,
        "openSessions": 0,
        "entries": 11,
        "actions": {"create": 4, "modify": 1},
        "assuranceLevels": {"high": 5},
    }


@pytest.mark.parametrize("limit", [2**63 - 1, 2**63, 10**30])
def test_a_huge_limit_prints_everything(
    valid_trail: CompleteTrail, run_vibes: RunVibes, limit: int
) -> None:
    done = run_vibes("log", "--limit", str(limit), cwd=valid_trail.root)
    assert (done.code, done.out, done.err) == (
        0,
        run_vibes("log", "--limit", "9999", cwd=valid_trail.root).out,
        "",
    )
