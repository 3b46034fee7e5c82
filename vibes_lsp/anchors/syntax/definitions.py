"""Definitions in a source file: their names and signatures (RFC 7.4)."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass
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


_WORD: Final = re.compile(r"\w+")


def surplus(signature: str, name: str, definition: Definition) -> int | None:
    """Return how many words of a definition's parameters a recorded signature lacks.

    Args:
        signature: As recorded, whole or only parameters.
        name: The last part of the definition's name, which the parameters follow.
        definition: The definition.

    Returns:
        The number; None if the signature has words that the definition lacks.
    """
    recorded, actual = parameters_in(signature[:LONGEST_HEAD], name), definition.parameters
    if recorded is None or actual is None:
        recorded, actual = signature[:LONGEST_HEAD], definition.head
    said, there = (Counter(_WORD.findall(text)) for text in (recorded, actual))
    return (there - said).total() if said <= there else None


def parameters_in(signature: str, name: str) -> str | None:
    """Return the text between the parentheses after a function's name, else in the first ones.

    None without parentheses.
    """
    after = (
        re.search(rf"(?<!\w){re.escape(name)}\s*(?:[<\[][^()]*[>\]]\s*)?\(", signature)
        if name
        else None
    )
    start = after.end() if after else signature.find("(") + 1
    if not start:
        return None
    depth = 1
    for place in range(start, len(signature)):
        depth += (signature[place] == "(") - (signature[place] == ")")
        if depth == 0:
            return signature[start:place]
    return signature[start:]
