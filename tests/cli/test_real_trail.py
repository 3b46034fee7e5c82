"""A public audit trail of another tool: all of it is read, and its oddities are reported."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import pytest

from tests.cli.run_vibes import simulate_terminal, vibes

if TYPE_CHECKING:
    from pathlib import Path

    from tests.cli.run_vibes import RunVibes


@pytest.fixture(scope="module")
def report(real_trail: Path) -> dict[str, Any]:
    done = vibes("check", "--audit-dir", real_trail, "--json", cwd=real_trail.parent)
    assert (done.code, done.err) == (1, "")
    found: dict[str, Any] = done.json
    return found


def test_every_record_and_entry_is_counted(report: dict[str, Any]) -> None:
    assert report["records"] == {
        "line": 484,
        "function": 0,
        "session": 168,
        "edge": 61,
        "delegation": 0,
        "other": 0,
        "broken": 0,
    }
    assert sum(report["records"].values()) == 713
    assert sum(report["entries"].values()) == 2985
    assert (report["project"], report["assuranceLevel"]) == ("Maestro", "high")


def test_every_hash_is_explained(report: dict[str, Any]) -> None:
    assert {name: count for name, count in report["contextHashes"].items() if count} == {
        "spec": 437,
        "no-type": 2546,
        "environment-unknown": 2,
    }
    assert {name: count for name, count in report["annotationIds"].items() if count} == {
        "spec": 34,
        "less-anchors": 39,
        "absent": 640,
    }


def test_it_fails_only_for_its_missing_prompts(report: dict[str, Any]) -> None:
    assert report["result"] == "FAIL"
    assert [
        finding["check"] for finding in report["findings"] if finding["severity"] == "error"
    ] == ["prompts-absent"]


def test_everything_leads_somewhere_and_foreign_paths_are_one_finding(
    report: dict[str, Any],
) -> None:
    checks = [finding["check"] for finding in report["findings"]]
    assert not {"reference-dangling", "edge-end"} & set(checks)
    assert checks.count("path-foreign") == 1


def test_hash_integrity_passes(real_trail: Path, run_vibes: RunVibes) -> None:
    done = run_vibes("check", "--audit-dir", real_trail, cwd=real_trail.parent)
    assert done.lines[4:7] == ["Hash integrity: PASS", "Schema compliance: PASS", "Result: FAIL"]


@pytest.mark.parametrize("command", ["log", "stats", "stats --by session", "stats --by model"])
def test_every_table_of_it_fits_into_80_columns_but_long_paths(
    real_trail: Path, run_vibes: RunVibes, command: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    simulate_terminal(monkeypatch)
    done = run_vibes(*command.split(), "--audit-dir", real_trail, cwd=real_trail.parent)
    assert (done.code, done.err) == (0, "")
    assert all(re.search(r"(\.\w+:\d+-\d+ …$)|^.{0,80}$", line) for line in done.lines)


def test_into_a_pipe_each_record_of_it_is_one_line_with_its_path(
    real_trail: Path, run_vibes: RunVibes
) -> None:
    asked = ("log", "--limit", "9999", "--audit-dir", real_trail)
    records = run_vibes(*asked, "--json", cwd=real_trail.parent).json["records"]
    _, _, *rows = run_vibes(*asked, cwd=real_trail.parent).lines
    assert len(records) == 484
    for row, each in zip(rows, records, strict=True):
        assert each["record"]["file_path"] in row


def test_every_record_of_it_comes_out_as_it_is(real_trail: Path, run_vibes: RunVibes) -> None:
    done = run_vibes(
        "log",
        "--type",
        "all",
        "--limit",
        "9999",
        "--json",
        "--audit-dir",
        real_trail,
        cwd=real_trail.parent,
    )
    lines = (real_trail / "annotations.jsonl").read_bytes().splitlines()
    assert [each["line"] for each in done.json["records"]] == list(range(1, len(lines) + 1))
    assert len(lines) == 713
