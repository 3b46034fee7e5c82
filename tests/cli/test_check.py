"""`vibes check`: the guide's seven lines, findings, JSON, SARIF and a base revision."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import jsonschema
import pytest

from tests import sarif_schema
from tests.cli.run_vibes import vibes
from vibes_lsp.checks.catalogue import ALL

if TYPE_CHECKING:
    from tests.cli.run_vibes import RunVibes
    from tests.trails import CompleteTrail
    from tests.unit.checks.projects import Project

SEVEN_LINES = """\
VIBES Standard Compliance Check
Project: demo
Assurance Level: high
Files found: config.json, manifest.json, annotations.jsonl
Hash integrity: PASS
Schema compliance: PASS
Result: PASS
"""


def test_a_valid_trail_gets_the_seven_lines_of_the_guide_and_the_counts(
    valid_trail: CompleteTrail,
) -> None:
    done = vibes("check", cwd=valid_trail.root)
    assert (done.code, done.err) == (0, "")
    assert done.out == SEVEN_LINES + (
        "\n"
        "Records: 25 (6 line, 1 function, 6 session, 11 edge, 1 delegation)\n"
        "Entries: 11 (3 environment, 2 prompt, 2 command, 3 reasoning, 1 decision)\n"
        "Context hashes: 11 (11 spec)\n"
        "Annotation ids: 25 (25 spec)\n"
        "\n"
        "0 errors, 0 warnings, 0 notes\n"
    )


def test_a_changed_entry_fails_hash_integrity_and_the_result(project: Project) -> None:
    manifest = project.writer.files.manifest
    manifest.write_bytes(manifest.read_bytes().replace(b"email and password", b"nothing at all"))
    done = vibes("check", cwd=project.root)
    assert (done.code, done.err) == (1, "")
    assert done.lines[4:7] == ["Hash integrity: FAIL", "Schema compliance: PASS", "Result: FAIL"]
    key = project.trail.prompt or ""
    line = project.place(key)
    message = f"entry {key[:8]} does not match its key in any known variant"
    assert f".ai-audit/manifest.json:{line}: error[hash-mismatch] {message}" in done.lines
    assert done.lines[-1] == "1 error, 0 warnings, 0 notes"


def test_a_broken_line_fails_schema_compliance_only(project: Project, run_vibes: RunVibes) -> None:
    project.writer.raw_log(b"oops\n")
    done = run_vibes("check", cwd=project.root)
    assert done.code == 1
    assert done.lines[4:7] == ["Hash integrity: PASS", "Schema compliance: FAIL", "Result: FAIL"]
    assert ".ai-audit/annotations.jsonl:26: error[log-line] expecting value" in done.lines
    assert "1 broken" in done.out


def test_warnings_and_notes_alone_pass(project: Project, run_vibes: RunVibes) -> None:
    project.writer.session_start()
    project.line("src/gone.py")
    done = run_vibes("check", cwd=project.root)
    assert done.code == 0
    assert "Result: PASS" in done.lines
    assert done.lines[-1] == "0 errors, 1 warning, 1 note"


def test_ten_findings_of_a_check_are_shown_and_all_on_request(
    project: Project, run_vibes: RunVibes
) -> None:
    project.writer.raw_log(b"oops\n" * 13)
    some, everything = (
        run_vibes("check", cwd=project.root),
        run_vibes("check", "--all", cwd=project.root),
    )
    assert some.out.count("[log-line]") == 10
    assert "  … 3 more of log-line; use --all for all" in some.lines
    assert everything.out.count("[log-line]") == 13
    assert some.lines[-1] == everything.lines[-1] == "13 errors, 0 warnings, 0 notes"


def test_json_has_the_documented_shape(valid_trail: CompleteTrail) -> None:
    done = vibes("check", "--json", cwd=valid_trail.root)
    assert (done.code, done.err) == (0, "")
    assert done.json == {
        "result": "PASS",
        "project": "demo",
        "assuranceLevel": "high",
        "records": {
            "line": 6,
            "function": 1,
            "session": 6,
            "edge": 11,
            "delegation": 1,
            "other": 0,
            "broken": 0,
        },
        "entries": {
            "environment": 3,
            "prompt": 2,
            "command": 2,
            "reasoning": 3,
            "decision": 1,
            "other": 0,
        },
        "contextHashes": {
            "spec": 11,
            "no-type": 0,
            "ascii": 0,
            "null-dropped": 0,
            "js-number": 0,
            "replacer": 0,
            "environment-unknown": 0,
            "mismatch": 0,
        },
        "annotationIds": {
            "spec": 25,
            "less-anchors": 0,
            "less-commit": 0,
            "less-risk": 0,
            "ascii": 0,
            "absent": 0,
            "mismatch": 0,
        },
        "findings": [],
    }


def test_findings_in_json_have_line_and_field_where_there_are_any(
    project: Project, run_vibes: RunVibes
) -> None:
    project.writer.config(assurance_level="total")
    project.writer.files.log.unlink()
    done = run_vibes("check", "--json", cwd=project.root)
    assert done.code == 1
    assert done.json["result"] == "FAIL"
    assert done.json["findings"] == [
        {
            "check": "config-field",
            "severity": "error",
            "message": "assurance_level: expected low, medium or high",
            "file": ".ai-audit/config.json",
            "line": 4,
            "field": "assurance_level",
        },
        {
            "check": "log-missing",
            "severity": "error",
            "message": "annotations.jsonl is missing",
            "file": ".ai-audit/annotations.jsonl",
        },
    ]


def test_sarif_keeps_to_the_published_schema(project: Project) -> None:
    project.writer.raw_log(b"oops\n")
    project.writer.session_start()
    project.line("src/gone.py")
    project.repository.git(
        "rm", "--quiet", ".ai-audit/.gitattributes"
    )  # gone from disk alone, git reads it in the index
    done = vibes("check", "--sarif", cwd=project.root)
    assert (done.code, done.err) == (1, "")
    jsonschema.validate(done.json, sarif_schema.load())
    (run,) = done.json["runs"]
    places = [
        place["physicalLocation"] for result in run["results"] for place in result["locations"]
    ]
    assert [(result["ruleId"], result["level"]) for result in run["results"]] == [
        ("log-line", "error"),
        ("git-attributes", "warning"),
        ("session-open", "warning"),
        ("path-foreign", "note"),
    ]
    assert [place.get("region") for place in places] == [
        {"startLine": 26},
        None,
        {"startLine": 27},
        {"startLine": 28},
    ]
    assert [place["artifactLocation"]["uri"] for place in places][:2] == [
        ".ai-audit/annotations.jsonl",
        ".ai-audit/.gitattributes",
    ]
    assert all(
        run["tool"]["driver"]["rules"][result["ruleIndex"]]["id"] == result["ruleId"]
        for result in run["results"]
    )


def test_sarif_of_every_check_keeps_to_the_published_schema(
    valid_trail: CompleteTrail, run_vibes: RunVibes
) -> None:
    empty = run_vibes("check", "--sarif", cwd=valid_trail.root)
    jsonschema.validate(empty.json, sarif_schema.load())
    assert empty.json["runs"][0]["results"] == []
    assert {check.severity.value for check in ALL} == {"error", "warning", "note"}


def test_sarif_can_hold_a_file_name_that_is_not_utf_8(project: Project) -> None:
    name = b"audit.db\xff"
    try:
        (project.audit / name.decode("utf-8", "surrogateescape")).touch()
    except OSError:
        pytest.skip("this file system has no such names")
    project.repository.git("add", "--force", ".ai-audit")
    done = vibes("check", "--sarif", cwd=project.root)
    found = [
        (each["ruleId"], each["locations"][0]["physicalLocation"]["artifactLocation"]["uri"])
        for each in done.json["runs"][0]["results"]
    ]
    assert found == [("git-derived", ".ai-audit/audit.db%FF")], done.json


def test_a_base_whose_records_are_all_present_passes(
    valid_trail: CompleteTrail, run_vibes: RunVibes
) -> None:
    done = run_vibes("check", "--base", "HEAD", cwd=valid_trail.root)
    assert (done.code, done.lines[-1]) == (0, "0 errors, 0 warnings, 0 notes")


def test_a_missing_record_of_the_base_is_reported(project: Project) -> None:
    log = project.writer.files.log
    gone = project.trail.informed_by
    log.write_bytes(
        b"".join(
            line
            for line in log.read_bytes().splitlines(keepends=True)
            if f'_id":"{gone}"'.encode() not in line
        )
    )
    done = vibes("check", "--base", "HEAD", cwd=project.root)
    assert done.code == 1
    message = f"record {gone[:8]} (line 6 of commit {project.head[:8]}) was removed, or changed together with its id"
    assert f".ai-audit/annotations.jsonl: error[base-record] {message}" in done.lines


@pytest.mark.parametrize(
    ("file", "change", "checks"),
    [
        (
            "annotations.jsonl",
            (b'"note":"Fine."', b'"note":"Bad."'),
            {"base-record", "annotation-id-mismatch"},
        ),
        (
            "manifest.json",
            (b'"command_text":"src/auth.py"', b'"command_text":"src/other.py"'),
            {"base-entry", "hash-mismatch"},
        ),
    ],
)
def test_a_changed_record_of_the_base_is_reported(
    project: Project, run_vibes: RunVibes, file: str, change: tuple[bytes, bytes], checks: set[str]
) -> None:
    path = project.audit / file
    path.write_bytes(path.read_bytes().replace(*change))
    done = run_vibes("check", "--base", "main", "--json", cwd=project.root)
    assert done.code == 1
    assert {finding["check"] for finding in done.json["findings"]} == checks


def test_a_missing_entry_of_the_base_is_reported(project: Project, run_vibes: RunVibes) -> None:
    before = project.writer.files.manifest.read_bytes()
    key = project.writer.command("make")
    project.repository.commit("More")
    project.writer.files.manifest.write_bytes(before)
    done = run_vibes("check", "--base", "HEAD", cwd=project.root)
    assert (
        f".ai-audit/manifest.json: error[base-entry] entry {key[:8]} of commit {project.repository.head()[:8]} was removed"
        in done.lines
    )


def test_a_missing_entry_of_a_base_in_another_format_is_reported(
    project: Project, run_vibes: RunVibes
) -> None:
    manifest = project.writer.files.manifest
    project.writer.command("make")
    content = json.loads(manifest.read_bytes())
    manifest.write_text(json.dumps(content, indent=4))
    project.repository.commit("More")
    key = next(iter(content["entries"]))
    del content["entries"][key]
    manifest.write_text(json.dumps(content, indent=4))
    done = run_vibes("check", "--base", "HEAD", cwd=project.root)
    assert done.code == 1, done.err
    assert (
        f".ai-audit/manifest.json: error[base-entry] entry {key[:8]} of commit {project.repository.head()[:8]} was removed"
        in done.lines
    )


def test_an_unknown_base_is_wrong_use(valid_trail: CompleteTrail, run_vibes: RunVibes) -> None:
    done = run_vibes("check", "--base", "nonsense", cwd=valid_trail.root)
    assert (done.code, done.out) == (2, "")
    assert (
        done.err
        == "vibes: 'nonsense' names no commit here; give a branch, a tag or a commit; a shallow clone may lack it\n"
    )


def test_a_base_without_a_repository_is_wrong_use(project: Project, run_vibes: RunVibes) -> None:
    (project.root / ".git").rename(project.root / "not-git")
    done = run_vibes("check", "--base", "HEAD", cwd=project.root)
    assert (done.code, done.out) == (2, "")
    assert done.err == "vibes: --base requires a git repository; run it in a work tree\n"
