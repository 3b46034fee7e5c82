"""Regular expressions take linear time: no two unlimited repeats can match the same characters.

The form of the patterns is tested, not a duration. `_flaws` reports a pattern in which an unlimited
repeat can backtrack into a later one, or in which a search can restart inside such a repeat.
"""

from __future__ import annotations

import ast
import importlib
import pkgutil
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from re import _constants as sre  # type: ignore[attr-defined]
from re import _parser  # type: ignore[attr-defined]
from typing import Any, Final

import pytest

import vibes_lsp
import vibes_services

_LIMIT: Final = 1_000
"""A repeat with a higher maximum counts as unlimited."""
_ALL: Final = frozenset(map(chr, range(256))) | set("\u0663\u2028\u017f")
_ASCII: Final = frozenset(map(chr, range(128)))
_MATCHING: Final = {"match", "fullmatch"}
_METHODS: Final = {"match", "fullmatch", "search", "sub", "subn", "split", "findall", "finditer"}

_CUT: Final = "it reads a name that is cut to LONGEST_NAME characters"
_BEGINS: Final = "each way to begin stands behind a character that ends the repeat"
_EXCEPTIONS: Final = {
    **{
        f"vibes_lsp.anchors.syntax.definitions.{name}": _CUT
        for name in ("_WORDS_BEFORE", "_RECEIVER", "_TRAIT_OF")
    },
    **{
        f"vibes_lsp.anchors.syntax.definitions.{name}": _CUT
        for name in ("_CONVERSION", "_CONSTRUCTOR")
    },
    "vibes_lsp.model.secret_keywords._REFERENCE": "it reads a value that is cut to _MAX_REFERENCE characters",
    "vibes_lsp.model.secret_keywords._PLAIN": "it reads a value behind a name, and none inside one that was read",
    "vibes_lsp.model.secret_keywords._PROPERTY": "it reads the 100 characters before a name, and the name",
    "vibes_lsp.model.secret_formats._OTHER_FORMATS": _BEGINS,
    "vibes_lsp.model.secret_formats.FORMATS": _BEGINS,
    "vibes_lsp.model.secrets.FORMATS": _BEGINS,
}
"""Patterns with an accepted flaw, by module and name, with the reason."""
_BUILT: Final = {
    "vibes_lsp.anchors.syntax.definitions": "it reads a signature that is cut to LONGEST characters",
    "vibes_lsp.model.gitignore": "the repeats of a glob are atomic groups, held by the tests of that module",
    "vibes_lsp.model.json_schema": "no pattern of a schema has two unlimited repeats",
    "vibes_lsp.recording.paths": "the only repeat is of at most two characters",
}
"""Modules that may build patterns at run time, with the reason."""


@dataclass(frozen=True)
class _Step:
    """One step of a pattern.

    Attributes:
        chars: The characters it can match, one at a time; empty for an assertion.
        is_unlimited: Whether it is a repeat without a limit.
        is_possessive: Whether it never backtracks.
        is_optional: Whether the pattern continues if it does not match.
        is_empty: Whether it can match nothing.
        is_guard: Whether `chars` cannot come directly before what follows.
    """

    chars: frozenset[str]
    is_unlimited: bool = False
    is_possessive: bool = False
    is_optional: bool = False
    is_empty: bool = False
    is_guard: bool = False


@dataclass
class _Reader:
    """Converts a parsed pattern to rows of steps, one row for each path through its branches."""

    flags: int
    is_bytes: bool
    flaws: list[str]

    def rows(self, parsed: Any) -> list[list[_Step]]:
        rows: list[list[_Step]] = [[]]
        for code, value in parsed:
            further = self.steps(code, value)
            rows = [row + more for row in rows for more in further]
            assert len(rows) < 5_000
        return rows

    def steps(self, code: Any, value: Any) -> list[list[_Step]]:
        if code in (sre.LITERAL, sre.NOT_LITERAL, sre.ANY, sre.IN):
            return [[_Step(self.chars(code, value))]]
        if code is sre.SUBPATTERN:
            inner = _Reader((self.flags | value[1]) & ~value[2], self.is_bytes, self.flaws)
            return inner.rows(value[3])
        if code is sre.BRANCH:
            ways = [row for each in value[1] for row in self.rows(each)]
            cannot_fail = any(all(step.is_optional for step in row) for row in ways)
            return [
                [replace(step, is_optional=step.is_optional or cannot_fail) for step in row]
                for row in ways
            ]
        if code is sre.ATOMIC_GROUP:
            rows = self.rows(value)
            self.flaws += [flaw for row in rows for flaw in _in_row(row, fails=False)]
            return [[replace(step, is_possessive=True) for step in row] for row in rows]
        if code in (sre.MAX_REPEAT, sre.MIN_REPEAT, sre.POSSESSIVE_REPEAT):
            return self.repeated(code is sre.POSSESSIVE_REPEAT, *value)
        if code in (sre.ASSERT, sre.ASSERT_NOT):
            return self.looked(code is sre.ASSERT_NOT, is_behind=value[0] < 0, inside=value[1])
        if code is sre.AT and value in (sre.AT_BEGINNING, sre.AT_BEGINNING_STRING):
            lines = value is sre.AT_BEGINNING and self.flags & re.MULTILINE
            return [[_Step(_ALL - {"\n"} if lines else _ALL, is_guard=True)]]
        if code is sre.AT:
            return [[_Step(frozenset())]]
        assert code is sre.GROUPREF, code
        return [[_Step(_ALL, is_empty=True)]]

    def repeated(self, is_possessive: bool, least: int, most: int, body: Any) -> list[list[_Step]]:
        rows = self.rows(body)
        is_unlimited = most > _LIMIT
        if most > 1:
            fails = not is_possessive or not is_unlimited
            self.flaws += [
                flaw for one in rows for other in rows for flaw in _in_row(one + other, fails=fails)
            ]
        if is_unlimited:
            chars = frozenset().union(
                *(step.chars for row in rows for step in row if not step.is_guard)
            )
            return [[_Step(chars, True, is_possessive, least == 0, least == 0)]]
        if is_possessive:
            rows = [[replace(step, is_possessive=True) for step in row] for row in rows]
        return (
            rows
            if least
            else [[], *([replace(step, is_optional=True) for step in row] for row in rows)]
        )

    def looked(self, is_not: bool, *, is_behind: bool, inside: Any) -> list[list[_Step]]:
        rows = self.rows(inside)
        self.flaws += [flaw for row in rows for flaw in _in_row(row, fails=True)]
        if is_behind and all(len(row) == 1 for row in rows):
            chars = frozenset().union(*(row[0].chars for row in rows))
            return [[_Step(chars if is_not else _ALL - chars, is_guard=True)]]
        return [[_Step(frozenset())]]

    def chars(self, code: Any, value: Any) -> frozenset[str]:
        if code is sre.ANY:
            return _ALL if self.flags & re.DOTALL else _ALL - {"\n"}
        if code is sre.NOT_LITERAL:
            return _ALL - self.chars(sre.LITERAL, value)
        if code is sre.IN:
            taken = frozenset().union(
                *(self.chars(*each) for each in value if each[0] is not sre.NEGATE)
            )
            return _ALL - taken if value[0][0] is sre.NEGATE else taken
        if code is sre.CATEGORY:
            text = str(value).lower()
            letters = {
                c
                for c in _ALL
                if ("digit" in text and c.isdecimal()) or ("space" in text and c.isspace())
            }
            letters |= {c for c in _ALL if "word" in text and (c.isalnum() or c == "_")}
            known = (
                letters & _ASCII - set("\x1c\x1d\x1e\x1f")
                if self.is_bytes or self.flags & re.ASCII
                else letters
            )
            return frozenset(_ALL - known if "_not_" in text else known)
        first, last = (value, value) if code is sre.LITERAL else value
        taken = frozenset(c for c in _ALL if first <= ord(c) <= last) or frozenset({"\u017f"})
        if self.flags & re.IGNORECASE:
            taken |= {c for c in _ALL if c.lower() in taken or c.upper() in taken}
        return taken


def _in_row(row: Sequence[_Step], *, fails: bool) -> Iterator[str]:
    """Yield pairs of repeats in which the second is matched again for each length of the first."""
    for number, one in enumerate(row):
        if one.is_unlimited and not one.is_possessive:
            for other in _later(row, number + 1, one.chars, fails=fails):
                yield f"a repeat gives {_shown(one.chars & other.chars)} back to a later one"


def _from_every_start(row: Sequence[_Step], *, fails: bool) -> Iterator[str]:
    """Yield the repeats that a search matches again from many starts."""
    guarded = frozenset().union(*(step.chars for step in row[:3] if step.is_guard))
    for other in _later(row, 0, _ALL, fails=fails):
        if other.chars - guarded:
            yield f"a search begins again inside a repeat of {_shown(other.chars - guarded)}"


def _later(
    row: Sequence[_Step], begin: int, chars: frozenset[str], *, fails: bool
) -> Iterator[_Step]:
    for number in range(begin, len(row)):
        other = row[number]
        shared = chars & other.chars
        between = [
            step
            for step in row[begin:number]
            if step.chars and not step.is_guard and not step.is_empty
        ]
        can_fail = fails or any(not step.is_optional for step in row[number + 1 :])
        if (
            other.is_unlimited
            and shared
            and can_fail
            and all(step.chars & shared for step in between)
        ):
            yield other


def _shown(chars: frozenset[str]) -> str:
    return repr("".join(sorted(chars))[:12])


def _flaws(pattern: re.Pattern[Any], methods: set[str]) -> list[str]:
    source = pattern.pattern
    parsed = _parser.parse(source, pattern.flags & ~re.DEBUG)
    flaws: list[str] = []
    reader = _Reader(pattern.flags, isinstance(source, bytes), flaws)
    for row in reader.rows(parsed):
        flaws += _in_row(row, fails="fullmatch" in methods)
        if not methods <= _MATCHING:
            flaws += _from_every_start(row, fails=False)
    return list(dict.fromkeys(flaws))


def _modules() -> list[str]:
    found = [
        module
        for package in (vibes_lsp, vibes_services)
        for module in pkgutil.walk_packages(package.__path__, f"{package.__name__}.")
    ]
    names = [each.name for each in found if not each.name.endswith("__main__")]
    return [name for name in names if "import re\n" in _source(name)]


def _source(module: str) -> str:
    package, *parts = module.split(".")
    folder = Path(importlib.import_module(package).__file__ or "").parent.joinpath(*parts)
    file = folder / "__init__.py" if folder.is_dir() else folder.with_suffix(".py")
    return file.read_text("utf-8")


def _patterns(value: object) -> Iterator[re.Pattern[Any]]:
    """Yield the patterns in a value of a module."""
    if isinstance(value, re.Pattern):
        yield value
    elif isinstance(value, tuple | list):
        for each in value:
            yield from _patterns(each)
    elif isinstance(getattr(value, "__self__", None), re.Pattern):
        yield value.__self__  # type: ignore[attr-defined]
    elif hasattr(value, "__dataclass_fields__") and not isinstance(value, type):
        yield from _patterns([getattr(value, name, None) for name in value.__dataclass_fields__])


def _methods_of(tree: ast.Module, name: str) -> set[str]:
    """Return the methods with which a module uses a pattern; all methods if it passes the pattern on."""
    called = [
        node
        for node in ast.walk(tree)
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name)
    ]
    methods = {
        node.attr for node in called if isinstance(node.value, ast.Name) and node.value.id == name
    }
    loads = [
        n
        for n in ast.walk(tree)
        if isinstance(n, ast.Name) and n.id == name and isinstance(n.ctx, ast.Load)
    ]
    uses = [node for node in called if isinstance(node.value, ast.Name) and node.value.id == name]
    is_private = name.startswith("_")
    return methods & _METHODS if is_private and loads and len(loads) == len(uses) else _METHODS


def _of_module(module: str) -> Iterator[tuple[str, re.Pattern[Any], set[str]]]:
    tree = ast.parse(_source(module))
    for name, value in vars(importlib.import_module(module)).items():
        for pattern in _patterns(value):
            methods = _methods_of(tree, name)
            yield (
                name,
                pattern,
                {value.__name__} if callable(value) and hasattr(value, "__self__") else methods,
            )
    for call, first in _calls(tree):
        if isinstance(first, ast.Constant):
            yield (
                f"line {first.lineno}",
                re.compile(first.value),
                {call} if call != "compile" else _METHODS,
            )


def _calls(tree: ast.Module) -> Iterator[tuple[str, ast.expr]]:
    """Yield the calls of `re` in functions, with their pattern."""
    for function in ast.walk(tree):
        if isinstance(function, ast.FunctionDef):
            for node in ast.walk(function):
                called = node.func if isinstance(node, ast.Call) else None
                if (
                    isinstance(node, ast.Call)
                    and isinstance(called, ast.Attribute)
                    and ast.unparse(called.value) == "re"
                ):
                    yield called.attr, node.args[0]


def test_every_pattern_is_linear() -> None:
    flawed = {
        f"{module}.{name}": flaws
        for module in _modules()
        for name, pattern, methods in _of_module(module)
        if (flaws := _flaws(pattern, methods))
    }
    assert {name: flaws for name, flaws in flawed.items() if name not in _EXCEPTIONS} == {}
    assert set(_EXCEPTIONS) <= set(flawed), "these exceptions are no longer needed"


def test_only_listed_modules_build_patterns() -> None:
    calls = {
        module: [first for _, first in _calls(ast.parse(_source(module)))] for module in _modules()
    }
    built = {
        module
        for module, given in calls.items()
        if not all(isinstance(each, ast.Constant) for each in given)
    }
    assert built == set(_BUILT)


@pytest.mark.parametrize(
    ("pattern", "method"),
    [
        (r"\s*[\r\n]\s*", "sub"),
        (r"\s*+[\r\n]", "search"),
        (r"\s*(.*?)\s*<([^<>]*)>\s*", "fullmatch"),
        (r'"(?:[^"\\]|\\.)*"', "finditer"),
        (r'"(?:[^"\\]|\\.)*+"', "finditer"),
        (r"(.*?):\d+:(.*)\t", "match"),
        (r"(?:a+b?)*c", "match"),
        (r"(?:a*)*c", "match"),
        (r"(?>a*a*b)", "match"),
        (r"x(?=a*a*b)", "match"),
        (r"(?i)a+A+b", "match"),
        (r"\w+@", "search"),
        (r"(?m)^\s*x", "search"),
    ],
)
def test_a_pattern_that_reads_again_is_refused(pattern: str, method: str) -> None:
    assert _flaws(re.compile(pattern), {method})


@pytest.mark.parametrize(
    ("pattern", "method"),
    [
        (r"(?<!\s)[ \t]*+[\r\n]\s*+", "sub"),
        (r'"(?:[^"\\]|\\.)*+(?:"|(?P<unclosed>))', "finditer"),
        (r"\s+", "sub"),
        (r"a*+b*+c", "match"),
        (r"(\d{1,9})(?:\.\d+)*(?:[-+].*)?\Z", "match"),
        (r"(?m)^x [^\n]*> (\d+)", "search"),
        (r"(?<=\w)\s+(?=\w)", "sub"),
    ],
)
def test_a_pattern_that_reads_once_passes(pattern: str, method: str) -> None:
    assert _flaws(re.compile(pattern), {method}) == []
