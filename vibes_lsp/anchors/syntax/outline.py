"""What a file defines and where: by its grammar, and where there is none or it stops short, by lines that look like definitions."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from operator import attrgetter
from typing import Final

from vibes_lsp.anchors.syntax.definitions import Definition, segments
from vibes_lsp.anchors.syntax.grammars import Grammar, grammar_of
from vibes_lsp.anchors.syntax.parsing import Lines, Parsed, parse
from vibes_lsp.anchors.syntax.signatures import Style, parameters_in
from vibes_lsp.anchors.text import BOM, Text, encode

_MAX_LINE: Final = 2000
_MAX_BLOCK: Final = 5000
"""Lines looked at for the end of a block."""

_LOOKS_DEFINED: Final = re.compile(
    r"""\s*+(?:[\w@<>\[\],&*().:]++\s++){0,12}?
    (?:def|function|fn|func|fun|class|struct|interface|trait|enum|record|object|sub|method|module|proc|defn|defp|defun)\s++
    (?P<name>(?:\([^()]{1,200}\)\s*+)?[\w$~@][\w$.:\#?!-]*+)""",
    re.VERBOSE,
)
"""A line that defines something, in the languages that say so by a word."""

_CLOSES: Final = re.compile(r"\s*(?:[)\]}]|end\b|fi\b|done\b|esac\b)")


@dataclass(frozen=True, slots=True)
class Outline:
    """The definitions of a text.

    Attributes:
        named: Those of each name, in the order of the text.
        packages: Words of the package that the file says it belongs to.
        style: How its parameters are written.
    """

    named: Mapping[str, Sequence[Definition]]
    packages: frozenset[str] = frozenset()
    style: Style = Style.NAME_FIRST


def outline(text: Text, path: str) -> Outline:
    """Return what a file defines; that of the last few texts is remembered.

    Args:
        text: The file, saved or not.
        path: Its name, which tells its language.
    """
    return _outline(text.content, grammar_of(path))


@lru_cache(maxsize=8)
def _outline(content: str, grammar: Grammar | None) -> Outline:
    source = encode(content.removeprefix(BOM))
    numbers = Lines(source)
    parsed = None if grammar is None else parse(source, numbers, grammar)
    by_grammar = parsed or Parsed()
    by_look = () if by_grammar.is_whole else _looking_defined(Text(content).lines, by_grammar, numbers)
    named: dict[str, list[Definition]] = defaultdict(list)
    for definition in sorted([*by_grammar.definitions, *by_look], key=attrgetter("start")):
        for name in definition.names:
            named[name].append(definition)
    return Outline(named, by_grammar.packages, Style.NAME_FIRST if grammar is None else grammar.style)


def _looking_defined(lines: Sequence[str], parsed: Parsed, numbers: Lines) -> Iterator[Definition]:
    """Yield what looks defined at the beginning of a line, but for lines in comments and texts."""
    for number, line in enumerate(lines, 1):
        found = _LOOKS_DEFINED.match(line) if len(line) <= _MAX_LINE else None
        names = segments(found["name"]) if found else ()
        if found and names and not parsed.is_quiet(numbers.start(number)):
            path = tuple(frozenset({name}) for name in names)
            parameters = parameters_in(line, names[-1])
            yield Definition(
                path, number, _end_of_block(lines, number), line, None if parameters is None else f"({parameters})", by_parser=False
            )


def _end_of_block(lines: Sequence[str], start: int) -> int:
    """Return the last line of a block as its indentation shows it; the first when there is none."""
    indentation = _indentation(lines[start - 1])
    end = start
    for number in range(start + 1, min(len(lines), start + _MAX_BLOCK) + 1):
        line = lines[number - 1]
        if not line.strip():
            continue
        if _indentation(line) <= indentation:
            return number if _indentation(line) == indentation and _CLOSES.match(line) else end
        end = number
    return end


def _indentation(line: str) -> int:
    return len(line) - len(line.lstrip())
