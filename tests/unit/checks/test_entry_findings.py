"""Findings about manifest entries: members, hashes, blobs and privacy."""

from __future__ import annotations

import base64
import json
from typing import TYPE_CHECKING, Any

import pytest

from tests.trails import OMIT, gzipped
from tests.unit.checks.projects import MANIFEST, Project, Seen, check, seen, smallest

if TYPE_CHECKING:
    from pathlib import Path

DIGEST = "0123456789abcdef" * 4


@pytest.mark.parametrize(
    ("members", "field", "message"),
    [
        ({"prompt_type": OMIT}, "prompt_type", "prompt_type: is required"),
        ({"prompt_text": 7}, "prompt_text", "prompt_text: expected a string"),
        ({"created_at": OMIT}, "created_at", "created_at: is required"),
        (
            {"prompt_context_files": ["a.py", 7]},
            "prompt_context_files.1",
            "prompt_context_files.1: expected a string",
        ),
    ],
)
def test_entry_field(project: Project, members: dict[str, Any], field: str, message: str) -> None:
    key = project.writer.prompt("Go on.", **members)
    assert project.seen() == [
        Seen("entry-field", "error", MANIFEST, project.place(key), field, message)
    ]


def test_an_entry_of_an_unknown_type_is_kept_and_counted(project: Project) -> None:
    project.writer.entry({"type": "weather", "sky": "blue"})
    assert project.seen() == []
    assert project.report().entries["other"] == 1


@pytest.mark.parametrize(("entry", "kind"), [("7", "number"), ("[]", "array"), ("null", "null")])
def test_an_entry_that_is_no_object_is_a_finding(project: Project, entry: str, kind: str) -> None:
    manifest = project.root / MANIFEST
    manifest.write_bytes(
        manifest.read_bytes().removesuffix(b"}}\n") + f',"{DIGEST}":{entry}\n}}}}\n'.encode()
    )
    message = f"entry {DIGEST[:8]}: expected an object, found a JSON {kind}"
    assert project.seen() == [
        Seen("entry-field", "error", MANIFEST, project.place(DIGEST), None, message)
    ]


def test_a_bad_timestamp_of_an_entry_counts_as_such(project: Project) -> None:
    key = project.writer.prompt("Go on.", created_at="soon")
    message = "created_at: expected an ISO 8601 date and time"
    assert project.seen() == [
        Seen("timestamp", "error", MANIFEST, project.place(key), "created_at", message)
    ]


def test_hash_variant(project: Project) -> None:
    key = project.writer.prompt("Go on.", variant="no-type")
    project.writer.prompt("Stop.", variant="no-type")
    message = "2 of 10 keys match only as no-type"
    assert project.seen() == [
        Seen("hash-variant", "warning", MANIFEST, project.place(key), None, message)
    ]
    assert project.report().hashes_pass


def test_hash_mismatch(project: Project) -> None:
    project.writer.entry(
        {
            "type": "command",
            "command_text": "ls",
            "command_type": "shell",
            "created_at": project.writer.now(),
        },
        key=DIGEST,
    )
    message = f"entry {DIGEST[:8]} does not match its key in any known variant"
    assert project.seen() == [
        Seen("hash-mismatch", "error", MANIFEST, project.place(DIGEST), None, message)
    ]
    report = project.report()
    assert report.context_hashes["mismatch"] == 1
    assert (report.passed, report.hashes_pass, report.schema_passes) == (False, False, True)


def test_prompts_absent(tmp_path: Path) -> None:
    smallest(tmp_path, "medium")
    message = "level medium requires prompt entries, but the manifest has none"
    assert seen(check(tmp_path)) == [Seen("prompts-absent", "error", MANIFEST, None, None, message)]


def test_reasoning_absent(tmp_path: Path) -> None:
    smallest(tmp_path, "high").prompt("Go on.")
    message = "level high requires reasoning entries, but the manifest has none"
    assert seen(check(tmp_path)) == [
        Seen("reasoning-absent", "error", MANIFEST, None, None, message)
    ]


def test_a_trail_without_annotations_needs_no_prompts(tmp_path: Path) -> None:
    writer = smallest(tmp_path, "high")
    writer.files.log.write_bytes(b"")
    assert seen(check(tmp_path)) == []


def test_prompt_empty(project: Project) -> None:
    key = project.writer.prompt("")
    assert project.seen() == [
        Seen(
            "prompt-empty",
            "error",
            MANIFEST,
            project.place(key),
            "prompt_text",
            "prompt_text is empty",
        )
    ]


def test_reasoning_empty(reasoned: Project) -> None:
    key = reasoned.writer.entry(
        {"type": "reasoning", "reasoning_model": "m", "created_at": reasoned.writer.now()}
    )
    message = "the entry has no text, no compressed text and no blob"
    assert reasoned.seen() == [
        Seen("reasoning-empty", "error", MANIFEST, reasoned.place(key), "reasoning_text", message)
    ]


def test_reasoning_model(reasoned: Project) -> None:
    key = reasoned.writer.reasoning("Perhaps.", reasoning_model=OMIT)
    message = "1 of 4 reasoning entries have no reasoning_model"
    assert reasoned.seen() == [
        Seen(
            "reasoning-model", "warning", MANIFEST, reasoned.place(key), "reasoning_model", message
        )
    ]


def test_blob_missing(reasoned: Project) -> None:
    (blob,) = (reasoned.audit / "blobs").iterdir()
    blob.unlink()
    line = reasoned.place(blob.name)
    assert reasoned.seen() == [
        Seen(
            "blob-missing",
            "error",
            MANIFEST,
            line,
            "blob_path",
            f"blob blobs/{blob.name} does not exist",
        )
    ]


def test_a_missing_blob_that_git_ignores_is_a_note(reasoned: Project) -> None:
    (blob,) = (reasoned.audit / "blobs").iterdir()
    blob.unlink()
    with (reasoned.audit / ".gitignore").open("a") as file:
        file.write("blobs/\n")
    assert [(finding.check, finding.severity) for finding in reasoned.seen()] == [
        ("blob-missing", "note")
    ]


@pytest.mark.parametrize(
    "path", ["../secret.txt", "/etc/passwd", "blobs/../../secret.txt", "..\\secret.txt"]
)
def test_blob_escapes(reasoned: Project, path: str) -> None:
    (reasoned.root / "secret.txt").write_text("{}")
    key = reasoned.external_reasoning(path)
    message = f"blob_path {path!r} leaves the audit directory"
    assert reasoned.seen() == [
        Seen("blob-escapes", "error", MANIFEST, reasoned.place(key), "blob_path", message)
    ]


@pytest.mark.parametrize(
    ("packed", "message"),
    [
        ("%%%", "reasoning_text_compressed is not base64"),
        (base64.b64encode(b"no gzip").decode(), "reasoning_text_compressed: not gzip data"),
        (
            base64.b64encode(gzipped(b"whole")[:-9]).decode(),
            "reasoning_text_compressed: truncated gzip data",
        ),
        (
            base64.b64encode(gzipped(b"\xff\xfe")).decode(),
            "reasoning_text_compressed: not UTF-8 at byte 0",
        ),
    ],
)
def test_blob_broken(reasoned: Project, packed: str, message: str) -> None:
    entry = {
        "type": "reasoning",
        "reasoning_text_compressed": packed,
        "compressed": True,
        "reasoning_model": "m",
    }
    key = reasoned.writer.entry({**entry, "created_at": reasoned.writer.now()})
    assert reasoned.seen() == [
        Seen(
            "blob-broken",
            "error",
            MANIFEST,
            reasoned.place(key),
            "reasoning_text_compressed",
            message,
        )
    ]


def test_blob_name(reasoned: Project) -> None:
    path = f"blobs/{DIGEST}.json.gz"
    content = json.dumps({"type": "reasoning", "reasoning_text": "Else.", "reasoning_model": "m"})
    reasoned.writer.files.write(path, gzipped(content.encode()))
    key = reasoned.external_reasoning(path)
    message = f"the name of {path} does not match the digest of its content"
    assert reasoned.seen() == [
        Seen("blob-name", "warning", MANIFEST, reasoned.place(key), "blob_path", message)
    ]


@pytest.mark.parametrize(
    "home", ["/home/someone/app", "/Users/someone/app", "C:\\Users\\someone\\app"]
)
def test_home_path(project: Project, home: str) -> None:
    key = project.writer.command("make", directory=home)
    message = "1 of 9 entries contain a path of a home directory"
    assert project.seen() == [
        Seen("home-path", "warning", MANIFEST, project.place(key), None, message)
    ]


@pytest.mark.parametrize(
    ("secret", "kind"),
    [
        ("AKIA" + "IOSFODNN7EXAMPLX", "AWS Access Key"),
        ("ghp_" + "a1B2" * 9, "GitHub Token"),
        ("sk-ant-" + "api03-" + "a1B2" * 8, "Anthropic API Key"),
        ("-----BEGIN RSA " + "PRIVATE KEY-----\\n" + "MIIBOgIBAAJBAKj3" * 4, "Private Key"),
        ("https://ada:" + "pa55word@example.org", "Password in URL"),
    ],
)
def test_secret(project: Project, secret: str, kind: str) -> None:
    key = project.writer.prompt(f"Use {secret} for it.")
    message = f"prompt_text may contain a secret: {kind}"
    assert project.seen() == [
        Seen("secret", "warning", MANIFEST, project.place(key), "prompt_text", message)
    ]


@pytest.mark.parametrize("before", [0, 3590, 3610, 3990, 7000])
def test_a_secret_is_found_anywhere_in_a_long_line(project: Project, before: int) -> None:
    project.writer.prompt("word " * (before // 5) + "ghp_" + "a1B2" * 9 + " word" * 1000)
    assert [finding.check for finding in project.seen()] == ["secret"]


def test_digests_and_ids_are_no_secrets(project: Project) -> None:
    project.writer.prompt(
        f"Revert {DIGEST} of 6f4f1f2e-52a0-5b7e-9d0c-3f6f0a6f7a10, the password check in token.py."
    )
    assert project.seen() == []
