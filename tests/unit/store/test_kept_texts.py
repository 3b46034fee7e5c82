"""Texts that git may never have are kept for a while, and used only under their own hash."""

from __future__ import annotations

import os
import stat
from types import SimpleNamespace
from typing import TYPE_CHECKING

import pytest

from vibes_lsp.model.hashing import sha256
from vibes_lsp.store import kept_texts
from vibes_lsp.store.audit_dir import AuditDir
from vibes_lsp.store.kept_texts import MAX_TEXT, RETENTION_SECONDS, keep_text, read_kept_text

if TYPE_CHECKING:
    from pathlib import Path

NOW = 1_700_000_000.0


@pytest.fixture
def directory(tmp_path: Path) -> AuditDir:
    made = AuditDir(tmp_path / ".ai-audit")
    made.path.mkdir()
    return made


def keep(directory: AuditDir, data: bytes, now: float = NOW) -> str:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(kept_texts, "time", SimpleNamespace(time=lambda: now))
        keep_text(directory, sha256(data), data)
    return sha256(data)


def first_with(digit: str, size: int = 8) -> bytes:
    """Return a text whose hash begins with this digit."""
    texts = (f"{number:0{size}}".encode() for number in range(1000))
    return next(text for text in texts if sha256(text).startswith(digit))


def test_a_text_is_read_by_its_hash(directory: AuditDir) -> None:
    key = keep(directory, b"a = 1\n")
    assert keep(directory, b"a = 1\n") == key
    assert read_kept_text(directory, key) == b"a = 1\n"
    assert read_kept_text(directory, sha256(b"b")) is None


@pytest.mark.skipif(os.name == "nt", reason="Windows has other permissions")
def test_only_the_user_can_read_it(directory: AuditDir) -> None:
    keep(directory, b"a = 1\n")
    assert stat.S_IMODE(directory.kept_texts.stat().st_mode) == 0o700
    assert (directory.spool / ".gitignore").read_bytes() == b"*\n"


@pytest.mark.parametrize("name", ["", "../../config.json", "0" * 63, "0" * 64 + "\n", "A" * 64])
def test_what_is_no_hash_is_not_read(directory: AuditDir, name: str) -> None:
    assert read_kept_text(directory, name) is None


def test_other_content_under_a_hash_is_not_used(directory: AuditDir) -> None:
    key = keep(directory, b"a = 1\n")
    (directory.kept_texts / key).write_bytes(b"a = 2\n")
    assert read_kept_text(directory, key) is None


def test_large_texts_are_not_kept(directory: AuditDir) -> None:
    assert read_kept_text(directory, keep(directory, b"x" * (MAX_TEXT + 1))) is None
    assert not directory.kept_texts.exists()


def test_a_folder_that_leads_elsewhere_is_not_used(directory: AuditDir, tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    directory.spool.mkdir()
    try:
        directory.kept_texts.symlink_to(elsewhere, target_is_directory=True)
    except OSError:
        pytest.skip("no permission to create links")
    keep(directory, b"a = 1\n")
    assert list(elsewhere.iterdir()) == []


def test_old_texts_are_removed(directory: AuditDir) -> None:
    old = keep(directory, first_with("1"))
    os.utime(directory.kept_texts / old, (NOW - RETENTION_SECONDS - 1,) * 2)
    recent = keep(directory, first_with("2"))
    os.utime(directory.kept_texts / recent, (NOW - RETENTION_SECONDS + 1,) * 2)
    keep(directory, first_with("0"))
    assert read_kept_text(directory, old) is None
    assert read_kept_text(directory, recent) is not None


def test_the_oldest_are_removed_above_the_limit(
    directory: AuditDir, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(kept_texts, "MAX_KEPT", 20)
    keys = [keep(directory, first_with(digit), NOW + int(digit)) for digit in "123"]
    for number, key in enumerate(keys):
        os.utime(directory.kept_texts / key, (NOW + number,) * 2)
    keep(directory, first_with("0"))
    kept = [key for key in keys if read_kept_text(directory, key) is not None]
    assert kept == keys[2:]
