"""Changes of the manifest and its journal (RFC 9.3, R10): when they are read again."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from tests.trails import context_hash
from tests.unit.store.followed_log import FixedClock, rewrite_unnoticed
from vibes_lsp.store.audit_dir import AuditDir
from vibes_lsp.store.manifest import Manifest, ManifestForm, read_manifest

if TYPE_CHECKING:
    from pathlib import Path

ONE: dict[str, object] = {"type": "prompt", "prompt_text": "One", "prompt_type": "other"}
TWO: dict[str, object] = {"type": "prompt", "prompt_text": "Zwei: größer", "prompt_type": "other"}
KEY_ONE, KEY_TWO = context_hash(ONE), context_hash(TWO)


@pytest.fixture
def directory(tmp_path: Path) -> AuditDir:
    (tmp_path / ".ai-audit").mkdir()
    return AuditDir(tmp_path / ".ai-audit")


def read(directory: AuditDir, content: bytes) -> Manifest:
    directory.manifest.write_bytes(content)
    return read_manifest(directory)


def whole(entries: object) -> bytes:
    return json.dumps({"standard": "VIBES", "version": "1.0", "entries": entries}).encode()


def line(key: str, entry: dict[str, object]) -> bytes:
    return json.dumps({key: entry}, ensure_ascii=False).encode()


def journal(directory: AuditDir, name: str, content: bytes) -> None:
    directory.journal.mkdir(exist_ok=True)
    (directory.journal / name).write_bytes(content)


def test_entries_of_the_journal_are_read_and_pending(directory: AuditDir) -> None:
    directory.manifest.write_bytes(whole({KEY_ONE: ONE}))
    journal(directory, "a.jsonl", line(KEY_ONE, ONE) + b"\n" + line(KEY_TWO, TWO) + b"\n")
    manifest = read_manifest(directory)
    assert manifest.form is ManifestForm.OBJECT
    assert list(manifest) == [KEY_ONE, KEY_TWO]
    assert manifest.pending == {KEY_TWO}
    assert manifest.line_of(KEY_TWO) is None
    assert manifest.journal_problems == ()


def test_a_partial_last_line_of_a_journal_waits(directory: AuditDir) -> None:
    torn = line(KEY_TWO, TWO)
    journal(directory, "a.jsonl", line(KEY_ONE, ONE) + b"\n" + torn[:-9])
    manifest = read_manifest(directory)
    assert (set(manifest), manifest.journal_problems) == ({KEY_ONE}, ())
    journal(directory, "a.jsonl", line(KEY_ONE, ONE) + b"\n" + torn + b"\n")
    assert set(read_manifest(directory, manifest)) == {KEY_ONE, KEY_TWO}


def test_an_invalid_journal_line_is_reported_and_hides_nothing(directory: AuditDir) -> None:
    journal(directory, "a.jsonl", b"<<<<<<<\n" + line(KEY_ONE, ONE) + b"\n[]\n")
    journal(directory, "b.jsonl", line(KEY_TWO, TWO) + b"\n")
    journal(directory, "notes.txt", b"not read\n")
    manifest = read_manifest(directory)
    assert set(manifest) == {KEY_ONE, KEY_TWO}
    ((name, problem),) = manifest.journal_problems
    assert name == "a.jsonl"
    assert "2 lines are not context entries" in str(problem)


def test_the_manifest_wins_over_the_journal(directory: AuditDir) -> None:
    directory.manifest.write_bytes(whole({KEY_ONE: ONE}))
    journal(directory, "a.jsonl", line(KEY_ONE, TWO) + b"\n")
    assert read_manifest(directory).entry(KEY_ONE) == ONE


def test_the_same_manifest_is_returned_while_nothing_changes(directory: AuditDir) -> None:
    absent = read_manifest(directory)
    assert read_manifest(directory, absent) is absent
    first = read(directory, whole({KEY_ONE: ONE}))
    assert read_manifest(directory, first) is first
    journal(directory, "a.jsonl", line(KEY_TWO, TWO) + b"\n")
    second = read_manifest(directory, first)
    assert second is not first
    assert read_manifest(directory, second) is second
    broken = read(directory, b"{")
    assert read_manifest(directory, broken) is broken


def test_a_rewrite_within_one_tick_of_the_file_times_is_seen_while_it_can_happen(
    directory: AuditDir,
) -> None:
    directory.manifest.write_bytes(whole({KEY_ONE: ONE}))
    clock = FixedClock(directory.manifest.stat().st_mtime_ns + 1)
    one = read_manifest(directory, now_ns=clock)
    assert read_manifest(directory, one, now_ns=clock) is one
    rewrite_unnoticed(directory.manifest, whole({KEY_ONE: {**ONE, "prompt_text": "Two"}}))
    # The rewrite is in the racy time, the next read long after it.
    clock.now += 3_600_000_000_000
    two = read_manifest(directory, one, now_ns=clock)
    assert two.entry(KEY_ONE) == {**ONE, "prompt_text": "Two"}
    rewrite_unnoticed(directory.manifest, whole({KEY_ONE: {**ONE, "prompt_text": "Six"}}))
    assert read_manifest(directory, two, now_ns=clock) is two, "a file this old is not read again"


def test_a_folder_in_its_place_is_reported_until_it_is_gone(directory: AuditDir) -> None:
    directory.manifest.mkdir()
    broken = read_manifest(directory)
    assert broken.form is ManifestForm.BROKEN
    assert "not a regular file" in str(broken.problem)
    assert read_manifest(directory, broken) is broken, "nothing changed"
    directory.manifest.rmdir()
    assert read_manifest(directory, broken).form is ManifestForm.ABSENT


def test_a_manifest_that_may_be_read_again_is_read(
    directory: AuditDir, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A fake denies access, because the tests may run with all permissions; no time changes."""
    directory.manifest.write_bytes(whole({KEY_ONE: ONE}))

    def refuse(*_: object) -> int:
        raise PermissionError(13, "Permission denied")

    with monkeypatch.context() as patch:
        patch.setattr("vibes_lsp.store.files.os.open", refuse)
        broken = read_manifest(directory)
        assert "Permission denied" in str(broken.problem)
    assert read_manifest(directory, broken).entry(KEY_ONE) == ONE


def test_while_only_the_journal_grows_the_manifest_is_not_read_again(
    directory: AuditDir, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each recorded edit adds to the journal, and a manifest may have a hundred megabytes."""
    directory.manifest.write_bytes(whole({KEY_ONE: ONE}))
    clock = FixedClock()
    first = read_manifest(directory, now_ns=clock)
    with monkeypatch.context() as patch:
        patch.setattr("vibes_lsp.store.manifest.read_file", None)
        journal(directory, "a.jsonl", line(KEY_TWO, TWO) + b"\n")
        second = read_manifest(directory, first, now_ns=clock)
    assert (list(second), set(second.pending), len(second)) == ([KEY_ONE, KEY_TWO], {KEY_TWO}, 2)
    assert (second.entry(KEY_ONE), second.entry(KEY_TWO)) == (ONE, TWO)
    assert set(first) == {KEY_ONE}, "what was read before stays what it was"
    (directory.journal / "a.jsonl").unlink()
    assert list(read_manifest(directory, second, now_ns=clock)) == [KEY_ONE]
