"""Modules stay small and have descriptive names."""

import ast
import re

from tests.architecture import source_tree
from tests.requirements import REPOSITORY

LONGEST = 500

# Path -> why this module may be longer. The reason must say what splitting it would cost a reader.
LONG_FOR_A_REASON: dict[str, str] = {}

EMPTY_NAMES = {"util", "utils", "helper", "helpers", "common", "manager", "managers", "misc"}


def test_no_module_is_longer_than_the_cap_except_for_a_listed_reason() -> None:
    lengths = {
        path.as_posix(): len((source_tree.text_of(path) or "").splitlines())
        for path in source_tree.python_files()
    }
    too_long = {
        path: lines
        for path, lines in lengths.items()
        if lines > LONGEST and path not in LONG_FOR_A_REASON
    }
    assert not too_long, f"over {LONGEST} lines: split them, or list them with a reason"


def test_every_listed_exception_is_still_needed() -> None:
    long = {
        path.as_posix()
        for path in source_tree.python_files()
        if len((source_tree.text_of(path) or "").splitlines()) > LONGEST
    }
    assert set(LONG_FOR_A_REASON) <= long, "these exceptions are no longer needed"
    assert all(LONG_FOR_A_REASON.values()), "an exception needs a reason"


def test_no_module_of_the_product_has_a_meaningless_name() -> None:
    empty = [
        path.as_posix()
        for path in source_tree.product_files()
        for part in (*path.parts[:-1], path.stem)
        if EMPTY_NAMES & set(re.split(r"[_\W]+", part.lower()))
    ]
    assert not empty, "name a module for its subject"


def test_public_class_names_are_unique() -> None:
    places: dict[str, list[str]] = {}
    for path in source_tree.product_files():
        tree = ast.parse((REPOSITORY / path).read_text(encoding="utf-8"))
        for node in tree.body:
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                places.setdefault(node.name, []).append(path.as_posix())
    assert not {name: found for name, found in places.items() if len(found) > 1}
