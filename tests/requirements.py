"""What some tests need from outside: present, or the reason is printed; never a silent pass."""

import os
import shutil
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).resolve().parents[1]
TOOLS = REPOSITORY / ".tools" / "bin"
"""Where `make tools` puts the programs that the system lacks."""


def in_ci() -> bool:
    """Whether this run is CI's, where a missing tool is a failure and not an excuse."""
    return os.environ.get("CI", "").lower() in {"1", "true"}


def require(path_or_tool: Path | str, why: str) -> Path:
    """Return where the thing is; if it is absent, fail in CI and skip elsewhere, saying why it is needed.

    Args:
        path_or_tool: A path that must exist, or the name of a program that must be on PATH or among the tools.
        why: What the test needs it for, as in "reads real history".
    """
    if isinstance(path_or_tool, Path):
        found = path_or_tool if path_or_tool.exists() else None
    else:
        program = shutil.which(path_or_tool) or shutil.which(path_or_tool, path=str(TOOLS))
        found = Path(program) if program else None
    if found is None:
        reason = f"{path_or_tool} is absent, needed because: {why}"
        if in_ci():
            pytest.fail(reason)
        pytest.skip(reason)
    return found
