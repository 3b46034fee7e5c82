"""The table of layers in `docs/architecture.md`: their order is the import contract's, their words are the packages' own."""

from __future__ import annotations

import ast
import tomllib
from pathlib import Path
from typing import Final

_REPOSITORY: Final = Path(__file__).parents[2]


def blocks() -> dict[str, list[str]]:
    """Return the lines of the block by its name, the lowest layer first."""
    rows = [f"| {_names(layer)} | {_purpose(layer)} |" for layer in reversed(_layers())]
    return {"layers": ["| layer | what it is for |", "|---|---|", *rows]}


def _layers() -> list[str]:
    configuration = tomllib.loads((_REPOSITORY / "pyproject.toml").read_text(encoding="utf-8"))
    contracts = configuration["tool"]["importlinter"]["contracts"]
    layers: list[str] = next(
        contract["layers"] for contract in contracts if contract["id"] == "layers"
    )
    return layers


def _names(layer: str) -> str:
    return ", ".join(f"`{name}`" for name in layer.split(" | "))


def _purpose(layer: str) -> str:
    """Return the first sentence of each package of a layer."""
    return " ".join(_first_paragraph(name) for name in layer.split(" | "))


def _first_paragraph(name: str) -> str:
    package = _REPOSITORY / "vibes_lsp" / name / "__init__.py"
    module = package if package.is_file() else package.parent.with_suffix(".py")
    docstring = ast.get_docstring(ast.parse(module.read_text(encoding="utf-8"))) or ""
    return " ".join(docstring.partition("\n\n")[0].split())
