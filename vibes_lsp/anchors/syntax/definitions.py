"""Definitions in a source file: their names and signatures (RFC 7.4)."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum
from typing import Final

LONGEST_NAME: Final = 300
"""Maximum number of characters of a name that are read."""

LONGEST_HEAD: Final = 2000
"""Maximum number of characters of a head or a signature that are read."""

_WORDS_BEFORE: Final = re.compile(
    r"(?:(?:export|default|async|static|public|private|protected|abstract|def|function|func|fn|fun"
    r"|sub|class|struct|interface|trait|enum|get|set)\s+)+(?=\S)"
)
_RECEIVER: Final = re.compile(r"\(\s*(?:\w+\s+)?[*&]?\s*([\w.]+)[^()]*\)\.?\s*")
_TRAIT_OF: Final = re.compile(r"<\s*([\w:]+)[^()]*?\sas\s[^()]*?>::")
_CONVERSION: Final = re.compile(r"(.*?)\boperator\b\s*(\(\)|[^(]*)")
_SYMBOLS: Final = re.compile(r"(?:(.*\w)[#.])?([=<>!+\-*/%&|^~\[\]@]{1,3})")
_CONSTRUCTOR: Final = re.compile(r"(\w+)([.:#]+)<init>")
_GENERICS: Final = re.compile(r"<[^<>]*>|\[[^\[\]]*\]")
_SEPARATORS: Final = re.compile(r"::|->|[.#:\\/]")
_NO_QUALIFIERS: Final = frozenset(
    {"this", "self", "exports", "module", "prototype", "global", "window"}
)


@dataclass(frozen=True, slots=True)
class Definition:
    """A function, method or class in a text.

    Attributes:
        path: Its qualifiers and its name, each with alternatives, like type and trait of an `impl`.
        start: First line, 1-based, with decorators, attributes and `export`.
        end: Last line, inclusive.
        head: Its text up to its body, cut.
        parameters: Its parameters with their parentheses, cut; None where it has none.
        has_body: Whether it is the definition itself, not only its declaration.
        is_scope: Whether it only qualifies names: a namespace, an object, the methods of a type.
        by_parser: Whether a grammar found it.
    """

    path: tuple[frozenset[str], ...]
    start: int
    end: int
    head: str
    parameters: str | None = None
    has_body: bool = True
    is_scope: bool = False
    by_parser: bool = True

    @property
    def names(self) -> frozenset[str]:
        """Its names, without qualifiers."""
        return self.path[-1]


def segments(name: str) -> tuple[str, ...]:
    """Return the parts of a name in the notation of any language or tool; none for other text.

    `Class.method`, `Class#method`, `ns::Class::method`, `(*T).Method`, `<T as Trait>::method`,
    `file.py::test`, `name(int, int)`.
    """
    text = _WORDS_BEFORE.sub("", name[:LONGEST_NAME].strip(), count=1)
    text = _RECEIVER.sub(r"\1.", text, count=1) if text.startswith("(") else text
    text = _TRAIT_OF.sub(r"\1::", text, count=1)
    text = _CONSTRUCTOR.sub(r"\1\2\1", text.replace(".<locals>", ""))
    if symbols := _SYMBOLS.fullmatch(text):
        return *_split(symbols[1] or ""), symbols[2]
    if conversion := _CONVERSION.fullmatch(
        text.partition("(")[0]
        if "operator()" not in text
        else text[: text.index("operator()") + 10]
    ):
        return *_split(conversion[1]), "operator" + "".join(conversion[2].split())
    return _split(text.partition("(")[0])


def _split(text: str) -> tuple[str, ...]:
    while (shorter := _GENERICS.sub("", text)) != text:
        text = shorter
    parts = [part.strip().strip("'\"`").strip() for part in _SEPARATORS.split(text)]
    words = [part.split()[-1] for part in parts if part]
    plain = [word.lstrip("$*&") or word for word in words]
    return tuple(
        word
        for place, word in enumerate(plain, 1)
        if place == len(plain) or word not in _NO_QUALIFIERS
    )


_OPENING: Final = "([{<"
_CLOSING: Final = ")]}>"
_NOTHING: Final = frozenset({"", "/", "*", "void"})
_SELF: Final = re.compile(r"&?(?:'\w+\s+)?(?:mut\s+)?self|cls|this")
_ARROWS: Final = re.compile(r"[-=]>")
_SPACE: Final = re.compile(r"\s+")
_WORD_GAP: Final = re.compile(r"(?<=\w)\s+(?=\w)")


class Style(Enum):
    """How a language writes a parameter: `a: int` or `a int`, or `int a`."""

    NAME_FIRST = "name-first"
    TYPE_FIRST = "type-first"


def matches(signature: str, name: str, head: str, parameters: str | None, style: Style) -> bool:
    """Whether a recorded signature is that of a definition.

    Args:
        signature: As recorded.
        name: The last part of the definition's name, which the parameters follow.
        head: The definition's text up to its body.
        parameters: Its parameters, with their parentheses; None where it has none.
        style: How its language writes them.
    """
    recorded = parameters_in(signature[:LONGEST_HEAD], name)
    if recorded is None or parameters is None:
        return _bare(signature[:LONGEST_HEAD]) in _bare(head[:LONGEST_HEAD])
    return _agree(_parameters(recorded), _parameters(_inner(parameters[:LONGEST_HEAD])), style)


def parameters_in(signature: str, name: str) -> str | None:
    """Return the text between the parentheses after a function's name, else in the first ones.

    None without parentheses.
    """
    after = (
        re.search(rf"(?<!\w){re.escape(name)}\s*(?:[<\[][^()]*[>\]]\s*)?\(", signature)
        if name
        else None
    )
    start = after.end() - 1 if after else signature.find("(")
    return None if start < 0 else _inner(signature[start:])


def _inner(text: str) -> str:
    """Return the text within leading parentheses; other text as it is."""
    if not text.startswith("("):
        return text
    depth = 0
    for place, character in enumerate(text):
        depth += (character == "(") - (character == ")")
        if depth == 0:
            return text[1:place]
    return text[1:]


def _parameters(parameters: str) -> list[str]:
    """Return the single parameters, without defaults and without a receiver."""
    found = [
        cleaned
        for each in _pieces(parameters, ",")
        if (cleaned := next(_pieces(each, "=")).strip()) not in _NOTHING
    ]
    return found[1:] if found and _SELF.fullmatch(next(_pieces(found[0], ":")).strip()) else found


def _pieces(text: str, separator: str) -> Iterator[str]:
    """Yield the text between separators that are not inside brackets."""
    text = _ARROWS.sub("→", text)
    depth = start = 0
    for place, character in enumerate(text):
        if character in _OPENING:
            depth += 1
        elif character in _CLOSING:
            depth = max(0, depth - 1)
        elif character == separator and depth == 0:
            yield text[start:place]
            start = place + 1
    yield text[start:]


def _agree(recorded: list[str], actual: list[str], style: Style) -> bool:
    return len(recorded) == len(actual) and all(
        _is_same(one, other, style) for one, other in zip(recorded, actual, strict=True)
    )


def _is_same(recorded: str, actual: str, style: Style) -> bool:
    """Whether two texts can be the same parameter: a part that only one has does not count."""
    if _bare(recorded) == _bare(actual):
        return True
    name, kind = _parts(recorded, style)
    other_name, other_kind = _parts(actual, style)
    if kind and other_kind:
        return kind == other_kind and name == other_name
    return name == other_name or (
        style is Style.TYPE_FIRST and (kind or name) == (other_kind or other_name)
    )


def _parts(parameter: str, style: Style) -> tuple[str, str]:
    """Return name and type without spaces; no type for a single word, which may be either."""
    name, colon, kind = parameter.partition(":")
    if colon and not kind.startswith(":") and style is Style.NAME_FIRST:
        words = [_bare(name)] if name.lstrip().startswith(("{", "[")) else name.split()
        return (_name(words[-1]) if words else ""), _bare(kind)
    words = _WORD_GAP.sub(" ", parameter).replace("*", "* ").replace("&", "& ").split()
    if len(words) < 2:
        return _name("".join(words)), ""
    if style is Style.NAME_FIRST:
        return _name(words[0]), "".join(words[1:])
    return _name(words[-1]), "".join(
        word for word in words[:-1] if not word.startswith("@") and word != "final"
    )


def _name(word: str) -> str:
    return word.rstrip("?!").lstrip("$")


def _bare(text: str) -> str:
    """Return a text without space, and without the end of a head."""
    return _SPACE.sub("", text).rstrip("{:;").removesuffix("=>")
