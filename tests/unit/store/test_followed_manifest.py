"""A manifest that other writers of the same and of other programs change."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.unit.store.empty_trail import new_trail, prompt
from vibes_lsp.errors import RefusedWrite
from vibes_lsp.store.journal import entries_file
from vibes_lsp.store.locks import fold_lock
from vibes_lsp.store.manifest import Manifest, read_manifest
from vibes_lsp.store.writer import AuditWriter
from vibes_lsp.trail.trail import Trail

if TYPE_CHECKING:
    from vibes_lsp.store.audit_dir import AuditDir


def test_a_manifest_of_another_program_is_read(directory: AuditDir) -> None:
    trail = Trail(directory)
    writer = AuditWriter(directory)
    trail.refresh()
    mine = writer.entry(prompt("a"))
    writer.fold()
    other = AuditWriter(directory)
    theirs = other.entry(prompt("b"))
    other.fold()
    trail.refresh()
    assert mine in trail.manifest
    assert theirs in trail.manifest
    assert writer.entry(prompt("b")) == theirs
    assert not entries_file(directory).exists()


def test_a_replaced_journal_is_read_from_its_start(
    directory: AuditDir,
) -> None:
    """It has the inode of the old one, which file systems reuse at once, and is longer."""
    trail, writer = Trail(directory), AuditWriter(directory)
    writer.entry(prompt("a"))
    trail.refresh()
    others = new_trail(directory.path / "elsewhere")
    other = AuditWriter(others)
    keys = [other.entry(prompt(words * 300)) for words in "bcd"]
    entries_file(directory).write_bytes(entries_file(others).read_bytes())
    trail.refresh()
    assert all(key in trail.manifest for key in keys)


def test_an_idle_fold_does_not_wait_for_another_program(
    directory: AuditDir, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("VIBES_PATIENCE", "0")
    writer = AuditWriter(directory)
    key = writer.entry(prompt("a"))
    with fold_lock(directory).acquire():
        writer.close(wait=False)
        with pytest.raises(RefusedWrite):
            writer.close()
    assert key in read_manifest(directory).pending


def test_no_entry_is_looked_up_to_read_one_more(
    directory: AuditDir, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each look-up of a large manifest takes microseconds, and a journal has thousands."""
    writer = AuditWriter(directory)
    writer.entry(prompt("a"))
    writer.fold()
    trail = Trail(directory)
    trail.refresh()
    monkeypatch.setattr(Manifest, "__len__", None)
    monkeypatch.setattr(Manifest, "__contains__", None)
    keys = [writer.entry(prompt(words)) for words in "bcd"]
    trail.refresh()
    monkeypatch.undo()
    assert all(key in trail.manifest for key in keys)
