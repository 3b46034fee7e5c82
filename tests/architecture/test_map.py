"""Modules, tests and pages that `docs/architecture.md` names exist."""

import re
from functools import reduce
from importlib import import_module
from pathlib import Path

from tests.requirements import REPOSITORY

PAGE = (REPOSITORY / "docs" / "architecture.md").read_text(encoding="utf-8")
LAYERS = {path.parent.name for path in (REPOSITORY / "vibes_lsp").glob("*/__init__.py")}
NAMED = sorted(
    {
        each
        for each in re.findall(r"`([a-z_]+(?:\.\w+)+)`", PAGE)
        if each.partition(".")[0] in LAYERS
    }
)
PATHS = sorted(set(re.findall(r"`((?:tests|editors|docs|lsp|benchmarks)/[\w./]+)`", PAGE)))


def test_the_modules_and_paths_on_the_map_are_there() -> None:
    assert [name for name in NAMED if not _is_there(name)] == []
    folders = (REPOSITORY, REPOSITORY / "vibes_lsp")
    assert [path for path in PATHS if not any((each / path).exists() for each in folders)] == []


def _is_there(name: str) -> bool:
    """Whether there is a module, or a name in one."""
    parts = name.split(".")
    depth = next((depth for depth in range(len(parts), 0, -1) if _is_module(parts[:depth])), 0)
    if not depth:
        return False
    module = import_module(".".join(["vibes_lsp", *parts[:depth]]))
    try:
        reduce(getattr, parts[depth:], module)
    except AttributeError:
        return False
    return True


def test_the_map_names_every_layer() -> None:
    (listing,) = re.findall(r"^```\n(errors .*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
    assert {name for line in listing.splitlines() for name in _names(line)} == LAYERS | {
        "errors",
        "patience",
    }


def _names(line: str) -> list[str]:
    """Return the layers that a line of the list is about; a long name has a line of its own."""
    return (line[:12] if " " in line else line).split()


def _is_module(parts: list[str]) -> bool:
    place = Path(REPOSITORY, "vibes_lsp", *parts)
    return place.is_dir() or place.with_suffix(".py").is_file()
