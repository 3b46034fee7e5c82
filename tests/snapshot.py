"""Compares text with a snapshot file that is reviewed like code.

`VIBES_UPDATE_SNAPSHOTS=1 python -m pytest FILE_OF_THE_TEST` rewrites the snapshot.
"""

from __future__ import annotations

import difflib
import os
from typing import TYPE_CHECKING, Final

import pytest

from tests.requirements import REPOSITORY

if TYPE_CHECKING:
    from pathlib import Path

_UPDATE: Final = "VIBES_UPDATE_SNAPSHOTS"


def assert_snapshot(text: str, file: Path) -> None:
    """Fail with a diff where a text differs from its snapshot file.

    Args:
        text: What the product prints now.
        file: The snapshot, beside the test.
    """
    if os.environ.get(_UPDATE):
        file.write_text(text, encoding="utf-8", newline="\n")
        return
    expected = file.read_text(encoding="utf-8") if file.exists() else ""
    if text == expected:
        return
    diff = difflib.unified_diff(
        expected.splitlines(), text.splitlines(), "snapshot", "now", lineterm=""
    )
    name = file.relative_to(REPOSITORY).as_posix()
    test = os.environ.get("PYTEST_CURRENT_TEST", "").split("::")[0]
    command = f"{_UPDATE}=1 python -m pytest {test}"
    pytest.fail("\n".join([f"{name} differs; if intended, run `{command}`:", *diff]), pytrace=False)
