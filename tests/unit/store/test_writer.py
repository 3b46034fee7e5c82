"""Writing a trail (R9): acknowledged records and entries exist once and are readable."""

from __future__ import annotations

import gzip
import json
import threading
from typing import TYPE_CHECKING

import pytest

from tests.trails import annotation_id, context_hash
from tests.unit.store.empty_trail import leftover_files, new_trail, prompt, read_strictly, session
from vibes_lsp.errors import RefusedWrite, UnsupportedVersion
from vibes_lsp.store import files
from vibes_lsp.store.audit_dir import AuditDir
from vibes_lsp.store.file_stamps import file_stamp
from vibes_lsp.store.journal import entries_file
from vibes_lsp.store.locks import append_lock
from vibes_lsp.store.manifest import read_manifest
from vibes_lsp.store.reasoning import reasoning_text
from vibes_lsp.store.writer import AuditWriter

if TYPE_CHECKING:
    from pathlib import Path

    from vibes_lsp.model.members import Members
    from vibes_lsp.store.file_stamps import FileStamp


def test_an_entry_is_read_at_once_and_folded_later(
    directory: AuditDir, writer: AuditWriter
) -> None:
    before = directory.manifest.read_bytes()
    key = writer.entry(prompt("Größe?"))
    assert key == context_hash(prompt("Größe?"))
    assert read_manifest(directory).entry(key) == prompt("Größe?")
    assert directory.manifest.read_bytes() == before, "no tracked file changes while one works"
    assert writer.fold() == 1
    assert read_strictly(directory).entries[key] == prompt("Größe?")
    assert leftover_files(directory) == []


@pytest.mark.parametrize("name", ["annotations.jsonl", "entries.jsonl"])
def test_the_next_write_truncates_a_partial_line(
    directory: AuditDir, writer: AuditWriter, name: str
) -> None:
    key = writer.entry(prompt("a"))
    writer.append([session(1, prompt_hash=key)])
    path = directory.log if name == "annotations.jsonl" else entries_file(directory)
    status = path.stat()
    with append_lock(directory).acquire() as held:
        held.write_intent(f"{name} {status.st_ino} {status.st_size}")
    with path.open("ab") as file:
        file.write(b'{"unfinished":')
    writer.append([session(2, prompt_hash=writer.entry(prompt("b")))])
    assert b"unfinished" not in path.read_bytes()
    assert read_strictly(directory).lines == 2
    assert read_manifest(directory).journal_problems == ()


def test_records_get_their_ids_in_order(directory: AuditDir, writer: AuditWriter) -> None:
    given: list[Members] = [
        session(1),
        session(2, environment_hash=None, temperature=1.0, note="Größe \u2028\n"),
    ]
    ids = writer.append(given)
    assert ids == [annotation_id(session(1)), annotation_id({**given[1], "temperature": 1})]
    assert list(read_strictly(directory).records) == ids
    assert read_strictly(directory).records[ids[1]] == {**given[1], "annotation_id": ids[1]}
    assert b'"temperature":1,' in directory.log.read_bytes()


def test_a_known_or_repeated_record_is_written_once(
    directory: AuditDir, writer: AuditWriter
) -> None:
    first, second = writer.append([session(1), session(1)])
    assert first == second
    (third,) = writer.append([session(1)], known={first}.__contains__)
    assert third == first
    assert read_strictly(directory).lines == 1


def test_a_given_id_is_recomputed(writer: AuditWriter) -> None:
    (identifier,) = writer.append([session(1, annotation_id="f" * 64)])
    assert identifier == annotation_id(session(1))


def test_reasoning_is_stored_by_size(tmp_path: Path) -> None:
    directory = new_trail(
        tmp_path, compress_reasoning_threshold_bytes=10, external_blob_threshold_bytes=1000
    )
    writer = AuditWriter(directory)
    texts = ["short", "x" * 1000, "y" * 1001]
    keys = writer.entries(
        {**prompt(""), "type": "reasoning", "reasoning_text": body, "reasoning_model": "m"}
        for body in texts
    )
    writer.fold()
    entries = read_strictly(directory).entries
    assert ["reasoning_text" in entries[key] for key in keys] == [True, False, False]
    assert ["compressed" in entries[key] for key in keys] == [False, True, False]
    assert ["blob_path" in entries[key] for key in keys] == [False, False, True]
    manifest = read_manifest(directory)
    assert [reasoning_text(manifest.entry(key) or {}, directory) for key in keys] == texts
    (blob,) = directory.blobs.iterdir()
    assert context_hash(json.loads(gzip.decompress(blob.read_bytes()))) == blob.name.removesuffix(
        ".json.gz"
    )
    assert leftover_files(directory) == []
    before = file_stamp(blob)
    writer.entries(
        [{**prompt(""), "type": "reasoning", "reasoning_text": texts[2], "reasoning_model": "m"}]
    )
    assert file_stamp(blob) == before


def test_a_changed_config_applies_to_the_next_entry(
    directory: AuditDir, writer: AuditWriter
) -> None:
    entry: Members = {
        **prompt(""),
        "type": "reasoning",
        "reasoning_text": "x" * 50,
        "reasoning_model": "m",
    }
    inline = writer.entry(entry)
    members = json.loads(directory.config.read_bytes())
    directory.config.write_text(
        json.dumps({**members, "compress_reasoning_threshold_bytes": 10}), encoding="utf-8"
    )
    packed = writer.entry(entry)
    assert packed != inline
    assert "compressed" in (read_manifest(directory).entry(packed) or {})


@pytest.mark.parametrize("durability", ["full", None])
def test_full_durability_flushes_each_batch(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, durability: str | None
) -> None:
    directory = new_trail(tmp_path, durability=durability)
    files.make_ignored_folder(directory.journal)
    flushed: list[str] = []
    for module in ("appending", "files"):
        monkeypatch.setattr(
            f"vibes_lsp.store.{module}.flush_to_disk",
            lambda descriptor: flushed.append(str(descriptor)),
        )
    writer = AuditWriter(directory)
    writer.entries([prompt("a"), prompt("b")])
    writer.append([session(1), session(2)])
    assert len(flushed) == (2 if durability else 0)
    writer.sync()
    assert len(flushed) == (4 if durability else 2)


@pytest.mark.parametrize("place", ["manifest", "config"])
def test_an_unsupported_version_is_never_written(tmp_path: Path, place: str) -> None:
    directory = new_trail(tmp_path, **({"standard_version": "2.0"} if place == "config" else {}))
    if place == "manifest":
        directory.manifest.write_bytes(
            directory.manifest.read_bytes().replace(b'"version":"1.0"', b'"version":"2.1"')
        )
    before = {
        path: path.read_bytes() for path in (directory.manifest, directory.log, directory.config)
    }
    writer = AuditWriter(directory)
    for write in (lambda: writer.entry(prompt("a")), lambda: writer.append([session(1)])):
        with pytest.raises(UnsupportedVersion, match=r"2\."):
            write()
    directory.journal.mkdir(exist_ok=True)
    entries_file(directory).write_bytes(
        json.dumps({context_hash(prompt("a")): prompt("a")}).encode() + b"\n"
    )
    with pytest.raises(UnsupportedVersion):
        writer.fold()
    assert before == {path: path.read_bytes() for path in before}
    assert context_hash(prompt("a")) in read_manifest(directory)


def test_an_invalid_manifest_stays_and_nothing_is_lost(
    directory: AuditDir, writer: AuditWriter
) -> None:
    sound = directory.manifest.read_bytes()
    broken = sound.replace(b"{\n", b"{\n<<<<<<< HEAD\n", 1)
    directory.manifest.write_bytes(broken)
    key = writer.entry(prompt("a"))
    writer.append([session(1, prompt_hash=key)])
    with pytest.raises(RefusedWrite, match="line 2") as refused:
        writer.fold()
    assert "merge-conflict" in refused.value.message
    assert directory.manifest.read_bytes() == broken
    assert key in read_manifest(directory)
    directory.manifest.write_bytes(sound)
    assert writer.fold() == 1
    assert key in read_strictly(directory).entries


def test_an_invalid_or_too_long_record_adds_nothing(
    directory: AuditDir, writer: AuditWriter
) -> None:
    with pytest.raises(RefusedWrite, match="too long"):
        writer.append([session(1), session(2, note="x" * (8 << 20))])
    with pytest.raises(RefusedWrite, match="JSON"):
        writer.append([session(1), session(2, score=float("nan"))])
    with pytest.raises(RefusedWrite, match="JSON"):
        writer.entries([prompt("a"), prompt("b", score=float("inf"))])
    assert directory.log.read_bytes() == b""
    assert leftover_files(directory) == []


def test_without_a_trail_nothing_is_created(tmp_path: Path) -> None:
    writer = AuditWriter(AuditDir(tmp_path / ".ai-audit"))
    with pytest.raises(RefusedWrite) as refused:
        writer.entry(prompt("a"))
    assert "vibes init" in refused.value.hint
    assert writer.fold() == 0
    writer.sync()
    assert list(tmp_path.iterdir()) == []


def test_a_missing_manifest_and_log_are_created(tmp_path: Path) -> None:
    """A clone of a project that does not publish its manifest."""
    (tmp_path / ".ai-audit").mkdir()
    directory = AuditDir(tmp_path / ".ai-audit")
    with AuditWriter(directory) as writer:
        key = writer.entry(prompt("a"))
        writer.append([session(1)])
    found = read_strictly(directory)
    assert (list(found.entries), found.lines) == ([key], 1)


@pytest.mark.parametrize(
    "name",
    ["wal", "blobs", "wal/append.lock", "annotations.jsonl", "wal/entries.jsonl", "manifest.json"],
)
def test_a_link_out_of_the_trail_is_never_followed(tmp_path: Path, name: str) -> None:
    """A clone may contain any link; nothing outside may change."""
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "file").write_bytes(b"precious\n")
    directory = new_trail(
        tmp_path / "project",
        external_blob_threshold_bytes=10,
        compress_reasoning_threshold_bytes=10,
    )
    link = directory.path / name
    link.parent.mkdir(exist_ok=True)
    link.unlink(missing_ok=True)
    link.symlink_to(outside if name in ("wal", "blobs") else outside / "file")
    writer = AuditWriter(directory)

    def write_everything() -> None:
        writer.entry(
            {**prompt(""), "type": "reasoning", "reasoning_text": "x" * 50, "reasoning_model": "m"}
        )
        writer.append([session(1)])
        writer.fold()

    with pytest.raises(RefusedWrite):
        write_everything()
    assert [path.name for path in outside.iterdir()] == ["file"]
    assert (outside / "file").read_bytes() == b"precious\n"


def test_threads_share_a_writer(directory: AuditDir, writer: AuditWriter) -> None:
    failures: list[BaseException] = []

    def write(thread: int) -> None:
        try:
            for number in range(20):
                key = writer.entry(prompt(f"{thread} {number}"))
                writer.append([session(number, prompt_hash=key, thread=thread)])
                writer.fold(wait=False)
        except RefusedWrite as error:
            failures.append(error)

    threads = [threading.Thread(target=write, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    writer.close()
    found = read_strictly(directory)
    assert failures == []
    assert found.lines == 80
    assert {record["prompt_hash"] for record in found.records.values()} <= set(found.entries)
    assert leftover_files(directory) == []


def test_the_same_entry_again_writes_nothing(directory: AuditDir, writer: AuditWriter) -> None:
    key = writer.entry(prompt("a"))
    written = entries_file(directory).read_bytes()
    assert writer.entry(prompt("a", created_at="2027-01-01T00:00:00Z")) == key
    assert AuditWriter(directory).entry(prompt("a")) == key, (
        "another program finds it in the journal"
    )
    assert entries_file(directory).read_bytes() == written
    writer.fold()
    for each in (writer, AuditWriter(directory)):
        assert each.entry(prompt("a")) == key
    assert leftover_files(directory) == [], "found in the manifest"


def test_entries_of_other_programs_are_known(directory: AuditDir, writer: AuditWriter) -> None:
    other = AuditWriter(directory)
    for number in range(4):
        (writer, other)[number % 2].entry(prompt(str(number)))
    size = entries_file(directory).stat().st_size
    for number in range(4):
        (other, writer)[number % 2].entry(prompt(str(number)))
    assert entries_file(directory).stat().st_size == size


def test_an_entry_lost_with_its_manifest_is_written_again(
    directory: AuditDir, writer: AuditWriter
) -> None:
    """Git switches to a branch without it: a record there must not name a missing entry."""
    without = directory.manifest.read_bytes()
    key = writer.entry(prompt("a"))
    writer.fold()
    (directory.path / "switched").write_bytes(without)
    (directory.path / "switched").replace(directory.manifest)
    assert writer.entry(prompt("a")) == key
    assert key in read_manifest(directory)


def test_an_entry_lost_with_the_journal_is_written_again(
    directory: AuditDir, writer: AuditWriter
) -> None:
    key = writer.entry(prompt("a"))
    entries_file(directory).unlink()
    assert writer.entry(prompt("a")) == key
    assert key in read_manifest(directory)


def test_a_new_journal_with_the_same_inode_is_read_again(
    directory: AuditDir, writer: AuditWriter, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another program folded and started a journal with the same inode; git restored the manifest."""
    without = directory.manifest.read_bytes()
    key = writer.entry(prompt("a"))
    old = entries_file(directory).stat()
    other = AuditWriter(directory)
    other.fold()
    other.entry(prompt("b" * 999))
    other.entry(prompt("c"))
    assert entries_file(directory).stat().st_size > old.st_size

    def same_inode(path: Path) -> FileStamp | None:
        found = files.regular_file_stamp(path)
        return (
            found._replace(inode=old.st_ino)
            if found is not None and path == entries_file(directory)
            else found
        )

    monkeypatch.setattr("vibes_lsp.store.writer.regular_file_stamp", same_inode)
    directory.manifest.write_bytes(without)
    assert writer.entry(prompt("a")) == key
    assert key in read_manifest(directory)


def test_a_journal_replaced_by_another_program_is_read_again(
    directory: AuditDir, writer: AuditWriter
) -> None:
    key = writer.entry(prompt("a"))
    (directory.path / "old").hardlink_to(entries_file(directory))
    entries_file(directory).unlink()
    AuditWriter(directory).entry(prompt("b" * 999))
    assert writer.entry(prompt("a")) == key
    assert key in read_manifest(directory)
