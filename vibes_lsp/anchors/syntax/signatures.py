"""Comparing a recorded `function_signature` (RFC 7.4) with the head of a definition, whatever spelling the tool chose.

What tools record ranges from the names of the parameters to the whole line with its return type; only the parameters count
here, since they are what tells one overload from another.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from enum import Enum
from typing import Final

LONGEST: Final = 2000
"""Characters of a signature or of a head that are looked at."""

_OPENING: Final = "([{<"
_CLOSING: Final = ")]}>"
_NOTHING: Final = frozenset({"", "/", "*", "void"})
_RECEIVER: Final = re.compile(r"&?(?:'\w+\s+)?(?:mut\s+)?self|cls|this")
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
    recorded = parameters_in(signature[:LONGEST], name)
    if recorded is None or parameters is None:
        return _bare(signature[:LONGEST]) in _bare(head[:LONGEST])
    return _agree(_split(recorded), _split(_inner(parameters[:LONGEST])), style)


def parameters_in(signature: str, name: str) -> str | None:
    """Return what stands between the parentheses after a function's name, or else between the first; None without any."""
    after = re.search(rf"(?<!\w){re.escape(name)}\s*(?:[<\[][^()]*[>\]]\s*)?\(", signature) if name else None
    start = after.end() - 1 if after else signature.find("(")
    return None if start < 0 else _inner(signature[start:])


def _inner(text: str) -> str:
    """Return what stands between the parentheses with which a text begins; a text without them as it is."""
    if not text.startswith("("):
        return text
    depth = 0
    for place, character in enumerate(text):
        depth += (character == "(") - (character == ")")
        if depth == 0:
            return text[1:place]
    return text[1:]


def _split(parameters: str) -> list[str]:
    """Return the single parameters, without defaults and without a receiver."""
    found = [cleaned for each in _pieces(parameters, ",") if (cleaned := next(_pieces(each, "=")).strip()) not in _NOTHING]
    return found[1:] if found and _RECEIVER.fullmatch(next(_pieces(found[0], ":")).strip()) else found


def _pieces(text: str, separator: str) -> Iterator[str]:
    """Yield what stands between separators that are not inside brackets."""
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
    return len(recorded) == len(actual) and all(_is_same(one, other, style) for one, other in zip(recorded, actual, strict=True))


def _is_same(recorded: str, actual: str, style: Style) -> bool:
    """Whether two spellings can be of one parameter: a part that only one of them has is no difference."""
    if _bare(recorded) == _bare(actual):
        return True
    name, kind = _parts(recorded, style)
    other_name, other_kind = _parts(actual, style)
    if kind and other_kind:
        return kind == other_kind and name == other_name
    return name == other_name or (style is Style.TYPE_FIRST and (kind or name) == (other_kind or other_name))


def _parts(parameter: str, style: Style) -> tuple[str, str]:
    """Return name and type, without spaces; the type is empty where there is none, or where the one word may be either."""
    name, colon, kind = parameter.partition(":")
    if colon and not kind.startswith(":") and style is Style.NAME_FIRST:
        words = [_bare(name)] if name.lstrip().startswith(("{", "[")) else name.split()
        return (_name(words[-1]) if words else ""), _bare(kind)
    words = _WORD_GAP.sub(" ", parameter).replace("*", "* ").replace("&", "& ").split()
    if len(words) < 2:
        return _name("".join(words)), ""
    if style is Style.NAME_FIRST:
        return _name(words[0]), "".join(words[1:])
    return _name(words[-1]), "".join(word for word in words[:-1] if not word.startswith("@") and word != "final")


def _name(word: str) -> str:
    return word.rstrip("?!").lstrip("$")


def _bare(text: str) -> str:
    """Return a text without space, and without what ends a head."""
    return _SPACE.sub("", text).rstrip("{:;").removesuffix("=>")
