"""Findings as SARIF: valid by the published schema, each result with its place and its rule."""

from __future__ import annotations

from typing import Any

import jsonschema
import pytest

from tests import sarif_schema
from vibes_lsp.checks.catalogue import ALL, COMMIT_UNKNOWN, LOG_LINE, SESSION_OPEN
from vibes_lsp.checks.finding import Finding, Severity
from vibes_lsp.reports.sarif import findings_sarif


def run_of(*findings: Finding) -> dict[str, Any]:
    log: dict[str, Any] = findings_sarif(findings, "1.2.3")
    jsonschema.validate(log, sarif_schema.load())
    (run,) = log["runs"]
    found: dict[str, Any] = run
    return found


def test_without_findings_there_are_no_results_and_no_rules() -> None:
    run = run_of()
    assert run["results"] == []
    assert run["tool"]["driver"] == {"name": "vibes-lsp", "version": "1.2.3", "rules": []}


def test_every_check_makes_a_valid_rule() -> None:
    run = run_of(*(Finding(check, "message", "file", 1) for check in ALL))
    assert [rule["id"] for rule in run["tool"]["driver"]["rules"]] == [check.id for check in ALL]
    assert {rule["defaultConfiguration"]["level"] for rule in run["tool"]["driver"]["rules"]} == {
        "error",
        "warning",
        "note",
    }


def test_a_result_names_its_rule_its_place_and_its_own_level() -> None:
    run = run_of(
        Finding(SESSION_OPEN, "one", "log", 3),
        Finding(COMMIT_UNKNOWN, "two", "log", 7, "commit_hash", Severity.NOTE),
        Finding(SESSION_OPEN, "three", "log"),
    )
    rules = [rule["id"] for rule in run["tool"]["driver"]["rules"]]
    assert [rules[result["ruleIndex"]] for result in run["results"]] == [
        "session-open",
        "commit-unknown",
        "session-open",
    ]
    assert [result["level"] for result in run["results"]] == ["warning", "note", "warning"]
    assert [result["message"]["text"] for result in run["results"]] == ["one", "two", "three"]
    places = [result["locations"][0]["physicalLocation"] for result in run["results"]]
    assert [place.get("region") for place in places] == [{"startLine": 3}, {"startLine": 7}, None]


@pytest.mark.parametrize(
    ("file", "uri"),
    [
        (".ai-audit/manifest.json", ".ai-audit/manifest.json"),
        ("two words/a#b?.json", "two%20words/a%23b%3F.json"),
        ("größe.json", "gr%C3%B6%C3%9Fe.json"),
        (b"\xff.json".decode("utf-8", "surrogateescape"), "%FF.json"),
        ("\ud800.json", "%ED%A0%80.json"),
    ],
)
def test_a_file_name_becomes_a_relative_uri(file: str, uri: str) -> None:
    (result,) = run_of(Finding(LOG_LINE, "message", file))["results"]
    assert result["locations"][0]["physicalLocation"]["artifactLocation"]["uri"] == uri
