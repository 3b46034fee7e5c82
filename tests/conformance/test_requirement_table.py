"""The requirement table: complete, in order and deterministic."""

from __future__ import annotations

import re
from itertools import pairwise

from tests.conformance.requirement import marks_of
from tests.conformance.requirement_table import every_test, markdown, readings, requirements

SECTIONS = ("4.", "5.", "6.", "7.", "8.", "10.4.5", "11.", "12.", "13.3")
WRITTEN = ("4.", "5.", "6.", "7.", "8.", "9.", "10.4.", "11.", "12.", "13.1")


def test_every_test_says_which_rule_it_is_about() -> None:
    unmarked = [
        getattr(function, "__name__", "") for function in every_test() if not marks_of(function)
    ]
    assert not unmarked


def test_a_test_lies_in_the_file_of_its_section() -> None:
    for each in requirements():
        assert each.section.startswith(SECTIONS)
        assert each.test.startswith(
            f"tests/conformance/test_section_{each.section.replace('.', '_')}.py::test_"
        ), each
    for each in requirements("writer"):
        assert each.section.startswith(WRITTEN)
        assert each.test.startswith(
            f"tests/conformance/test_writing_{each.section.partition('.')[0]}.py::test_"
        ), each
    for each in readings():
        assert re.match(r"R\d+$", each.section)
        assert each.test.startswith("tests/conformance/test_readings_of_"), each


def test_the_rules_stand_in_the_order_of_the_sections() -> None:
    for rules in (requirements(), requirements("writer")):
        numbers = [tuple(map(int, each.section.split("."))) for each in rules]
        assert numbers == sorted(numbers)
    assert all(
        one <= other for one, other in pairwise(int(each.section[1:]) for each in readings())
    )


def test_the_page_has_a_row_for_each_rule_and_is_the_same_each_time() -> None:
    page = markdown()
    assert page == markdown()
    for each in (*requirements(), *requirements("writer"), *readings()):
        row = next(
            line
            for line in page.splitlines()
            if f"`{each.test}`" in line and f"| {each.section} |" in line
        )
        assert row.count(" | ") == (3 if each.level else 2)
    assert len(re.findall(r"^\| R?\d", page, re.MULTILINE)) == len(requirements()) + len(
        requirements("writer")
    ) + len(readings())
    assert page.endswith("|\n")


def test_a_rule_is_short_and_stands_once() -> None:
    rules = [*requirements(), *requirements("writer"), *readings()]
    assert all(len(each.rule) <= 140 for each in rules)
    assert len(set(rules)) == len(rules)
