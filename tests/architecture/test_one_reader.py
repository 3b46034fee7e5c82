"""Files that other programs made are opened in one place: regular, bounded, without waiting."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Final

from tests.architecture import source_tree
from tests.requirements import REPOSITORY

if TYPE_CHECKING:
    from collections.abc import Iterator

READERS: Final = {
    "vibes_lsp/store/files.py": "the one reader",
    "vibes_lsp/ingest/hook.py": "a hook loads nothing; the flags are the same",
    "vibes_lsp/cli/main.py": "the null device, for standard output that was closed",
    "vibes_lsp/agents/setup/configuration.py": "our own package",
    "vibes_lsp/agents/setup/instruction_block.py": "our own package",
}
_METHODS: Final = frozenset({"read_bytes", "read_text", "open"})
_MODULES: Final = frozenset({"os", "io"})


def _opened(tree: ast.AST) -> Iterator[int]:
    """Yield the lines that open a file: by `open`, by `os`, or by a method of a path."""
    for node in ast.walk(tree):
        if not isinstance(node, ast.Call) or any(each.arg == "fileobj" for each in node.keywords):
            continue
        called = node.func
        if isinstance(called, ast.Name) and called.id == "open":
            yield node.lineno
        elif isinstance(called, ast.Attribute) and called.attr in _METHODS:
            is_of_os = isinstance(called.value, ast.Name) and called.value.id in _MODULES
            is_mode = not node.args or isinstance(node.args[0], ast.Constant)
            if is_of_os or (is_mode and called.attr == "open") or not node.args:
                yield node.lineno


def test_no_other_module_opens_files() -> None:
    found = {
        f"{path.as_posix()}:{line}"
        for path in source_tree.product_files()
        if path.suffix == ".py" and path.as_posix() not in READERS
        for line in _opened(ast.parse((REPOSITORY / path).read_text(encoding="utf-8")))
    }
    assert not found, "use store.files: open_file, read_file or read_beginning"


def test_each_exception_opens_files() -> None:
    idle = {
        name
        for name in READERS
        if not list(_opened(ast.parse((REPOSITORY / name).read_text(encoding="utf-8"))))
    }
    assert not idle
