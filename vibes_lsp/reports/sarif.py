"""Findings as SARIF 2.1.0, for code scanning."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final
from urllib.parse import quote

from vibes_lsp.anchors.text import encode
from vibes_lsp.checks.catalogue import ALL
from vibes_lsp.checks.finding import Check, Finding
from vibes_lsp.model.members import JsonValue, Members

SCHEMA: Final = "https://json.schemastore.org/sarif-2.1.0.json"


def findings_sarif(findings: Sequence[Finding], version: str) -> Members:
    """Return a SARIF log with one run; paths are relative to the project."""
    used = {finding.check.id: finding.check for finding in findings}
    rules = [check for check in ALL if check.id in used]
    rules += [
        used[identifier] for identifier in sorted(used.keys() - {check.id for check in rules})
    ]
    rule_indexes = {check.id: number for number, check in enumerate(rules)}
    driver: Members = {
        "name": "vibes-lsp",
        "version": version,
        "rules": [_rule(check) for check in rules],
    }
    results: list[JsonValue] = [
        _result(finding, rule_indexes[finding.check.id]) for finding in findings
    ]
    run: Members = {
        "tool": {"driver": driver},
        "columnKind": "unicodeCodePoints",
        "results": results,
    }
    return {"$schema": SCHEMA, "version": "2.1.0", "runs": [run]}


def _rule(check: Check) -> Members:
    return {
        "id": check.id,
        "shortDescription": {"text": check.title},
        "fullDescription": {"text": check.why},
        "help": {"text": check.fix},
        "defaultConfiguration": {"level": check.severity.value},
    }


def _result(finding: Finding, rule_index: int) -> Members:
    location: Members = {"artifactLocation": {"uri": quote(encode(finding.file))}}
    if finding.line is not None:
        region: Members = {"startLine": finding.line}
        if finding.column is not None:
            region["startColumn"] = finding.column
        if finding.end_line is not None:
            region["endLine"] = finding.end_line
        location["region"] = region
    return {
        "ruleId": finding.check.id,
        "ruleIndex": rule_index,
        "level": finding.severity.value,
        "message": {"text": finding.message},
        "locations": [{"physicalLocation": location}],
    }
