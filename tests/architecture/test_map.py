"""Modules, tests and pages that `docs/architecture.md` names exist."""

import re
from importlib import import_module
from operator import attrgetter
from pathlib import Path

import pytest

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


@pytest.mark.parametrize("name", NAMED)
def test_a_module_on_the_map_is_there(name: str) -> None:
    parts = name.split(".")
    depth = next(depth for depth in range(len(parts), 0, -1) if _is_module(parts[:depth]))
    module = import_module(".".join(["vibes_lsp", *parts[:depth]]))
    if depth < len(parts):
        attrgetter(".".join(parts[depth:]))(module)


@pytest.mark.parametrize("path", PATHS)
def test_a_path_on_the_map_is_there(path: str) -> None:
    assert (REPOSITORY / path).exists() or (REPOSITORY / "vibes_lsp" / path).exists()


def test_the_map_names_every_layer() -> None:
    (listing,) = re.findall(r"^```\n(errors .*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
    assert {name for line in listing.splitlines() for name in _names(line)} == LAYERS | {"errors"}


def _names(line: str) -> list[str]:
    """Return the layers that a line of the list is about; a long name has a line of its own."""
    return (line[:12] if " " in line else line).split()


def _is_module(parts: list[str]) -> bool:
    place = Path(REPOSITORY, "vibes_lsp", *parts)
    return place.is_dir() or place.with_suffix(".py").is_file()
