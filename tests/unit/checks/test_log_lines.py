"""Lines of a version that the log on disk does not have, wherever they are."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING

from hypothesis import given
from hypothesis import strategies as st

from vibes_lsp.checks.log_lines import LineSet, LinesOnDisk
from vibes_lsp.git.log_additions import record_id_of
from vibes_lsp.store import bounded_lines as module
from vibes_lsp.store.audit_dir import AuditDir
from vibes_lsp.store.bounded_lines import bounded_lines

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    import pytest

LINES = st.lists(st.sampled_from([b"", b" ", b"a", b"b", b"c", b"long" * 100]), max_size=8)


@given(LINES, LINES)
def test_a_set_of_lines_has_these_and_no_others(lines: list[bytes], asked: list[bytes]) -> None:
    found = LineSet(lines)
    assert [line in found for line in asked] == [line in set(lines) for line in asked]


def test_missing_lines_are_found_as_in_a_set(
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    audit = tmp_path_factory.mktemp("project") / ".ai-audit"
    audit.mkdir()
    log = audit / "annotations.jsonl"

    @given(LINES, LINES, st.sampled_from([b"\n", b"\r\n"]), st.booleans())
    def compare(disk: list[bytes], version: list[bytes], end: bytes, ended: bool) -> None:
        log.write_bytes(end.join(disk) + (end if ended else b""))
        missing = list(LinesOnDisk(AuditDir(audit)).missing(iter(version)))
        assert missing == [
            (number, line)
            for number, line in enumerate(version, 1)
            if line.strip() and line not in set(disk)
        ]

    compare()


def test_lines_that_another_log_lacks_are_numbered_as_by_a_set(
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    audit = tmp_path_factory.mktemp("project") / ".ai-audit"
    audit.mkdir()
    log = audit / "annotations.jsonl"

    @given(LINES, LINES, st.booleans(), st.sampled_from([b"\n", b"\r\n"]))
    def compare(same: list[bytes], other: list[bytes], grown: bool, end: bytes) -> None:
        disk = [*same, *other] if grown else other
        log.write_bytes(end.join(disk))
        assert LinesOnDisk(AuditDir(audit)).not_in(lambda: iter(same)) == {
            number for number, line in enumerate(disk, 1) if line.strip() and line not in set(same)
        }

    compare()


def test_lines_that_are_too_long_are_compared_whole_and_never_read_whole(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "MAX_LINE", 100)
    monkeypatch.setattr(module, "CHUNK", 10)
    log = tmp_path / "annotations.jsonl"
    texts = [b"x" * 1_000 + end for end in (b"a", b"b", b"c")]
    log.write_bytes(b"short\n" + b"\r\n".join(texts))
    found = list(LinesOnDisk(AuditDir(tmp_path)))
    assert found[0] == b"short"
    assert len(set(found)) == 4
    assert all(100 < len(line) < 200 and not record_id_of(line) for line in found[1:])

    def others() -> Iterator[bytes]:  # as git has them
        return (line[:-1] for line in bounded_lines(io.BytesIO(b"%b\n%b\n" % (texts[2], texts[0]))))

    assert [number for number, _ in LinesOnDisk(AuditDir(tmp_path)).missing(others())] == []
    assert LinesOnDisk(AuditDir(tmp_path)).not_in(others) == {1, 3}


def test_without_a_log_all_lines_are_missing(tmp_path: Path) -> None:
    assert list(LinesOnDisk(AuditDir(tmp_path)).missing([b"a", b""])) == [(1, b"a")]
