"""What the schema of `config.json` says of a place in it, and what can be written there."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from vibes_lsp.model.config import CONFIG_SCHEMA
from vibes_lsp.model.json_positions import JsonCursor, cursor_at
from vibes_lsp.model.json_schema import Schema, type_of

_EMPTY: Final = {"object": "{}", "array": "[]", "string": '""'}
_NO_VALUES: Final = (None, '""')
"""Defaults that are nothing to choose."""
_LITERALS: Final = {"boolean": (True, False)}


@dataclass(frozen=True, slots=True)
class SchemaNode:
    """What the schema says about a value.

    Attributes:
        name: The name of the member, or the index in an array.
        schema: Its schema.
        is_required: Whether the object has to have it.
    """

    name: str
    schema: Schema
    is_required: bool = False

    @property
    def description(self) -> str:
        """What the value is for."""
        return str(self.schema.get("description", ""))

    @property
    def type(self) -> str:
        """The type in JSON, such as `array of string`."""
        kind = type_of(self.schema) or "any value"
        items = self.schema.get("items")
        return kind if items is None else f"{kind} of {type_of(items) or 'any value'}"

    @property
    def default(self) -> str | None:
        """The default as JSON; None if there is none."""
        default = self.schema.get("default")
        return None if default is None else json.dumps(default, ensure_ascii=False)

    @property
    def values(self) -> list[str]:
        """The values that it may have, as JSON; none if there are too many to list."""
        schema = self.schema
        values: Iterable[object] = _LITERALS.get(type_of(schema) or "", ())
        if "enum" in schema or "const" in schema:
            values = schema.get("enum") or [schema["const"]]
        return [json.dumps(value, ensure_ascii=False) for value in values]

    @property
    def initial_value(self) -> str:
        """What to write first, as JSON: the default, else an empty value."""
        if self.default is not None and type_of(self.schema) not in {"object", "array"}:
            return self.default
        values = self.values
        return values[0] if values else _EMPTY.get(type_of(self.schema) or "", "")

    def members(self) -> Iterator[SchemaNode]:
        """Yield the members that an object may have, where their names are known."""
        required = self.schema.get("required", ())
        for name in self.schema.get("properties", {}):
            child = self.child(name)
            if child is not None:
                yield SchemaNode(name, child.schema, name in required)
        for name in _known_names(self.schema.get("propertyNames", {})):
            child = self.child(name)
            if child is not None:
                yield child

    def child(self, name: str) -> SchemaNode | None:
        """Return what the schema says about a member or an item; None for an unknown one."""
        schema = self.schema
        if type_of(schema) == "array":
            child = schema.get("items")
        else:
            child = schema.get("properties", {}).get(name, schema.get("additionalProperties"))
        if not isinstance(child, dict):
            return None
        defaults = schema.get("default")
        if isinstance(defaults, dict) and name in defaults:
            child = {**child, "default": defaults[name]}
        return SchemaNode(name, child)


def node_at(path: Sequence[str]) -> SchemaNode | None:
    """Return what the schema says about a place; None where it says nothing.

    Args:
        path: Member names and array indexes, outermost first.
    """
    node: SchemaNode | None = SchemaNode("", CONFIG_SCHEMA)
    for name in path:
        node = None if node is None else node.child(name)
    return node


@dataclass(frozen=True, slots=True)
class ConfigSuggestion:
    """A text that can be written at a place.

    Attributes:
        label: The name of the member, or the value as JSON.
        before: What to write before `value`: the name of a member, with its colon.
        value: The value.
        after: What to write after it: the comma before the next member.
        node: The member, or what has the value.
        is_member: Whether it is a member, not only a value.
    """

    label: str
    before: str
    value: str
    after: str
    node: SchemaNode
    is_member: bool


def suggestions_at(source: str, offset: int) -> tuple[JsonCursor, list[ConfigSuggestion]]:
    """Return what can be written at an offset of a text, and what it replaces."""
    cursor = cursor_at(source, offset)
    node = node_at(cursor.path[:-1] if cursor.is_name else cursor.path)
    if node is None or not (cursor.is_name or cursor.is_value):
        return cursor, []
    if not cursor.is_name:
        values = node.values or [value for value in (node.default,) if value not in _NO_VALUES]
        return cursor, [
            ConfigSuggestion(value, "", value, "", node, is_member=False) for value in values
        ]
    suggestions = []
    for member in node.members():
        if member.name in cursor.names:
            continue
        name = json.dumps(member.name)
        if cursor.next_character == ":":
            suggestions.append(ConfigSuggestion(member.name, name, "", "", member, is_member=True))
        else:
            comma = "," if cursor.next_character == '"' else ""
            value = member.initial_value
            suggestions.append(
                ConfigSuggestion(member.name, f"{name}: ", value, comma, member, is_member=True)
            )
    return cursor, suggestions


def _known_names(schema: Schema) -> list[str]:
    """Return the names that the schema of names lists."""
    lists = [schema, *schema.get("anyOf", ())]
    return [name for alternative in lists for name in alternative.get("enum", ())]
