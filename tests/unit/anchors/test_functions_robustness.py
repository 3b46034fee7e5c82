"""Functions in broken, odd, hostile or unknown files: bounded, and never an error."""

from __future__ import annotations

import subprocess
import sys
from importlib import import_module

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.unit.anchors.sources import SOURCES
from vibes_lsp.anchors.functions import find_function, locate_function
from vibes_lsp.anchors.location import State
from vibes_lsp.anchors.syntax import grammars, parsing
from vibes_lsp.anchors.text import Text

TEXTS = st.one_of(
    st.text(alphabet=st.characters(codec=None), max_size=200),
    st.lists(
        st.sampled_from(
            [
                *(line for source in SOURCES.values() for line in source.splitlines()),
                "{",
                "(",
                '"""',
                "\f",
                "\r",
                "\ud800",
            ]
        )
    ).map("\n".join),
)
NAMES = st.one_of(
    st.text(max_size=30),
    st.sampled_from(
        ["Cart.add", "run", "(*T).Method", "operator()", "<A as B>::c", "a" * 1000, "("]
    ),
)


@given(
    TEXTS,
    st.sampled_from([*SOURCES, "notes.txt", "", ".", "x.h"]),
    NAMES,
    st.one_of(st.none(), st.text(max_size=40)),
)
def test_any_text_and_any_name_give_a_range_within_the_text(
    content: str, path: str, name: str, signature: str | None
) -> None:
    text = Text(content)
    located = locate_function(text, path, name, signature)
    assert (located.state is State.LOST) == (located.start is None) == (located.end is None)
    if located.start is not None and located.end is not None:
        assert 1 <= located.start <= located.end <= len(text.lines)


@pytest.mark.parametrize("path", SOURCES)
def test_line_ends_and_a_byte_order_mark_change_nothing(path: str) -> None:
    plain = parsing.outline(Text(SOURCES[path]), path).named
    marked = parsing.outline(Text("\ufeff" + SOURCES[path].replace("\n", "\r\n")), path).named
    assert {name: [(each.start, each.end) for each in found] for name, found in marked.items()} == {
        name: [(each.start, each.end) for each in found] for name, found in plain.items()
    }


@pytest.mark.parametrize("odd", ["\f", "é𝒳", "\udc80\udcff", "\ud800", "\u2028", "\x00"])
def test_odd_characters_above_do_not_shift_it(odd: str) -> None:
    located = locate_function(
        Text(f"# {odd}\n\ndef area(w):\n    return w\n"), "a.py", "area", "(w)"
    )
    assert (located.start, located.end, located.confidence) == (3, 4, 0.9)


def test_a_syntax_error_elsewhere_does_not_hide_it() -> None:
    broken = (
        "class Cart:\n    def add(self):\n        return 1\n\n"
        "    def total(self\n        return (2\n"
    )
    assert locate_function(Text(broken), "cart.py", "Cart.add", None).start == 2
    assert locate_function(Text(broken), "cart.py", "total", None).start == 5


def test_without_a_grammar_definitions_are_found_by_the_look_of_lines() -> None:
    lua = (
        "local x = 1\nlocal function area(w, h)\n  if w then\n    return w * h\n"
        "  end\nend\nprint(area(1, 2))\n"
    )
    place = find_function(Text(lua), "shape.lua", "area", None)
    assert place is not None
    assert (place.start, place.end, place.by_parser) == (2, 6, False)
    assert locate_function(Text(lua), "shape.lua", "area", None).confidence == 0.6
    assert locate_function(Text(lua + lua), "shape.lua", "area", None).confidence == 0.3


@pytest.mark.parametrize(
    "error", [ImportError("no such package"), ValueError("Incompatible Language version 99")]
)
def test_a_grammar_that_cannot_be_loaded_only_lowers_confidence(
    error: Exception, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(name: str) -> object:
        if name == "tree_sitter_python":
            raise error
        return import_module(name)

    monkeypatch.setattr(grammars, "import_module", refuse)
    grammars.load.cache_clear()
    parsing._outline.cache_clear()
    try:
        located = locate_function(Text(SOURCES["cart.py"]), "cart.py", "load", None)
    finally:
        grammars.load.cache_clear()
        parsing._outline.cache_clear()
    assert (located.start, located.end, located.confidence) == (41, 42, 0.6)


@pytest.mark.parametrize("path", ["a.py", "a.js", "a.cpp", "a.rb"])
@pytest.mark.parametrize(
    "content",
    [
        "x" * 5_000_000,
        "(" * 100_000 + ")" * 100_000,
        "[" * 300_000,
        "a<" * 50_000,
        "\"'`" * 20_000,
        "f=()=>{" * 10_000,
        "def f():0\n" * 10_000,
    ],
    ids=["one-line", "parentheses", "brackets", "generics", "quotes", "nested", "many"],
)
def test_a_hostile_file_ends_in_time(path: str, content: str) -> None:
    assert locate_function(Text(content), path, "gone", None).state is State.LOST


def test_a_file_is_parsed_once_for_all_its_functions(monkeypatch: pytest.MonkeyPatch) -> None:
    parsed = []

    def parse(source: bytes, *_: object) -> None:
        parsed.append(source)

    monkeypatch.setattr(parsing, "parse", parse)
    parsing._outline.cache_clear()
    for number in range(200):
        locate_function(Text("def f():\n    pass\n"), "a.py", f"f{number}", None)
    parsing._outline.cache_clear()
    assert len(parsed) == 1


def test_importing_it_loads_no_parser() -> None:
    listing = (
        "import sys, vibes_lsp.anchors.functions; "
        "sys.exit(any(name.startswith('tree_sitter') for name in sys.modules))"
    )
    assert subprocess.run([sys.executable, "-c", listing], check=False).returncode == 0
