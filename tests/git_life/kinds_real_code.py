"""Kinds of histories with functions of the standard library and of installed packages.

Functions of one module resemble each other more than generated ones. Which ones are taken depends on
the version of Python and of the packages, too.
"""

from __future__ import annotations

import ast
import sysconfig
from functools import cache
from pathlib import Path
from typing import Final, NamedTuple

from tests.git_life.code import Words
from tests.git_life.combining import merge
from tests.git_life.life import Life, kind
from tests.git_life.lines import Line

_SIZES: Final = range(80, 700)
"""Lines of the modules that are taken."""
_LINES: Final = range(6, 41)
"""Lines of their functions that are taken."""


class Module(NamedTuple):
    """The lines of a module, and where its functions start and end."""

    lines: list[str]
    functions: list[tuple[int, int]]


@cache
def modules() -> tuple[Path, ...]:
    """Return the files that may be taken."""
    folders = sysconfig.get_paths()
    standard = Path(folders["stdlib"])
    installed = [path for path in Path(folders["purelib"]).glob("*") if path.is_dir()]
    return tuple(
        sorted(
            [*standard.glob("*.py"), *(path for root in installed for path in root.glob("*.py"))]
        )
    )


@cache
def read(file: Path) -> Module | None:
    """Read a module; None if it is of no use here."""
    try:
        text = file.read_text("utf-8")
        tree = ast.parse(text)
    except (ValueError, SyntaxError):
        return None
    lines = text.split("\n")[:-1]
    functions = [
        (node.lineno - 1, node.end_lineno or node.lineno)
        for body in [
            tree.body,
            *(node.body for node in tree.body if isinstance(node, ast.ClassDef)),
        ]
        for node in body
        if isinstance(node, ast.FunctionDef) and not node.decorator_list
    ]
    functions = [span for span in functions if span[1] - span[0] in _LINES]
    is_plain = text.isascii() and "\r" not in text and "\f" not in text
    return Module(lines, functions) if is_plain and len(functions) > 3 else None


def _beginning(life: Life) -> tuple[str, int, list[Words], list[Words]]:
    """Commit a module without two of its functions; return its path, a place, and the two."""
    while True:
        module = read(life.rng.choice(modules()))
        if module is not None and len(module.lines) in _SIZES:
            break
    pair = life.rng.sample(module.functions, 2)
    first, second = ([Words(text, False) for text in module.lines[slice(*span)]] for span in pair)
    left = [
        (place, text)
        for place, text in enumerate(module.lines)
        if not any(start <= place < end for start, end in pair)
    ]
    path = "real.py"
    life.work.put(path, life.history.write(Words(text, True) for _, text in left))
    life.work.commit()
    at = sum(place < pair[0][0] for place, _ in left)
    return path, at, first, second


def _write(life: Life, path: str, at: int, words: list[Words]) -> tuple[Line, ...]:
    """Let an AI write a function."""
    name = life.history.edit()
    lines = life.history.write(words, name)
    old = life.work.lines(path)
    life.work.save_as_ai(name, path, old[:at] + lines + old[at:])
    return lines


def _type(life: Life, path: str, at: int, words: list[Words], ai: tuple[Line, ...]) -> None:
    """Let a person write another function, of which both wrote some lines, and commit it."""
    common = {line.text for line in ai}
    lines = life.history.write(Words(text, text in common) for text, _ in words)
    life.work.insert(path, at, lines)
    life.commit()
    life.typed |= {line.number for line in lines}


@kind
def real_thrown_away(life: Life) -> None:
    """An AI's function is thrown away, and a person writes another one of the module there."""
    path, at, first, second = _beginning(life)
    lines = _write(life, path, at, first)
    life.work.restore(path)
    _type(life, path, at, second, lines)


@kind
def real_squashed(life: Life) -> None:
    """An AI's function is replaced by a person's in the next commit; both are squashed."""
    path, at, first, second = _beginning(life)
    life.work.branch("topic")
    lines = _write(life, path, at, first)
    life.commit()
    life.work.delete(path, at, at + len(lines))
    _type(life, path, at, second, lines)
    life.work.switch("main")
    merge(life.work, "topic", options=["--squash"])


@kind
def real_kept(life: Life) -> None:
    """An AI's function is kept, a person changes a third of it and writes another one below."""
    path, at, first, second = _beginning(life)
    lines = _write(life, path, at, first)
    places = life.work.of(path, lines[0].author)
    life.work.change(path, life.rng.sample(places, len(places) // 3))
    _type(life, path, at + len(lines), second, lines)
