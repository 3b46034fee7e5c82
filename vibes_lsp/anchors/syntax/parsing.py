"""Find the definitions in a text by a tree-sitter grammar or by line patterns.

Size, time and nesting are limited, so that hostile texts neither take long nor crash the parser.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from time import thread_time
from typing import TYPE_CHECKING, Final

from vibes_lsp.anchors.syntax.definitions import LONGEST_HEAD, LONGEST_NAME, Definition, segments
from vibes_lsp.anchors.syntax.grammars import Grammar, load

if TYPE_CHECKING:
    from tree_sitter import Language, Node, Point, Query, Tree

    Captured = dict[str, list[Node]]
import re
from collections import defaultdict
from collections.abc import Mapping
from functools import lru_cache
from operator import attrgetter

from vibes_lsp.anchors.syntax.definitions import parameters_in
from vibes_lsp.anchors.syntax.grammars import grammar_of
from vibes_lsp.anchors.syntax.line_names import match_definition
from vibes_lsp.anchors.text import BOM, Text, encode

_MAX_BYTES: Final = 1 << 20
"""Longer files are searched by line patterns: a syntax tree can take 250 times their size."""

_CHUNK: Final = 1 << 16
_SECONDS: Final = 0.25
_SECONDS_PER_BYTE: Final = 1e-6
"""Limit of the processor time for a file: five times what real ones need."""

_MAX_MATCHES: Final = 100_000
_MAX_OPEN_MATCHES: Final = 1 << 14
_MAX_RUN: Final = 5000
"""Tokens without a named node between them. The query takes the square of their number."""

_MAX_SMALL: Final = 2000
_MAX_DEPTH: Final = 32
"""Qualifiers of a definition, and nodes that wrap it."""


class ByteLines:
    """Numbers the lines of a text by their bytes. They end at LF alone, unlike in some grammars."""

    def __init__(self, source: bytes) -> None:
        self._starts = [0, *(match.end() for match in re.finditer(b"\n", source))]

    def number(self, byte: int) -> int:
        """Return the 1-based line of a byte."""
        return bisect_left(self._starts, byte + 1)

    def start(self, line: int) -> int:
        """Return the first byte of a 1-based line."""
        return self._starts[line - 1]


@dataclass(frozen=True, slots=True)
class Parsed:
    """What a grammar finds in a text.

    Attributes:
        definitions: In no particular order.
        packages: Words of the package that the file declares.
        quiet: Ranges of bytes in which nothing is defined, ascending.
        is_whole: Whether the text has no syntax errors, so that all its definitions are known.
    """

    definitions: Sequence[Definition] = ()
    packages: frozenset[str] = frozenset()
    quiet: Sequence[tuple[int, int]] = ()
    is_whole: bool = False

    def is_quiet(self, byte: int) -> bool:
        """Whether a byte is in a comment or a string."""
        place = bisect_left(self.quiet, (byte + 1,)) - 1
        return place >= 0 and byte < self.quiet[place][1]


def parse(source: bytes, lines: ByteLines, grammar: Grammar) -> Parsed | None:
    """Return what a grammar finds; None where it is missing, or the text too long or too costly."""
    loaded = load(grammar) if len(source) <= _MAX_BYTES else None
    if loaded is None:
        return None
    language, query = loaded
    deadline = thread_time() + _SECONDS + _SECONDS_PER_BYTE * len(source)
    tree = _tree(source, language, deadline)
    if tree is None or _has_long_run(tree):
        return None
    captured = _captured(tree, query, len(source), deadline)
    return (
        None
        if captured is None
        else _Reading(source, lines, captured).parsed(is_whole=not tree.root_node.has_error)
    )


def _tree(source: bytes, language: Language, deadline: float) -> Tree | None:
    from tree_sitter import Parser  # noqa: PLC0415  # only for functions

    # tree-sitter 0.26.1 leaks what its reader returns, so each chunk is emptied afterwards.
    chunks: list[bytearray] = []

    def read(place: int, _: Point) -> bytearray:
        chunks.append(bytearray(source[place : place + _CHUNK]))
        return chunks[-1]

    def is_late(_place: int, _failing: bool) -> bool:  # noqa: FBT001  # called by the parser
        return thread_time() > deadline

    try:
        return Parser(language).parse(read, progress_callback=is_late)
    except ValueError:  # stopped
        return None
    finally:
        for chunk in chunks:
            chunk.clear()


def _has_long_run(tree: Tree) -> bool:
    """Whether a node has a long run of children that are mere tokens, like many brackets."""
    cursor = tree.walk()
    runs = [0]
    while runs:
        node = cursor.node
        runs[-1] = 0 if node is None or node.is_named else runs[-1] + 1
        if runs[-1] > _MAX_RUN:
            return True
        if node is not None and node.descendant_count > _MAX_SMALL and cursor.goto_first_child():
            runs.append(0)
            continue
        while not cursor.goto_next_sibling():
            runs.pop()
            if not cursor.goto_parent():
                return False
    return False


def _captured(tree: Tree, query: Query, size: int, deadline: float) -> list[Captured] | None:
    """Return the captures of each match; None where they are too many or take too long.

    The cursor's own progress callback crashes the interpreter (tree-sitter 0.26.1). So it runs over
    one stretch after the other, and a match that spans several counts once.
    """
    from tree_sitter import QueryCursor  # noqa: PLC0415  # as above

    captured: dict[tuple[int, ...], Captured] = {}
    cursor = QueryCursor(query, match_limit=_MAX_OPEN_MATCHES)
    for start in range(0, size, _CHUNK):
        cursor.set_byte_range(start, start + _CHUNK)
        for pattern, captures in cursor.matches(tree.root_node):
            captured.setdefault(
                (pattern, *(node.id for nodes in captures.values() for node in nodes)), captures
            )
        if thread_time() > deadline or len(captured) > _MAX_MATCHES:
            return None
    return list(captured.values())


@dataclass(frozen=True, slots=True)
class _Candidate:
    """A match that defines something, or qualifies its content."""

    node: Node
    names: tuple[str, ...]
    holder: Node
    is_scope: bool
    also: str | None = None


class _Reading:
    """Creates definitions from the captures of a query."""

    def __init__(self, source: bytes, lines: ByteLines, captured: Sequence[Captured]) -> None:
        self._source = source
        self._lines = lines
        self._captured = captured
        self._wrappers = {
            match["inner"][0].id: match["wrapper"][0] for match in captured if "wrapper" in match
        }
        self._quiet = sorted(self._ranges("quiet"))
        self._attributes = {end: start for start, end in self._ranges("attribute")}
        self._comments = (
            {start + len(source[start:end].rstrip()): start for start, end in self._quiet}
            if self._attributes
            else {}
        )

    def parsed(self, *, is_whole: bool) -> Parsed:
        """Return all that was captured."""
        packages = {
            word
            for match in self._captured
            for node in match.get("package", ())
            for word in segments(self._text(node))
        }
        return Parsed(list(self._definitions()), frozenset(packages), self._quiet, is_whole)

    def _definitions(self) -> Iterator[Definition]:
        enclosing: list[tuple[int, tuple[frozenset[str], ...]]] = []
        for candidate in sorted(
            self._candidates(),
            key=lambda candidate: (
                candidate.node.start_byte,
                -candidate.node.end_byte,
                not candidate.is_scope,
            ),
        ):
            while enclosing and enclosing[-1][0] <= candidate.node.start_byte:
                enclosing.pop()
            last = frozenset(
                {candidate.names[-1], candidate.also} if candidate.also else {candidate.names[-1]}
            )
            around = enclosing[-1][1] if enclosing else ()
            path = (*around, *(frozenset({name}) for name in candidate.names[:-1]), last)[
                -_MAX_DEPTH:
            ]
            enclosing.append((candidate.node.end_byte, path))
            yield self._definition(candidate, path)

    def _candidates(self) -> list[_Candidate]:
        candidates: dict[tuple[int, int, tuple[str, ...]], _Candidate] = {}
        for match in self._captured:
            if "name" not in match:
                continue
            is_scope = "scope" in match
            node = match["scope" if is_scope else "definition"][0]
            names = segments(self._text(match["name"][0]))
            if "owner" in match:
                names = (*segments(self._text(match["owner"][0])), *names)
            trait = node.child_by_field_name("trait") if is_scope else None
            also = segments(self._text(trait)) if trait is not None else ()
            if names:
                key = (node.start_byte, node.end_byte, names)
                candidates.setdefault(
                    key,
                    _Candidate(
                        node,
                        names,
                        match.get("holder", [node])[0],
                        is_scope,
                        also[-1] if also else None,
                    ),
                )
        return list(candidates.values())

    def _definition(self, candidate: _Candidate, path: tuple[frozenset[str], ...]) -> Definition:
        node, holder = candidate.node, candidate.holder
        body = node.child_by_field_name("body") or holder.child_by_field_name("body")
        parameters = holder.child_by_field_name("parameters") or holder.child_by_field_name(
            "parameter"
        )
        first, last = self._extent(node)
        head = self._cut(node.start_byte, body.start_byte if body is not None else node.end_byte)
        start = self._lines.number(first)
        end = max(start, self._lines.number(max(first, last - 1)))
        is_only_declared = body is None and parameters is not None
        shown = (
            None if parameters is None else self._cut(parameters.start_byte, parameters.end_byte)
        )
        return Definition(
            path,
            start,
            end,
            head,
            shown,
            not (is_only_declared or self._is_overload(first, body)),
            candidate.is_scope,
        )

    def _extent(self, node: Node) -> tuple[int, int]:
        """Return the bytes of a definition with its wrappers and the attributes before it."""
        for _ in range(_MAX_DEPTH):
            if node.id not in self._wrappers:
                break
            node = self._wrappers[node.id]
        first = before = node.start_byte
        for _ in range(_MAX_DEPTH if self._attributes else 0):
            gap = self._source[max(0, before - LONGEST_NAME) : before]
            before -= len(gap) - len(gap.rstrip())
            if before in self._attributes:
                first = before = self._attributes[before]
            elif before in self._comments:
                before = self._comments[before]
            else:
                break
        return first, node.end_byte

    def _is_overload(self, first: int, body: Node | None) -> bool:
        """Whether Python's `@overload` precedes a definition: its body is elsewhere."""
        if body is None or not self._source.startswith(b"@", first):
            return False
        return b"overload" in self._source[first : first + LONGEST_NAME].partition(b"\n")[0]

    def _ranges(self, capture: str) -> Iterator[tuple[int, int]]:
        return (
            (node.start_byte, node.end_byte)
            for match in self._captured
            for node in match.get(capture, ())
        )

    def _text(self, node: Node) -> str:
        return self._cut(node.start_byte, min(node.end_byte, node.start_byte + LONGEST_NAME))

    def _cut(self, start: int, end: int) -> str:
        return self._source[start : min(end, start + LONGEST_HEAD)].decode("utf-8", "replace")


_MAX_BLOCK: Final = 5000
"""Lines searched for the end of a block."""

_CLOSES: Final = re.compile(r"\s*(?:[)\]}]|end\b|fi\b|done\b|esac\b)")


@dataclass(frozen=True, slots=True)
class Outline:
    """The definitions of a text.

    Attributes:
        named: Those of each name, in the order of the text.
        packages: Words of the package that the file declares.
    """

    named: Mapping[str, Sequence[Definition]]
    packages: frozenset[str] = frozenset()


def outline(text: Text, path: str) -> Outline:
    """Return what a file defines. The last few results are cached.

    Args:
        text: The file, saved or not.
        path: Its name, which determines the language.
    """
    return _outline(text.content, grammar_of(path))


@lru_cache(maxsize=8)
def _outline(content: str, grammar: Grammar | None) -> Outline:
    source = encode(content.removeprefix(BOM))
    numbers = ByteLines(source)
    parsed = None if grammar is None else parse(source, numbers, grammar)
    by_grammar = parsed or Parsed()
    by_pattern = (
        () if by_grammar.is_whole else _defined_by_pattern(Text(content).lines, by_grammar, numbers)
    )
    named: dict[str, list[Definition]] = defaultdict(list)
    for definition in sorted([*by_grammar.definitions, *by_pattern], key=attrgetter("start")):
        for name in definition.names:
            named[name].append(definition)
    return Outline(named, by_grammar.packages)


def _defined_by_pattern(
    lines: Sequence[str], parsed: Parsed, numbers: ByteLines
) -> Iterator[Definition]:
    """Yield the definitions on lines that match the pattern, outside comments and strings."""
    for number, line in enumerate(lines, 1):
        match = match_definition(line)
        names = segments(match["name"]) if match else ()
        if match and names and not parsed.is_quiet(numbers.start(number)):
            path = tuple(frozenset({name}) for name in names)
            parameters = parameters_in(line, names[-1])
            yield Definition(
                path,
                number,
                _end_of_block(lines, number),
                line,
                None if parameters is None else f"({parameters})",
                by_parser=False,
            )


def _end_of_block(lines: Sequence[str], start: int) -> int:
    """Return the last line of a block by its indentation; the first line if it has none."""
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
