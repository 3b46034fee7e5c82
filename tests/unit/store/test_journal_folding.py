"""Folding the journal into the manifest (R10): atomic, for all programs, without leftovers."""

from __future__ import annotations

import errno
import json
import os
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.trails import Repository, context_hash
from tests.unit.store.empty_trail import leftover_files, new_trail, prompt, read_strictly, session
from vibes_lsp.errors import RefusedWrite
from vibes_lsp.store import journal_folding, manifest
from vibes_lsp.store.journal import entries_file, read_journal
from vibes_lsp.store.journal_folding import fold_journal
from vibes_lsp.store.locks import append_lock, fold_lock
from vibes_lsp.store.manifest import read_manifest
from vibes_lsp.store.manifest_format import add_entries
from vibes_lsp.store.writer import AuditWriter

if TYPE_CHECKING:
    from vibes_lsp.store.audit_dir import AuditDir
    from vibes_lsp.store.journal import Journal


def test_nothing_is_written_without_a_journal(directory: AuditDir) -> None:
    before = sorted(path.name for path in directory.path.iterdir())
    assert fold_journal(directory) == 0
    assert sorted(path.name for path in directory.path.iterdir()) == before


def test_one_folds_for_all(directory: AuditDir) -> None:
    writers = [AuditWriter(directory) for _ in range(5)]
    keys = {writer.entry(prompt(str(number))) for number, writer in enumerate(writers)}
    assert writers[3].fold() == 5
    assert keys <= set(read_strictly(directory).entries)
    assert [writer.fold() for writer in writers] == [0] * 5


def test_without_waiting_the_folding_program_does_it(
    directory: AuditDir, writer: AuditWriter, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("VIBES_PATIENCE", "0")
    writer.entry(prompt("a"))
    with fold_lock(directory).acquire():
        assert writer.fold(wait=False) == 0
        with pytest.raises(RefusedWrite, match=r"fold\.lock: held"):
            fold_journal(directory)
        key = writer.entry(prompt("b"))
    assert writer.fold(wait=False) == 2
    assert key in read_strictly(directory).entries


def test_entries_written_during_a_fold_are_folded(
    directory: AuditDir, writer: AuditWriter, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The late writer did not get the lock: its entry must not wait until the next write."""
    late = AuditWriter(directory)
    real = journal_folding._fold_once
    told: list[str] = []

    def fold_then_write(place: AuditDir) -> int:
        gained = real(place)
        if len(told) < 3:
            told.append(late.entry(prompt(f"late {len(told)}")))
            assert late.fold(wait=False) == 0
        return gained

    monkeypatch.setattr(journal_folding, "_fold_once", fold_then_write)
    writer.entry(prompt("a"))
    assert writer.fold() == 4
    assert set(told) <= set(read_strictly(directory).entries)
    assert leftover_files(directory) == []


def test_an_entry_written_after_the_read_stays_in_the_journal(
    directory: AuditDir, writer: AuditWriter, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = read_journal
    told: list[str] = []

    def read_then_write(place: AuditDir) -> Journal:
        journal = real(place)
        if not told:
            told.append(writer.entry(prompt("late")))
            directory.manifest.touch()
        return journal

    monkeypatch.setattr(journal_folding, "read_journal", read_then_write)
    monkeypatch.setattr(journal_folding, "_MAX_ROUNDS", 1)
    writer.entry(prompt("a"))
    assert writer.fold() == 1
    assert told[0] not in read_strictly(directory).entries
    assert told[0] in read_manifest(directory)
    assert writer.fold() == 1
    assert told[0] in read_strictly(directory).entries


def test_a_manifest_replaced_during_a_fold_is_read_again(
    directory: AuditDir, writer: AuditWriter, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Git replaces the manifest: neither its new entries nor the journal may be lost."""
    real = add_entries
    brought = directory.manifest.read_bytes().replace(
        b"}}\n", b',"%s":{"type":"other"}\n}}\n' % (b"b" * 64)
    )
    replaced: list[bool] = []

    def replace_meanwhile(*arguments: object) -> bytes:
        text = real(*arguments)  # type: ignore[arg-type]
        if not replaced:
            replaced.append(True)
            (directory.path / "new").write_bytes(brought)
            (directory.path / "new").replace(directory.manifest)
        return text

    monkeypatch.setattr(journal_folding, "add_entries", replace_meanwhile)
    key = writer.entry(prompt("a"))
    assert writer.fold() == 1
    assert {"b" * 64, key} <= set(json.loads(directory.manifest.read_bytes())["entries"])
    assert leftover_files(directory) == []


def test_a_reader_during_a_fold_misses_nothing(
    directory: AuditDir, writer: AuditWriter, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It reads one of the two files, then everything is folded, then it reads the other."""
    key = writer.entry(prompt("a"))
    for name in ("read_journal", "read_file"):
        real = getattr(manifest, name)

        def read_then_fold(*arguments: object, real: object = real, **named: object) -> object:
            found = real(*arguments, **named)  # type: ignore[operator]
            writer.fold()
            return found

        with monkeypatch.context() as patch:
            patch.setattr(manifest, name, read_then_fold)
            assert key in read_manifest(directory)
        key = writer.entry(prompt(name))


@pytest.mark.parametrize("failing", ["replace", "fsync"])
def test_a_failure_leaves_the_manifest_and_the_journal(
    directory: AuditDir, writer: AuditWriter, monkeypatch: pytest.MonkeyPatch, failing: str
) -> None:
    key = writer.entry(prompt("a"))
    before = directory.manifest.read_bytes()
    with monkeypatch.context() as patch:

        def refuse(*_: object) -> None:
            raise OSError(errno.ENOSPC, "No space left on device")

        patch.setattr(os, failing, refuse)
        with pytest.raises(RefusedWrite, match="No space left"):
            writer.fold()
    assert directory.manifest.read_bytes() == before
    assert leftover_files(directory) == [entries_file(directory).name], "no temporary file"
    assert writer.fold() == 1
    assert key in read_strictly(directory).entries


def test_remains_of_dead_programs_are_removed(directory: AuditDir, writer: AuditWriter) -> None:
    writer.append([session(1)])
    directory.journal.mkdir(exist_ok=True)
    (directory.journal / "0123.tmp").write_bytes(b"half of a mani")
    size = directory.log.stat().st_size
    with append_lock(directory).acquire() as held:
        held.write_intent(f"{directory.log.name} {directory.log.stat().st_ino} {size}")
    with directory.log.open("ab") as log:
        log.write(b'{"type":"sess')
    assert fold_journal(directory) == 0
    assert leftover_files(directory) == []
    assert read_strictly(directory).lines == 1


def test_a_journal_that_was_folded_but_not_removed_adds_nothing(
    directory: AuditDir, writer: AuditWriter
) -> None:
    writer.entry(prompt("a"))
    journal = entries_file(directory).read_bytes()
    writer.fold()
    manifest = directory.manifest.read_bytes()
    entries_file(directory).write_bytes(journal)
    assert writer.fold() == 0
    assert directory.manifest.read_bytes() == manifest
    assert leftover_files(directory) == []


def test_entries_in_the_files_of_other_tools_are_folded_and_the_files_stay(
    directory: AuditDir,
) -> None:
    """Their writers may have them open; a removed file would lose their next entries."""
    directory.journal.mkdir()
    other = directory.journal / "agent-7.jsonl"
    other.write_bytes(json.dumps({context_hash(prompt("a")): prompt("a")}).encode() + b'\n{"torn')
    before = other.read_bytes()
    assert fold_journal(directory) == 1
    assert context_hash(prompt("a")) in read_strictly(directory).entries
    assert other.read_bytes() == before
    assert fold_journal(directory) == 0


def test_a_lone_carriage_return_ends_no_entry(directory: AuditDir) -> None:
    directory.journal.mkdir()
    line = json.dumps({context_hash(prompt("a")): prompt("a")}).replace(", ", ",\r")
    (directory.journal / "agent-7.jsonl").write_bytes(f"{line}\r\n".encode())
    assert fold_journal(directory) == 1
    assert read_strictly(directory).entries[context_hash(prompt("a"))] == prompt("a")


def test_an_invalid_line_is_kept(directory: AuditDir, writer: AuditWriter) -> None:
    key = writer.entry(prompt("a"))
    with entries_file(directory).open("ab") as journal:
        journal.write(b"\0\0\0\0\n")
    assert writer.fold() == 1
    (kept,) = leftover_files(directory)
    assert kept != entries_file(directory).name, "what comes next must not wait beside it for ever"
    assert b"\0\0\0\0\n" in (directory.journal / kept).read_bytes()
    assert [name for name, _ in read_manifest(directory).journal_problems] == [kept]
    assert key in read_strictly(directory).entries
    writer.entry(prompt("b"))
    assert writer.fold() == 1
    assert leftover_files(directory) == [kept]


def test_permissions_of_the_manifest_stay(directory: AuditDir, writer: AuditWriter) -> None:
    directory.manifest.chmod(0o640)
    writer.entry(prompt("a"))
    writer.fold()
    assert directory.manifest.stat().st_mode & 0o777 == 0o640


def test_git_sees_only_the_manifest_and_the_log(tmp_path: Path) -> None:
    repository = Repository(tmp_path)
    directory = new_trail(tmp_path)
    repository.commit("Begin")
    writer = AuditWriter(directory)
    writer.entry(prompt("a"))
    assert repository.git("status", "--porcelain") == "", (
        "an entry that waits changes no tracked file"
    )
    (directory.journal / "0123.tmp").write_bytes(b"half")
    assert repository.git("status", "--porcelain") == ""
    writer.append([session(1)])
    writer.fold()
    assert repository.git("status", "--porcelain").split() == [
        "M",
        ".ai-audit/annotations.jsonl",
        "M",
        ".ai-audit/manifest.json",
    ]
