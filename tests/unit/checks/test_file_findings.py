"""Findings about the files of a trail: missing, unreadable or invalid."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from tests.trails import corrupt_manifest
from tests.unit.checks.projects import CONFIG, LOG, MANIFEST, Project, Seen

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.parametrize("name", [CONFIG, MANIFEST, LOG])
def test_file_unreadable(project: Project, name: str) -> None:
    file = project.root / name
    file.unlink()
    file.mkdir()
    assert project.seen() == [
        Seen("file-unreadable", "error", name, None, None, f"{file.name} is not a regular file")
    ]


@pytest.mark.parametrize("marker", [b"<<<<<<< HEAD", b"=======", b">>>>>>> topic", b"||||||| base"])
def test_conflict_marker(project: Project, marker: bytes) -> None:
    project.writer.raw_log(marker + b"\n")
    assert project.seen() == [
        Seen("conflict-marker", "error", LOG, 26, None, "merge-conflict marker")
    ]


@pytest.mark.parametrize(("name", "line"), [(CONFIG, 3), (MANIFEST, 4)])
def test_a_conflict_marker_in_a_json_file_is_found_at_its_line(
    project: Project, name: str, line: int
) -> None:
    file = project.root / name
    lines = file.read_bytes().split(b"\n")
    file.write_bytes(b"\n".join([*lines[: line - 1], b"<<<<<<< HEAD", *lines[line - 1 :]]))
    assert project.seen() == [
        Seen("conflict-marker", "error", name, line, None, "merge-conflict marker")
    ]


def test_config_missing(project: Project) -> None:
    (project.root / CONFIG).unlink()
    assert project.seen() == [
        Seen("config-missing", "error", CONFIG, None, None, "config.json is missing")
    ]
    assert project.report().files == ("manifest.json", "annotations.jsonl")


def test_config_json(project: Project) -> None:
    (project.root / CONFIG).write_bytes(b'{\n  "standard": "VIBES",\n  oops\n}\n')
    message = "expecting property name enclosed in double quotes"
    assert project.seen() == [Seen("config-json", "error", CONFIG, 3, None, message)]


def test_config_field(project: Project) -> None:
    project.writer.config(assurance_level="paranoid")
    message = "assurance_level: expected low, medium or high"
    assert project.seen() == [Seen("config-field", "error", CONFIG, 4, "assurance_level", message)]


def test_a_nested_field_is_named_whole_and_placed(project: Project) -> None:
    project.writer.config(risk_scoring={"enabled": True, "thresholds": {"high": 7}})
    (finding,) = project.seen()
    assert (finding.check, finding.line, finding.field) == (
        "config-field",
        9,
        "risk_scoring.thresholds.high",
    )


def test_manifest_missing(project: Project) -> None:
    (project.root / MANIFEST).unlink()
    assert project.seen() == [
        Seen("manifest-missing", "error", MANIFEST, None, None, "manifest.json is missing")
    ]


def test_a_missing_manifest_that_git_ignores_is_a_note(project: Project) -> None:
    (project.root / MANIFEST).unlink()
    with (project.audit / ".gitignore").open("a") as file:
        file.write("manifest.json\n")
    message = "manifest.json is not in the repository: git ignores it"
    assert project.seen() == [Seen("manifest-missing", "note", MANIFEST, None, None, message)]


def test_manifest_json(project: Project) -> None:
    corrupt_manifest(project.root)
    message = "unterminated string starting"
    assert project.seen() == [
        Seen("manifest-json", "error", MANIFEST, project.last_line(MANIFEST), None, message)
    ]


@pytest.mark.parametrize(
    ("old", "new", "field", "message"),
    [
        (
            b'"standard":"VIBES"',
            b'"standard":"VIBE"',
            "standard",
            "invalid standard 'VIBE': expected 'VIBES'",
        ),
        (b'"standard":"VIBES",', b"", "standard", "standard is missing"),
        (
            b'"version":"1.0"',
            b'"version":1',
            "version",
            "invalid version 1: expected a string such as '1.0'",
        ),
        (b'"version":"1.0",', b"", "version", "version is missing"),
    ],
)
def test_manifest_frame(project: Project, old: bytes, new: bytes, field: str, message: str) -> None:
    file = project.root / MANIFEST
    file.write_bytes(file.read_bytes().replace(old, new, 1))
    assert project.seen() == [Seen("manifest-frame", "error", MANIFEST, 1, field, message)]


def test_manifest_duplicate(project: Project) -> None:
    key = project.trail.command
    line = project.place(key)
    lines = (project.root / MANIFEST).read_bytes().split(b"\n")
    wrong = b',"%s":{"type":"command","command_text":"rm","command_type":"shell"}' % key.encode()
    (project.root / MANIFEST).write_bytes(
        b"\n".join([*lines[: line - 1], wrong, *lines[line - 1 :]])
    )
    message = f"entry {key[:8]} occurs again with different content"
    assert project.seen() == [
        Seen("manifest-duplicate", "error", MANIFEST, line + 1, None, message)
    ]


def test_one_entry_twice_is_no_finding(project: Project) -> None:
    line = project.place(project.trail.command)
    lines = (project.root / MANIFEST).read_bytes().split(b"\n")
    (project.root / MANIFEST).write_bytes(
        b"\n".join([*lines[:line], lines[line - 1], *lines[line:]])
    )
    assert project.seen() == []


def entries(project: Project) -> dict[str, object]:
    found: dict[str, object] = json.loads((project.root / MANIFEST).read_bytes())["entries"]
    return found


def test_manifest_jsonl(project: Project) -> None:
    lines = [json.dumps({key: entry}) + "\n" for key, entry in entries(project).items()]
    (project.root / MANIFEST).write_text("".join(lines), encoding="utf-8")
    assert project.seen() == [
        Seen("manifest-jsonl", "note", MANIFEST, None, None, "8 entries in JSONL form")
    ]


def journal(project: Project, text: str) -> Path:
    file = project.audit / "wal" / "one.jsonl"
    file.parent.mkdir()
    file.write_text(text, encoding="utf-8")
    return file


def test_journal_pending(project: Project) -> None:
    before = (project.root / MANIFEST).read_bytes()
    key = project.writer.command("make", type="shell")
    entry = entries(project)[key]
    (project.root / MANIFEST).write_bytes(before)
    journal(project, json.dumps({key: entry}) + "\n")
    assert project.seen() == [
        Seen("journal-pending", "note", MANIFEST, None, None, "1 entry is not in the manifest yet")
    ]
    assert project.report().entries["command"] == 3


def test_journal_broken(project: Project) -> None:
    journal(project, "oops\noops again\n")
    assert project.seen() == [
        Seen(
            "journal-broken",
            "warning",
            ".ai-audit/wal/one.jsonl",
            None,
            None,
            "2 lines are not context entries",
        )
    ]


@pytest.mark.parametrize(
    ("member", "given", "message"),
    [
        (
            "risk_scoring",
            {"enabled": True, "review_rules": [3]},
            "risk_scoring.review_rules.0: expected an object",
        ),
        (
            "risk_scoring",
            {"enabled": True, "weights": 3},
            "risk_scoring.weights: expected an object",
        ),
        ("exclude_patterns", "*.py", "exclude_patterns: expected an array"),
    ],
)
def test_messages_use_the_terms_of_json(
    project: Project, member: str, given: object, message: str
) -> None:
    project.writer.config(**{member: given})
    assert [each.message for each in project.seen()] == [message]


@pytest.mark.parametrize(("version", "what"), [("2.0", "unsupported"), ("newest", "invalid")])
def test_version_unsupported(project: Project, version: str, what: str) -> None:
    project.writer.config(standard_version=version)
    message = f"{what} standard_version '{version}': expected 1.x; the file is not written"
    assert project.seen() == [
        Seen("version-unsupported", "warning", CONFIG, 3, "standard_version", message)
    ]


def test_a_manifest_of_another_major_version_is_read_and_marked(project: Project) -> None:
    file = project.root / MANIFEST
    file.write_bytes(file.read_bytes().replace(b'"version":"1.0"', b'"version":"2.0"', 1))
    message = "unsupported version '2.0': expected 1.x; the file is not written"
    assert project.seen() == [
        Seen("version-unsupported", "warning", MANIFEST, 1, "version", message)
    ]
    assert project.report().entries["prompt"] == 2


def test_another_minor_version_is_no_finding(project: Project) -> None:
    file = project.root / MANIFEST
    file.write_bytes(file.read_bytes().replace(b'"version":"1.0"', b'"version":"1.7"', 1))
    project.writer.config(standard_version="1.7")
    assert project.seen() == []


def test_log_missing(project: Project) -> None:
    (project.root / LOG).unlink()
    assert project.seen() == [
        Seen("log-missing", "error", LOG, None, None, "annotations.jsonl is missing")
    ]


@pytest.mark.parametrize(
    ("line", "message"),
    [
        (b'{"type":"line",', "expecting property name enclosed in double quotes (column 16)"),
        (b'["type","line"]', "expected an object, found a JSON array"),
        (
            b'{"type":"edge","type":"line"}',
            "duplicate member 'type' with different values (column 16)",
        ),
    ],
)
def test_log_line(project: Project, line: bytes, message: str) -> None:
    project.writer.raw_log(line + b"\n")
    assert project.seen() == [Seen("log-line", "error", LOG, 26, None, message)]
    assert project.report().records["broken"] == 1


def test_log_end(project: Project) -> None:
    log = project.root / LOG
    log.write_bytes(log.read_bytes().removesuffix(b"\n"))
    assert project.seen() == [
        Seen("log-end", "warning", LOG, 25, None, "the last record has no newline")
    ]


def test_an_incomplete_record_is_found_after_the_last_complete_one(project: Project) -> None:
    project.writer.raw_log(b'{"type":"li')
    assert project.seen() == [
        Seen(
            "log-end",
            "warning",
            LOG,
            26,
            None,
            "the last record is incomplete and not read",
        )
    ]


PRIVATE_KEY = (
    "-----BEGIN PRIVATE KEY-----\n"
    "MC4CAQAwBQYDK2VwBCIEIAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA\n"
    "-----END PRIVATE KEY-----\n"
)


@pytest.mark.parametrize("name", [".ai-audit/vibescheck.key", ".ai-audit/keys/mine.pem"])
def test_private_key(project: Project, name: str) -> None:
    (project.root / name).parent.mkdir(exist_ok=True)
    (project.root / name).write_text(PRIVATE_KEY)
    assert project.seen() == [
        Seen("private-key", "error", name, None, None, "the file is a private key")
    ]


@pytest.mark.parametrize(
    ("name", "text", "found"),
    [
        ("keys/vibescheck.key", PRIVATE_KEY.replace(" PRIVATE", " ENCRYPTED PRIVATE"), True),
        ("ours.pem", PRIVATE_KEY, True),
        (
            "tests/server.pem",
            PRIVATE_KEY.replace("MC4CAQAwBQYDK2VwBCIEI", "MIIEvQIBADANBgkqhkiG9"),
            False,
        ),
        ("vibescheck.pub", PRIVATE_KEY.replace("PRIVATE", "PUBLIC"), False),
    ],
)
def test_a_private_key_that_git_tracks(project: Project, name: str, text: str, found: bool) -> None:
    (project.root / name).parent.mkdir(exist_ok=True)
    (project.root / name).write_text(text)
    project.repository.git("add", name)
    assert [(each.check, each.file) for each in project.seen()] == (
        [("private-key", name)] if found else []
    )
