"""Objects as YAML and as Markdown with front matter, read from untrusted files.

A file is bounded in size, depth and number of values. It has no aliases, which can grow to any
size, no member twice, which two readers could read differently, and no values that JSON lacks.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final, TypeAlias

import yaml

from vibes_lsp.errors import InvalidObject

MemberPath: TypeAlias = tuple[str | int, ...]
"""Where a value is in an object: names of members and places in lists."""
MAX_OBJECT: Final = 4 << 20
"""Largest object file, in bytes."""
_LOADER: Final = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_DUMPER: Final = getattr(yaml, "CSafeDumper", yaml.SafeDumper)
_MAX_DEPTH: Final = 50
_MAX_VALUES: Final = 100_000
_MAX_INTEGER: Final = 1 << 63
_MAX_NUMBER: Final = 64
"""Longest number, in characters: PyYAML takes quadratic time, and raises for some long ones."""
_MAX_SMALL: Final = 2048
"""Longest text that is parsed once, in characters.

A level of nesting has at least one character, and libyaml composes this many in 750 KB of stack.
"""
_FRONT_MATTER: Final = re.compile(rb"---[ \t]*\r?\n(.*?)\r?\n---[ \t]*(?:\r?\n|\Z)", re.DOTALL)


class InvalidYaml(InvalidObject):
    """A file is no YAML, or none that is read here.

    Attributes:
        line: The line where reading ends, 1-based; None if it is unknown.
    """

    def __init__(self, name: str, line: int | None, reason: str = "no YAML") -> None:
        super().__init__(f"{name}{'' if line is None else f', line {line}'}: {reason}")
        self.line = line


class _Refused(yaml.YAMLError):
    """YAML that no object needs, and that is dangerous or ambiguous.

    Args:
        reason: Why.
        node: Where.
    """

    def __init__(self, reason: str, node: yaml.Node) -> None:
        super().__init__(reason)
        self.problem_mark = node.start_mark


class _StrictLoader(_LOADER):  # type: ignore[misc,valid-type]  # C or Python, as installed
    """Constructs the values that JSON has, and times."""

    allows_twice = False

    def construct_mapping(self, node: yaml.MappingNode, *options: Any, **named: Any) -> Any:
        """Return a mapping whose scalar keys differ."""
        seen: set[str] = set()
        for key, _ in node.value:
            if isinstance(key, yaml.ScalarNode):
                if key.value in seen and not self.allows_twice:
                    raise _Refused(f"the member {key.value[:40]!r} is there twice", key)
                seen.add(key.value)
        return super().construct_mapping(node, *options, **named)

    def construct_yaml_int(self, node: yaml.ScalarNode) -> Any:
        """Return a number that JSON readers keep."""
        _check_length(node)
        number = super().construct_yaml_int(node)
        if abs(number) >= _MAX_INTEGER:
            raise _Refused("a number has more than 64 bits", node)
        return number

    def construct_yaml_float(self, node: yaml.ScalarNode) -> Any:
        """Return a finite number."""
        _check_length(node)
        number = super().construct_yaml_float(node)
        if not math.isfinite(number):
            raise _Refused("a number is not finite", node)
        return number


def _check_length(number: yaml.ScalarNode) -> None:
    if len(number.value) > _MAX_NUMBER:
        raise _Refused(f"a number has more than {_MAX_NUMBER} characters", number)


_TAGS: Final = ("null", "bool", "int", "float", "timestamp", "seq", "map", "str")
_StrictLoader.yaml_constructors = {
    None: _StrictLoader.construct_undefined,
    **{
        f"tag:yaml.org,2002:{tag}": getattr(_StrictLoader, f"construct_yaml_{tag}") for tag in _TAGS
    },
}


class _SettingsLoader(_StrictLoader):
    """Accepts a member twice: people append settings, and the last one counts."""

    allows_twice = True


def load_settings(content: bytes, name: str) -> Any:
    """Return the value of a settings file; as `load_yaml`, but the last of equal members counts."""
    return _load(content, name, _SettingsLoader)


def load_yaml(content: bytes, name: str) -> Any:
    """Return the value of a YAML file.

    Args:
        content: The bytes of the file.
        name: The file, for the error.

    Raises:
        InvalidObject: It is too large or too deep, no UTF-8 or no YAML, or ambiguous.
    """
    return _load(content, name, _StrictLoader)


def _load(content: bytes, name: str, loader: type[_StrictLoader]) -> Any:
    if len(content) > MAX_OBJECT:
        raise InvalidObject(f"{name}: {len(content):,} bytes, expected at most {MAX_OBJECT:,}")
    try:
        text = content.decode("utf-8")
        is_small = len(text) <= _MAX_SMALL and "*" not in text and "&" not in text
        if not is_small:
            _check_events(text, name)
        value = yaml.load(text, Loader=loader)  # noqa: S506  # safer than the safe loader
    except InvalidObject:
        raise
    except UnicodeDecodeError:
        raise InvalidObject(f"{name}: no UTF-8") from None
    except Exception as error:  # noqa: BLE001  # PyYAML's constructors raise many kinds
        mark = getattr(error, "problem_mark", None)
        reason = str(error) if isinstance(error, _Refused) else "no YAML"
        raise InvalidYaml(name, None if mark is None else mark.line + 1, reason) from None
    if is_small and _is_deep(value):
        raise _too_deep(name)
    return value


def _is_deep(value: object) -> bool:
    """Return whether a value nests more deeply than the limit."""
    level = [value]
    for _ in range(_MAX_DEPTH):
        inner: list[object] = []
        for element in level:
            if isinstance(element, dict):
                inner.extend(element.values())
            elif isinstance(element, list):
                inner.extend(element)
        if not inner:
            return False
        level = inner
    return any(isinstance(element, dict | list) for element in level)


def _too_deep(name: str) -> InvalidObject:
    return InvalidObject(f"{name}: nested more than {_MAX_DEPTH} times")


def _check_events(text: str, name: str) -> None:
    """Raise `InvalidObject` for what must not be composed: libyaml's composer is recursive."""
    depth = 0
    for number, event in enumerate(yaml.parse(text, Loader=_LOADER)):
        if number > _MAX_VALUES:
            raise InvalidObject(f"{name}: more than {_MAX_VALUES:,} values")
        if isinstance(event, yaml.AliasEvent):
            raise InvalidObject(f"{name}: YAML aliases are refused")
        if isinstance(event, yaml.CollectionStartEvent):
            depth += 1
            if depth > _MAX_DEPTH:
                raise _too_deep(name)
        elif isinstance(event, yaml.CollectionEndEvent):
            depth -= 1


def dump_yaml(members: dict[str, Any]) -> bytes:
    """Return members as YAML in their order."""
    text: str = yaml.dump(members, Dumper=_DUMPER, sort_keys=False, allow_unicode=True)
    return text.encode("utf-8")


def load_page(content: bytes, name: str) -> dict[str, Any]:
    """Return the front matter of a page with its body as member `body`.

    Raises:
        InvalidObject: There is no front matter, or it is no mapping.
    """
    front_matter = _FRONT_MATTER.match(content)
    if front_matter is None:
        raise InvalidObject(f"{name}: no front matter: expected YAML between lines of '---'")
    members = load_yaml(front_matter[1], name)
    if not isinstance(members, dict):
        raise InvalidObject(f"{name}: the front matter has no members")
    try:
        return {**members, "body": content[front_matter.end() :].decode("utf-8")}
    except UnicodeDecodeError:
        raise InvalidObject(f"{name}: no UTF-8") from None


def dump_page(members: dict[str, Any]) -> bytes:
    """Return a page: its front matter, then its body."""
    front = {name: value for name, value in members.items() if name != "body"}
    return b"---\n" + dump_yaml(front) + b"---\n" + str(members.get("body", "")).encode("utf-8")


@dataclass(frozen=True, slots=True)
class Span:
    """A part of one line.

    Attributes:
        line: The line, from 0.
        start: The first character.
        end: The character after the last; None for the end of the line.
    """

    line: int
    start: int = 0
    end: int | None = None


class MemberSpans:
    """Where the members of an object are in its file.

    Args:
        text: The text of the file; one that is no object has no places.
    """

    def __init__(self, text: str) -> None:
        self._text = text

    @cached_property
    def _spans(self) -> Mapping[MemberPath, Span]:
        front = _FRONT_MATTER.match(self._text.encode("utf-8", "replace"))
        source, first = self._text, 0
        if front is not None:
            source, first = front[1].decode("utf-8", "replace"), 1
        if len(source) > MAX_OBJECT:
            return {}
        try:
            _check_events(source, "")
            node = yaml.compose(source, Loader=_LOADER)
        except (InvalidObject, yaml.YAMLError, ValueError, RecursionError):
            return {}
        return {} if node is None else dict(_spans_of(node, (), first))

    def of(self, path: MemberPath) -> Span:
        """Return where a member is, else the nearest one around it that is there."""
        for end in range(len(path), 0, -1):
            span = self._spans.get(path[:end])
            if span is not None:
                return span
        return Span(0)


def _spans_of(node: yaml.Node, path: MemberPath, first: int) -> Iterator[tuple[MemberPath, Span]]:
    """Yield where each value is; of one that begins on a later line, where its name is."""
    if isinstance(node, yaml.MappingNode):
        for key, value in node.value:
            here = (*path, str(key.value))
            is_block = value.start_mark.line != key.start_mark.line or isinstance(
                value, yaml.CollectionNode
            )
            yield here, _span(key if is_block else value, first)
            yield from _spans_of(value, here, first)
    elif isinstance(node, yaml.SequenceNode):
        for place, value in enumerate(node.value):
            yield (*path, place), _span(value, first)
            yield from _spans_of(value, (*path, place), first)


def _span(node: yaml.Node, first: int) -> Span:
    start, end = node.start_mark, node.end_mark
    return Span(start.line + first, start.column, end.column if end.line == start.line else None)
