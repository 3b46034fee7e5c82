"""The catalogue of checks; each check has a test with exactly its finding."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

from vibes_lsp.checks.catalogue import ALL


def test_ids_are_unique_and_in_kebab_case() -> None:
    ids = [check.id for check in ALL]
    assert len(ids) == len(set(ids)) >= 50
    assert not [each for each in ids if not re.fullmatch(r"[a-z]+(-[a-z]+)*", each)]


@pytest.mark.parametrize("check", ALL, ids=lambda check: check.id)
def test_every_check_says_what_why_and_what_to_do(check: object) -> None:
    texts = [getattr(check, name) for name in ("title", "why", "fix")]
    assert all(texts)
    assert not texts[0].endswith(".")
    assert all(text.endswith((".", ")")) for text in texts[1:])


def test_every_check_has_a_test_that_shows_its_finding() -> None:
    """The test has the name of the check and expects a `Seen` of this check only."""
    shown = {
        check
        for module in Path(__file__).parent.glob("test_*_findings.py")
        for check in _shown(module)
    }
    assert {check.id for check in ALL} - shown == set()


def _shown(module: Path) -> set[str]:
    shown = set()
    for node in ast.parse(module.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.FunctionDef) and node.name.startswith("test_"):
            expected = {
                ast.literal_eval(call.args[0])
                for call in ast.walk(node)
                if isinstance(call, ast.Call) and _is_seen(call)
            }
            if len(expected) == 1 and expected == {
                node.name.removeprefix("test_").replace("_", "-")
            }:
                shown |= expected
    return shown


def _is_seen(call: ast.Call) -> bool:
    return isinstance(call.func, ast.Name) and call.func.id == "Seen"
