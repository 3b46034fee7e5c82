"""A new trail and its writer, for the tests that write to one."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.unit.store.empty_trail import new_trail
from vibes_lsp.store.writer import AuditWriter

if TYPE_CHECKING:
    from pathlib import Path

    from vibes_lsp.store.audit_dir import AuditDir


@pytest.fixture
def directory(tmp_path: Path) -> AuditDir:
    return new_trail(tmp_path)


@pytest.fixture
def writer(directory: AuditDir) -> AuditWriter:
    return AuditWriter(directory)
