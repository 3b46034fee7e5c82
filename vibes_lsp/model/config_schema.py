"""The JSON Schema of `config.json`, and what can be written at a place in it.

The schema is made from the model that checks the file. `docs/schema/` publishes it.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, Final

from pydantic import TypeAdapter

from vibes_lsp.model.config import REQUIRED_MEMBERS, Config
from vibes_lsp.model.json_cursor import JsonCursor, cursor_at

_EMPTY: Final = {"object": "{}", "array": "[]", "string": '""'}
_NO_VALUES: Final = (None, '""')
"""Defaults that are nothing to choose."""
_LITERALS: Final = {"boolean": (True, False)}


@cache
def config_schema() -> dict[str, Any]:
    """Return the schema. Readers use defaults for what is missing; writers must say it."""
    schema = TypeAdapter(Config).json_schema()
    schema["required"] = list(REQUIRED_MEMBERS)
    return schema


@dataclass(frozen=True, slots=True)
class SchemaNode:
    """What the schema says about a value.

    Attributes:
        name: The name of the member, or the index in an array.
        schema: Its schema, references resolved.
        is_required: Whether the object has to have it.
    """

    name: str
    schema: dict[str, Any]
    is_required: bool = False

    @property
    def description(self) -> str:
        """What the value is for."""
        return str(self.schema.get("description", ""))

    @property
    def type(self) -> str:
        """The type in JSON, such as `array of string`."""
        kind = str(self.schema.get("type", "any value"))
        items = self.schema.get("items")
        return kind if items is None else f"{kind} of {_resolved(items).get('type', 'any value')}"

    @property
    def default(self) -> str | None:
        """The default as JSON; None if there is none."""
        default = self.schema.get("default")
        return None if default is None else json.dumps(default, ensure_ascii=False)

    @property
    def values(self) -> list[str]:
        """The values that it may have, as JSON; none if there are too many to list."""
        schema = self.schema
        values: Iterable[object] = _LITERALS.get(str(schema.get("type")), ())
        if "enum" in schema or "const" in schema:
            values = schema.get("enum") or [schema["const"]]
        return [json.dumps(each, ensure_ascii=False) for each in values]

    @property
    def initial_value(self) -> str:
        """What to write first, as JSON: the default, else an empty value."""
        if self.default is not None and self.schema.get("type") not in {"object", "array"}:
            return self.default
        values = self.values
        return values[0] if values else _EMPTY.get(str(self.schema.get("type")), "")

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
        if schema.get("type") == "array":
            found = schema.get("items")
        else:
            found = schema.get("properties", {}).get(name, schema.get("additionalProperties"))
        if not isinstance(found, dict):
            return None
        resolved = _resolved(found)
        defaults = schema.get("default")
        if isinstance(defaults, dict) and name in defaults:
            resolved = {**resolved, "default": defaults[name]}
        return SchemaNode(name, resolved)


def node_at(path: Sequence[str]) -> SchemaNode | None:
    """Return what the schema says about a place; None where it says nothing.

    Args:
        path: Member names and array indexes, outermost first.
    """
    node: SchemaNode | None = SchemaNode("", config_schema())
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
        values = node.values or [each for each in (node.default,) if each not in _NO_VALUES]
        return cursor, [
            ConfigSuggestion(each, "", each, "", node, is_member=False) for each in values
        ]
    found = []
    for member in node.members():
        if member.name in cursor.names:
            continue
        name = json.dumps(member.name)
        if cursor.next_character == ":":
            found.append(ConfigSuggestion(member.name, name, "", "", member, is_member=True))
        else:
            comma = "," if cursor.next_character == '"' else ""
            value = member.initial_value
            found.append(
                ConfigSuggestion(member.name, f"{name}: ", value, comma, member, is_member=True)
            )
    return cursor, found


def _resolved(schema: dict[str, Any]) -> dict[str, Any]:
    """Return a schema without a reference, and without null as another type."""
    reference = schema.get("$ref")
    if isinstance(reference, str):
        target = config_schema()["$defs"][reference.rpartition("/")[2]]
        schema = {**target, **{name: each for name, each in schema.items() if name != "$ref"}}
    choices = [each for each in schema.get("anyOf", ()) if each.get("type") != "null"]
    if not choices:
        return schema
    others = {name: each for name, each in schema.items() if name != "anyOf"}
    if {each.get("type") for each in choices} == {"integer", "number"}:
        return {**others, "type": "number"}
    return {**_resolved(choices[0]), **others}


def _known_names(schema: dict[str, Any]) -> list[str]:
    resolved = _resolved(schema) if schema else {}
    return [str(each) for each in resolved.get("enum", ())]
