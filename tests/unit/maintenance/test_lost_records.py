"""Lines that a merge of texts repeated leave the log; nothing else in it changes."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.unit.store.empty_trail import new_trail
from vibes_lsp.maintenance.lost_records import remove_repeated

if TYPE_CHECKING:
    from pathlib import Path

    from vibes_lsp.store.audit_dir import AuditDir

FIRST = b'{"annotation_id":"1","type":"line"}'
SECOND = b'{"annotation_id":"2","type":"line"}'


@pytest.fixture
def directory(tmp_path: Path) -> AuditDir:
    return new_trail(tmp_path)


@pytest.mark.parametrize(
    ("log", "kept"),
    [
        (FIRST + b"\n" + SECOND + b"\n" + FIRST + b"\n", FIRST + b"\n" + SECOND + b"\n"),
        (FIRST + b"\r\n" + FIRST + b"\r\n", FIRST + b"\r\n"),
        (FIRST + b"\n" + SECOND + b"\n" + FIRST, FIRST + b"\n" + SECOND + b"\n"),
        (FIRST + b"\n\n\n" + SECOND + b"\n\n", FIRST + b"\n\n" + SECOND + b"\n"),
    ],
)
def test_what_is_repeated_byte_for_byte_is_there_once(
    directory: AuditDir, log: bytes, kept: bytes
) -> None:
    directory.log.write_bytes(log)
    remove_repeated(directory)
    assert directory.log.read_bytes() == kept


@pytest.mark.parametrize(
    "log",
    [
        b"",
        FIRST,
        FIRST + b"\n" + SECOND,
        FIRST + b"\r\n" + FIRST + b"\n",
        FIRST + b"\n\n\r\n" + SECOND + b"\n",
        (FIRST + b"\n" + SECOND + b"\n").replace(b"{", b"{\r").replace(b",", b",\r"),
    ],
)
def test_a_log_that_repeats_nothing_is_not_written_again(directory: AuditDir, log: bytes) -> None:
    """A lone carriage return is white space between members, and ends no line."""
    directory.log.write_bytes(log)
    before = directory.log.stat()
    remove_repeated(directory)
    assert directory.log.read_bytes() == log
    after = directory.log.stat()
    assert (after.st_ino, after.st_mtime_ns) == (before.st_ino, before.st_mtime_ns)
