"""A new trail and its writer, for the tests that write to one."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

from tests.unit.store.empty_trail import new_trail
from tests.unit.store.followed_log import FixedClock, fixed_clock
from vibes_lsp.store.writer import AuditWriter

if TYPE_CHECKING:
    from pathlib import Path

    from vibes_lsp.store.audit_dir import AuditDir


@pytest.fixture
def clock() -> Iterator[FixedClock]:
    """The clock that file times are compared with: long after that of any file."""
    with fixed_clock() as clock:
        yield clock


@pytest.fixture
def directory(tmp_path: Path) -> AuditDir:
    return new_trail(tmp_path)


@pytest.fixture
def writer(directory: AuditDir) -> AuditWriter:
    return AuditWriter(directory)
