"""What is there already is not written again, and what only was there once is (R9): hashes never dangle."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from tests.unit.store.trail import left_behind, new_trail, prompt
from vibes_lsp.store import disk
from vibes_lsp.store.journal import own_file
from vibes_lsp.store.manifest import read_manifest
from vibes_lsp.store.writing import AuditWriter

if TYPE_CHECKING:
    from pathlib import Path

    from vibes_lsp.store.disk import Signature
    from vibes_lsp.store.layout import AuditDir


@pytest.fixture
def directory(tmp_path: Path) -> AuditDir:
    return new_trail(tmp_path)


@pytest.fixture
def writer(directory: AuditDir) -> AuditWriter:
    return AuditWriter(directory)


def test_the_same_entry_again_writes_nothing(directory: AuditDir, writer: AuditWriter) -> None:
    key = writer.entry(prompt("a"))
    written = own_file(directory).read_bytes()
    assert writer.entry(prompt("a", created_at="2027-01-01T00:00:00Z")) == key
    assert AuditWriter(directory).entry(prompt("a")) == key, (
        "another program finds it in the journal"
    )
    assert own_file(directory).read_bytes() == written
    writer.fold()
    for each in (writer, AuditWriter(directory)):
        assert each.entry(prompt("a")) == key
    assert left_behind(directory) == [], "found in the manifest"


def test_entries_of_other_programs_are_known_while_the_journal_grows(
    directory: AuditDir, writer: AuditWriter
) -> None:
    other = AuditWriter(directory)
    for number in range(4):
        (writer, other)[number % 2].entry(prompt(str(number)))
    size = own_file(directory).stat().st_size
    for number in range(4):
        (other, writer)[number % 2].entry(prompt(str(number)))
    assert own_file(directory).stat().st_size == size


def test_an_entry_that_went_with_its_manifest_is_written_again(
    directory: AuditDir, writer: AuditWriter
) -> None:
    """Git switches to a branch that never had it: a record that names it there must not name nothing."""
    without = directory.manifest.read_bytes()
    key = writer.entry(prompt("a"))
    writer.fold()
    (directory.path / "switched").write_bytes(without)
    (directory.path / "switched").replace(directory.manifest)
    assert writer.entry(prompt("a")) == key
    assert key in read_manifest(directory)


def test_an_entry_that_went_with_the_journal_is_written_again(
    directory: AuditDir, writer: AuditWriter
) -> None:
    key = writer.entry(prompt("a"))
    own_file(directory).unlink()
    assert writer.entry(prompt("a")) == key
    assert key in read_manifest(directory)


def test_a_journal_that_only_looks_like_the_old_one_is_read_anew(
    directory: AuditDir, writer: AuditWriter, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another program folded and began a new journal with the old one's inode, as file systems do; git took the manifest back."""
    without = directory.manifest.read_bytes()
    key = writer.entry(prompt("a"))
    old = own_file(directory).stat()
    other = AuditWriter(directory)
    other.fold()
    other.entry(prompt("b" * 999))
    other.entry(prompt("c"))
    assert own_file(directory).stat().st_size > old.st_size

    def same_inode(path: Path) -> Signature | None:
        found = disk.signature(path)
        return (
            replace(found, inode=old.st_ino)
            if found is not None and path == own_file(directory)
            else found
        )

    monkeypatch.setattr("vibes_lsp.store.writing.signature", same_inode)
    directory.manifest.write_bytes(without)
    assert writer.entry(prompt("a")) == key
    assert key in read_manifest(directory)


def test_a_journal_that_another_program_put_in_its_place_is_read_anew(
    directory: AuditDir, writer: AuditWriter
) -> None:
    key = writer.entry(prompt("a"))
    (directory.path / "old").hardlink_to(own_file(directory))
    own_file(directory).unlink()
    AuditWriter(directory).entry(prompt("b" * 999))
    assert writer.entry(prompt("a")) == key
    assert key in read_manifest(directory)
