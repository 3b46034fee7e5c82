"""Readings R8 to R11 and R13: large reasoning, appending, forms of the manifest, versions, git."""

from __future__ import annotations

import json
import zlib

import pytest

from tests.conformance import valid_records
from tests.conformance.requirement import spec_reading
from tests.conformance.trail_access import (
    LOG,
    MANIFEST,
    audit_dir,
    check_project,
    finding_fields,
    finding_locations,
    open_trail,
    run_vibes,
    severities,
    snapshot,
)
from tests.trails import (
    AUDIT_DIR,
    CompleteTrail,
    Repository,
    context_hash,
    corrupt_manifest,
    file_hash,
    gzipped,
)
from vibes_lsp.errors import BrokenBlob, EscapingBlob
from vibes_lsp.store.reasoning import MAX_TEXT, reasoning_text

TEXT = "A width is never negative.\n" * 40


def external(path: str) -> dict[str, object]:
    return {
        "type": "reasoning",
        "external": True,
        "blob_path": path,
        "reasoning_model": "model",
        "created_at": "2026-02-03T11:00:00Z",
    }


@spec_reading("R8", "blobs with short names, of plain text or without compression are read")
@pytest.mark.parametrize(
    ("path", "content"),
    [
        (f"blobs/{file_hash(TEXT)[:16]}.json.gz", gzipped(TEXT.encode())),
        (f"blobs/{file_hash(TEXT)}.blob", TEXT.encode()),
        ("blobs/thoughts.txt", TEXT.encode()),
        ("blobs/x.json", json.dumps({"type": "reasoning", "reasoning_text": TEXT}).encode()),
        ("thoughts/../blobs\\y.txt", TEXT.encode()),
    ],
    ids=["short name", "plain text", "any name", "JSON", "backslash"],
)
def test_blobs_of_other_tools_are_read(trail: CompleteTrail, path: str, content: bytes) -> None:
    trail.writer.files.write(path.rpartition("..")[2].lstrip("/").replace("\\", "/"), content)
    (trail.root / AUDIT_DIR / "thoughts").mkdir()
    entry = external(path)
    trail.writer.entry(entry)
    assert reasoning_text(entry, audit_dir(trail.root)) == TEXT  # type: ignore[arg-type]
    assert finding_fields(check_project(trail.root)) == set()


@spec_reading("R8", "the key of a compressed or external entry may be that of its inline form")
@pytest.mark.parametrize("form", ["compressed", "external"])
def test_a_packed_entry_may_be_keyed_by_its_inline_form(trail: CompleteTrail, form: str) -> None:
    packed = trail.compressed_reasoning if form == "compressed" else trail.external_reasoning
    text = ("Length first. " * 1000) if form == "compressed" else ("Windows slide. " * 8000)
    stored = open_trail(trail.root).manifest.entry(packed or "")
    assert stored is not None
    inline = {
        "type": "reasoning",
        "reasoning_text": text,
        "reasoning_model": stored["reasoning_model"],
    }
    inline["reasoning_token_count"] = stored["reasoning_token_count"]
    trail.writer.entry(stored, key=context_hash(inline))
    report = check_project(trail.root)
    assert report.hashes_pass
    assert report.context_hashes["spec"] == len(open_trail(trail.root).manifest)


@spec_reading("R8", "a blob whose named digest is not that of its content is reported")
def test_a_changed_blob_is_reported(trail: CompleteTrail) -> None:
    (blob,) = (trail.root / AUDIT_DIR / "blobs").iterdir()
    blob.write_bytes(
        gzipped(json.dumps({"type": "reasoning", "reasoning_text": "Nothing to see."}).encode())
    )
    assert finding_fields(check_project(trail.root)) == {("blob-name", "blob_path")}


@spec_reading("R8", "a blob outside the audit directory is never opened, even through a link")
@pytest.mark.parametrize(
    "path",
    [
        "../secret.txt",
        "blobs/../../secret.txt",
        "{root}/secret.txt",
        "blobs/link.txt",
        "..\\secret.txt",
    ],
)
def test_a_blob_path_never_leaves_the_directory(trail: CompleteTrail, path: str) -> None:
    secret = trail.root / "secret.txt"
    secret.write_text("not for you", encoding="utf-8")
    if "link" in path:
        try:
            (trail.root / AUDIT_DIR / "blobs/link.txt").symlink_to(secret)
        except OSError:
            pytest.skip("this system lets us make no links")
    entry = external(path.replace("{root}", str(trail.root)))
    key = trail.writer.entry(entry)
    with pytest.raises(EscapingBlob):
        reasoning_text(entry, audit_dir(trail.root))  # type: ignore[arg-type]
    assert severities(check_project(trail.root), "blob-escapes") == {"error"}
    shown = run_vibes(trail.root, "show", key)
    assert "not for you" not in shown.out + shown.err


@spec_reading("R8", "decompression of reasoning has a size limit")
def test_unpacking_has_a_bound(trail: CompleteTrail) -> None:
    packer = zlib.compressobj(9, zlib.DEFLATED, zlib.MAX_WBITS | 16)
    bomb = packer.compress(bytes(MAX_TEXT + 1)) + packer.flush()
    trail.writer.files.write("blobs/bomb.json.gz", bomb)
    entry = external("blobs/bomb.json.gz")
    trail.writer.entry(entry)
    with pytest.raises(BrokenBlob, match="more than"):
        reasoning_text(entry, audit_dir(trail.root))  # type: ignore[arg-type]
    assert finding_fields(check_project(trail.root)) == {("blob-broken", "blob_path")}


@spec_reading(
    "R9",
    "a partially written record is read once it is complete",
)
def test_a_partial_record_is_read_once_it_is_complete(trail: CompleteTrail) -> None:
    trail_now = open_trail(trail.root)
    lines = trail_now.line_count
    row = json.dumps({**valid_records.line(trail), "annotation_id": "ab" * 32}).encode()
    trail.writer.raw_log(row[:100])
    trail_now.refresh()
    assert trail_now.line_count == lines
    assert severities(check_project(trail.root), "log-end") == {"warning"}
    trail.writer.raw_log(row[100:] + b"\n")
    trail_now.refresh()
    record = trail_now.log.record(lines + 1)
    assert record is not None
    assert record.id == "ab" * 32
    assert not trail_now.broken_lines()


@spec_reading(
    "R10",
    "an invalid manifest is never written; the error has its place, and complete lines are read",
)
def test_a_broken_manifest_is_left_alone(trail: CompleteTrail) -> None:
    corrupt_manifest(trail.root)
    before = snapshot(trail.root)
    report = check_project(trail.root)
    broken = before["manifest.json"].count(b"\n") + 1
    assert finding_locations(report, "manifest-json") == [(MANIFEST, broken)]
    assert not report.passed
    assert "Maestro" in run_vibes(trail.root, "stats", "--by", "model").out
    run_vibes(trail.root, "init")
    assert snapshot(trail.root) == before


@spec_reading("R10", "the RFC's interim form with one entry per line is read, with a note")
def test_the_interim_form_is_read(trail: CompleteTrail) -> None:
    entries = json.loads((trail.root / MANIFEST).read_bytes())["entries"]
    trail.writer.raw_manifest(
        "".join(
            json.dumps({key: entry}, ensure_ascii=False) + "\n" for key, entry in entries.items()
        ).encode()
    )
    report = check_project(trail.root)
    assert finding_fields(report) == {("manifest-jsonl", None)}
    assert severities(report, "manifest-jsonl") == {"note"}
    assert report.context_hashes["spec"] == len(entries)


@spec_reading(
    "R10", "equal duplicates of an entry count as one; different ones are an error at the second"
)
@pytest.mark.parametrize("same", [True, False])
def test_an_entry_may_be_duplicated(trail: CompleteTrail, same: bool) -> None:
    lines = (trail.root / MANIFEST).read_bytes().splitlines(keepends=True)
    first, second = lines[1], lines[2].removeprefix(b",")
    again = first if same else first.partition(b":")[0] + b":" + second.partition(b":")[2]
    trail.writer.raw_manifest(b"".join([*lines[:-1], b",", again, lines[-1]]))
    report = check_project(trail.root)
    assert finding_locations(report, "manifest-duplicate") == (
        [] if same else [(MANIFEST, len(lines))]
    )
    assert report.passed == same


@spec_reading("R10", "entries in the journal are read, and records may refer to them")
def test_the_journal_is_read(trail: CompleteTrail) -> None:
    key = context_hash(valid_records.prompt())
    trail.writer.files.write(
        "wal/1.jsonl", json.dumps({key: valid_records.prompt()}).encode() + b"\n" + b'{"torn'
    )
    assert valid_records.record_findings(trail, valid_records.line(trail), prompt_hash=key) == set()
    assert finding_fields(check_project(trail.root)) == {("journal-pending", None)}
    assert run_vibes(trail.root, "show", key, "--json").json["entry"] == valid_records.prompt()


@spec_reading(
    "R11",
    "an unknown major version is read as far as possible, with a warning; an unknown minor version without",
)
@pytest.mark.parametrize(("version", "warned"), [("2.0", True), ("1.9", False)])
def test_an_unknown_version_is_read(trail: CompleteTrail, version: str, warned: bool) -> None:
    trail.writer.config(standard_version=version)
    report = check_project(trail.root)
    assert report.passed
    assert finding_fields(report) == (
        {("version-unsupported", "standard_version")} if warned else set()
    )
    assert bool(run_vibes(trail.root, "log").err) == warned


@spec_reading("R13", "missing git settings for the trail are reported")
def test_missing_git_housekeeping_is_reported(trail: CompleteTrail) -> None:
    Repository(trail.root)
    assert finding_fields(check_project(trail.root)) == set()
    for name in (".gitignore", ".gitattributes"):
        (trail.root / AUDIT_DIR / name).write_bytes(b"")
    report = check_project(trail.root)
    assert finding_fields(report) == {("git-ignore", None), ("git-attributes", None)}
    assert report.passed


@spec_reading(
    "R13",
    "a manifest that git ignores on purpose is one note; its contexts are shown as not published",
)
def test_a_manifest_may_be_unpublished(trail: CompleteTrail) -> None:
    repository = Repository(trail.root)
    (trail.root / MANIFEST).unlink()
    assert severities(check_project(trail.root), "manifest-missing") == {"error"}
    repository.write(".gitignore", "manifest.json\n")
    report = check_project(trail.root)
    assert finding_fields(report) == {("manifest-missing", None)}
    assert severities(report, "manifest-missing") == {"note"}
    assert "not published" in run_vibes(trail.root, "show", trail.created).out
    assert (trail.root / LOG).is_file()
