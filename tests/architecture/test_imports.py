"""The import contracts in pyproject.toml are kept, and programs that start often load nothing slow."""

import ast
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.architecture import source_tree
from tests.requirements import REPOSITORY

# Modules that start often or must answer fast, and packages that they must not load, even indirectly.
LIGHT = [
    ("vibes_lsp.trail.lookup", ("click", "pydantic", "pygls", "rich")),
    (
        "vibes_lsp.placing.project_locator",
        ("click", "pydantic", "pygls", "rapidfuzz", "rich", "tree_sitter"),
    ),
    ("vibes_lsp.lsp.lifecycle", ("click", "numpy", "rapidfuzz", "rich", "tree_sitter")),
    ("vibes_lsp.placing.locate_annotations", ("click", "pydantic", "pygls", "rich")),
    ("vibes_lsp.checks.report", ("pydantic", "pygls", "rich")),
    ("vibes_lsp.cli.main", ("pydantic", "pygls", "rich")),
    ("vibes_lsp.__main__", ("click", "dataclasses", "msgspec", "pathlib", "typing")),
]

LSP_FEATURES = Path("vibes_lsp/lsp/features")


def test_the_contracts_between_the_layers_are_kept() -> None:
    check = "import sys; from importlinter.cli import lint_imports; sys.exit(lint_imports(no_cache=True))"
    # rich draws its box with characters that a Windows pipe cannot take in its own encoding.
    environment = {**os.environ, "PYTHONUTF8": "1"}
    run = subprocess.run(
        [sys.executable, "-c", check],
        cwd=REPOSITORY,
        capture_output=True,
        encoding="utf-8",
        check=False,
        env=environment,
    )
    assert run.returncode == 0, run.stdout + run.stderr


@pytest.mark.parametrize(("module", "forbidden"), LIGHT, ids=[module for module, _ in LIGHT])
def test_importing_it_loads_nothing_slow(module: str, forbidden: tuple[str, ...]) -> None:
    listing = f"import json, sys; import {module}; print(json.dumps(sorted({{name.partition('.')[0] for name in sys.modules}})))"
    run = subprocess.run(
        [sys.executable, "-c", listing], cwd=REPOSITORY, capture_output=True, text=True, check=False
    )
    assert run.returncode == 0, run.stderr
    assert not set(forbidden) & set(json.loads(run.stdout))


def test_lsp_features_never_import_one_another() -> None:
    """Each module or package in `lsp/features/` is one feature; shared code is outside that folder."""
    prefix = ".".join(LSP_FEATURES.parts) + "."
    crossings = [
        f"{path.as_posix()} imports {imported}"
        for path in source_tree.python_files()
        if path.is_relative_to(LSP_FEATURES) and path.name != "__init__.py"
        for imported in _imports(path)
        if imported.startswith(prefix)
        and imported.split(".")[3] != path.relative_to(LSP_FEATURES).parts[0].removesuffix(".py")
    ]
    assert not crossings


def _imports(path: Path) -> set[str]:
    """Return the full names of all imports; `from a import b` counts as both `a` and `a.b`."""
    found: set[str] = set()
    for node in ast.walk(ast.parse((REPOSITORY / path).read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            found |= {node.module} | {f"{node.module}.{alias.name}" for alias in node.names}
    return found
