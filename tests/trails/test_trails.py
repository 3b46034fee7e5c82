"""The writer of the tests: its trails are valid, and its merges equal those of git."""

from __future__ import annotations

import base64
import gzip
import itertools
import json
import random
from typing import TYPE_CHECKING, Any

import pytest

from tests.trails import (
    OMIT,
    SOURCES,
    Repository,
    TrailWriter,
    anchors,
    annotation_id,
    complete,
    context_hash,
    corrupt_manifest,
    gzipped,
    merge_logs,
    quirks,
    rewrite_log,
    variant_of,
)

if TYPE_CHECKING:
    from pathlib import Path


def manifest(root: Path) -> dict[str, dict[str, Any]]:
    entries: dict[str, dict[str, Any]] = json.loads(
        (root / ".ai-audit/manifest.json").read_bytes()
    )["entries"]
    return entries


def log(root: Path) -> list[dict[str, Any]]:
    return [
        json.loads(line)
        for line in (root / ".ai-audit/annotations.jsonl").read_bytes().splitlines()
    ]


@pytest.mark.parametrize("level", ["low", "medium", "high"])
def test_the_complete_trail_is_valid_at_each_level(tmp_path: Path, level: str) -> None:
    trail = complete(tmp_path, level)
    entries, records = manifest(tmp_path), log(tmp_path)
    by_id = {record["annotation_id"]: record for record in records}
    sessions = {record["session_id"] for record in records if record["type"] == "session"}
    assert len(by_id) == len(records)
    assert all(context_hash(entry) == key for key, entry in entries.items())
    assert all(annotation_id(record) == key for key, record in by_id.items())
    for record in records:
        assert {
            value for name, value in record.items() if name.endswith("_hash") and value in entries
        } == {
            record[f"{name}_hash"]
            for name in (
                "environment",
                "command",
                "prompt",
                "reasoning",
                "decision",
                "parent_environment",
                "child_environment",
            )
            if f"{name}_hash" in record
        }
        if record["type"] == "edge":
            known = {"annotation": by_id, "context": entries, "session": sessions}
            assert record["source_ref"] in known[record["source_type"]]
            assert record["target_ref"] in known[record["target_type"]]
    starts = [record["session_id"] for record in records if record.get("event") == "start"]
    ends = [record["session_id"] for record in records if record.get("event") == "end"]
    assert sorted(starts) == sorted(ends)
    assert [by_id[edge]["source_ref"] for edge in trail.causes] == [
        *trail.current[:4],
        trail.pending,
    ]
    assert ("prompt_hash" in by_id[trail.created]) == (level != "low")
    assert ("reasoning_hash" in by_id[trail.created]) == (level == "high")


def test_anchors_of_the_complete_trail_fit_its_sources(tmp_path: Path) -> None:
    trail = complete(tmp_path)
    for record in log(tmp_path):
        if record.get("annotation_id") in trail.current and record["type"] == "line":
            text = SOURCES[record["file_path"]]
            assert (tmp_path / record["file_path"]).read_bytes() == text.encode()
            made = anchors(text, record["line_start"], record["line_end"]).members()
            assert {name: record[name] for name in made} == made


def test_reasoning_forms_contain_the_same_text(tmp_path: Path) -> None:
    trail = complete(tmp_path, "high")
    entries = manifest(tmp_path)
    assert trail.compressed_reasoning
    assert trail.external_reasoning
    packed = base64.b64decode(entries[trail.compressed_reasoning]["reasoning_text_compressed"])
    assert packed[4:8] == bytes(4)
    assert packed[9] == 255
    assert gzip.decompress(packed).startswith(b"Length first.")
    path = entries[trail.external_reasoning]["blob_path"]
    blob = json.loads(gzip.decompress((tmp_path / ".ai-audit" / path).read_bytes()))
    assert path == f"blobs/{context_hash(blob)}.json.gz"
    assert blob["reasoning_text"].startswith("Windows slide.")


def test_same_calls_same_bytes(tmp_path: Path) -> None:
    made = [
        complete(tmp_path / name, "high").writer.files.log.read_bytes() for name in ("one", "two")
    ]
    assert made[0] == made[1]
    assert gzipped(b"") == gzipped(b"")
    assert gzip.decompress(gzipped(b"text" * 1000)) == b"text" * 1000


def test_each_quirk_is_found_by_its_name(tmp_path: Path) -> None:
    trail = quirks(tmp_path / "project")
    entries, records = manifest(trail.root), log(trail.root)
    by_id = {
        annotation_id(record) if "annotation_id" not in record else record["annotation_id"]: record
        for record in records
    }
    for quirk in trail.items.values():
        for key in quirk.keys:
            assert variant_of(entries[key], key) in {quirk.variant, "spec"}
        for key in quirk.records:
            assert annotation_id(by_id[key], quirk.variant or "spec") == key
    assert trail["stray-commit"].value not in trail.repository.git("rev-list", "HEAD").split()
    assert trail.repository.git("status", "--short") == ""
    prefix = int(trail["stale-attestation"].value or 0)
    assert records[prefix]["annotation_id"] == trail["stale-attestation"].records[0]


def test_rewriting_the_log_and_cutting_the_manifest(tmp_path: Path) -> None:
    trail = quirks(tmp_path / "project")
    assert rewrite_log(trail.root, trail.head) > 0
    one = next(
        record
        for record in log(trail.root)
        if record.get("annotation_id") == trail["uncommitted"].records[0]
    )
    assert one["commit_hash"] == trail.head
    assert annotation_id(one, "less-commit") == one["annotation_id"]
    assert json.loads(corrupt_manifest(trail.root))
    with pytest.raises(json.JSONDecodeError):
        manifest(trail.root)


def test_members_override_add_and_leave_out(tmp_path: Path) -> None:
    writer = TrailWriter(tmp_path)
    with pytest.raises(ValueError, match="environment"):
        writer.line("a.py", 1, 2)
    writer.environment(tool_extensions=["git"], model_version=OMIT)
    one = writer.line(
        "a.py",
        1,
        2,
        prompt_hash=None,
        commit_hash=OMIT,
        extra="x",
        timestamp="2026-01-01T00:00:00Z",
    )
    writer.edge("supersedes", one, one, old_names=True)
    writer.line("a.py", 1, 2, action=OMIT, timestamp=OMIT)
    writer.record({"type": "later", "annotation_id": OMIT})
    line, edge, bare, other = log(tmp_path)
    assert line["prompt_hash"] is None
    assert line["extra"] == "x"
    assert line["timestamp"] == "2026-01-01T00:00:00Z"
    assert "commit_hash" not in line
    assert edge["source_id"] == edge["target_id"] == one == line["annotation_id"]
    assert "source_ref" not in edge
    assert not {"action", "timestamp"} & bare.keys()
    (environment,) = manifest(tmp_path).values()
    assert "model_version" not in environment
    assert other == {"type": "later"}


def test_anchor_context_is_cut_at_a_character() -> None:
    made = anchors("é" * 200 + "\r\nb\r\n", 1, 2)
    assert made.anchor_context == "é" * 128
    assert made.anchor_hash == anchors("é" * 200 + "\nb", 1, 2).anchor_hash
    with pytest.raises(ValueError, match="not within"):
        anchors("a\n", 1, 2)


def test_union_merge_in_git_of_two_branches(tmp_path: Path) -> None:
    repository = Repository(tmp_path)
    writer = TrailWriter(tmp_path)
    writer.housekeeping()
    writer.reviewer_environment()
    writer.session_start(environment=writer.environment())
    files = (writer.files.log, writer.files.manifest)
    repository.commit("Start")
    base = [file.read_bytes() for file in files]
    repository.switch("topic", create=True)
    TrailWriter(tmp_path, start="2026-02-04T10:00:00Z").line(
        "a.py", 1, 2, environment=writer.prompt("One")
    )
    theirs = [file.read_bytes() for file in files]
    repository.commit("Topic")
    repository.switch("main")
    TrailWriter(tmp_path, start="2026-02-05T10:00:00Z").line(
        "b.py", 1, 2, environment=writer.prompt("Two")
    )
    ours = [file.read_bytes() for file in files]
    repository.commit("Main")
    repository.merge("topic")
    assert [file.read_bytes() for file in files] == [
        merge_logs(*sides) for sides in zip(base, ours, theirs, strict=True)
    ]
    assert len(manifest(tmp_path)) == 4
    assert len(log(tmp_path)) == 3


def test_merge_logs_is_what_git_does(tmp_path: Path) -> None:
    repository = Repository(tmp_path)
    choose = random.Random(1)
    base = b"base 1\nbase 2\n"
    pool = [f"line {number}\n".encode() for number in range(12)]
    for foot in (b"", b"}}\n"):
        for _ in range(40):
            common = choose.sample(pool, choose.randint(0, 6))
            sides = []
            for name in ("ours", "theirs"):
                added = list(common)
                for number in range(choose.randint(0, 4)):
                    added.insert(choose.randint(0, len(added)), f"{name} {number}\n".encode())
                sides.append(base + b"".join(added) + foot)
            for name, text in zip(("base", "ours", "theirs"), (base + foot, *sides), strict=True):
                repository.write(name, text)
            merged = repository.git("merge-file", "--union", "-p", "ours", "base", "theirs")
            assert merge_logs(base + foot, *sides).decode().removesuffix("\n") == merged


def test_merge_logs_rejects_changed_lines() -> None:
    with pytest.raises(ValueError, match="only have added"):
        merge_logs(b"a\nb\n", b"a\n", b"a\nb\nc\n")


def test_sessions_of_one_writer_differ(tmp_path: Path) -> None:
    writer = TrailWriter(tmp_path)
    writer.environment()
    ids = [writer.session_start() for _ in range(3)]
    assert all(one != other for one, other in itertools.pairwise(sorted(ids)))
