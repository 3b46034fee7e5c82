"""The table of peers' reports in the documentation lists the tests, with their links."""

from __future__ import annotations

import ast
import re
from typing import Final

from tests.requirements import REPOSITORY

PAGE: Final = REPOSITORY / "docs/edited-lines.md"
TESTS: Final = REPOSITORY / "tests/stories/test_peer_reports.py"
ROW: Final = re.compile(r"\| \[[^\]]+\]\((https://[^)]+)\) \| .+ \| .+ \| `(test_\w+)` \|")
LINK: Final = re.compile(r"https://\S+")


def test_each_report_has_a_row_and_a_test() -> None:
    rows = [
        match.groups() for match in map(ROW.fullmatch, PAGE.read_text("utf-8").split("\n")) if match
    ]
    functions = [
        each
        for each in ast.parse(TESTS.read_text("utf-8")).body
        if isinstance(each, ast.FunctionDef) and each.name.startswith("test_")
    ]
    tests = [(LINK.findall(ast.get_docstring(each) or ""), each.name) for each in functions]
    assert [([link], name) for link, name in rows] == tests
    assert len({link for link, _ in rows}) >= 15
