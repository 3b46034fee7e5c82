"""Stored entries are not written again, and lost ones are (R9): no hash dangles."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from tests.unit.store.empty_trail import leftover_files, new_trail, prompt
from vibes_lsp.store import files
from vibes_lsp.store.journal import entries_file
from vibes_lsp.store.manifest import read_manifest
from vibes_lsp.store.writer import AuditWriter

if TYPE_CHECKING:
    from pathlib import Path

    from vibes_lsp.store.audit_dir import AuditDir
    from vibes_lsp.store.files import FileSignature


@pytest.fixture
def directory(tmp_path: Path) -> AuditDir:
    return new_trail(tmp_path)


@pytest.fixture
def writer(directory: AuditDir) -> AuditWriter:
    return AuditWriter(directory)


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

    def same_inode(path: Path) -> FileSignature | None:
        found = files.file_signature(path)
        return (
            replace(found, inode=old.st_ino)
            if found is not None and path == entries_file(directory)
            else found
        )

    monkeypatch.setattr("vibes_lsp.store.writer.file_signature", same_inode)
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
