"""JSON Schemas of arguments and answers, from their types and docstrings."""

from __future__ import annotations

import re
from inspect import cleandoc
from typing import Any, Final

from pydantic import BaseModel, TypeAdapter
from pydantic.alias_generators import to_camel

from vibes_lsp.recording.results import Result

_ATTRIBUTES: Final = "Attributes:"
_INDENT: Final = "    "
_SOURCE: Final = re.compile(r" \((?:RFC|R\d)[^()]*\)")
"""A reference to the standard, which helps no reader of a schema."""


def input_schema(kind: type[BaseModel], left_out: frozenset[str]) -> dict[str, Any]:
    """Return the schema of a tool's arguments.

    Args:
        kind: The type of the arguments.
        left_out: Members, by their names in JSON, that the tool does not take.
    """
    schema = kind.model_json_schema(by_alias=True)
    for name in left_out & schema["properties"].keys():
        del schema["properties"][name]
    return _finished(schema, kind)


def output_schema(kind: type[BaseModel | Result]) -> dict[str, Any]:
    """Return the schema of a tool's answer; members that are null are left out of it."""
    schema: dict[str, Any] = TypeAdapter(kind).json_schema(by_alias=True)
    return _finished(schema, kind)


def _all_attributes(kind: type) -> dict[str, str]:
    """Return what the docstrings of a type and its bases say of its members, by name in JSON."""
    descriptions: dict[str, str] = {}
    for base in reversed(kind.__mro__):
        descriptions |= _attributes(cleandoc(base.__dict__.get("__doc__") or ""))
    return descriptions


def _finished(schema: dict[str, Any], kind: type) -> dict[str, Any]:
    """Return a schema with a description for each member."""
    for definition in schema.get("$defs", {}).values():
        _describe(definition, _attributes(definition.get("description", "")))
    _describe(schema, _all_attributes(kind))
    del schema["description"]  # the tool has one
    return schema


def _describe(schema: dict[str, Any], descriptions: dict[str, str]) -> None:
    schema.pop("title", None)
    about = schema.get("description", "").partition(f"\n{_ATTRIBUTES}\n")[0]
    schema["description"] = _one_line(about)
    for name, member in schema.get("properties", {}).items():
        member.pop("title", None)
        if name in descriptions:
            member["description"] = descriptions[name]


def _attributes(docstring: str) -> dict[str, str]:
    """Return what the section about attributes says of each, by name in JSON."""
    section = docstring.partition(f"\n{_ATTRIBUTES}\n")[2]
    descriptions: dict[str, str] = {}
    name = ""
    for line in section.splitlines():
        if not line.startswith(_INDENT):
            break
        if line.startswith(2 * _INDENT):
            descriptions[name] += line
        else:
            attribute, _, text = line.strip().partition(": ")
            name = to_camel(attribute)
            descriptions[name] = text
    return {name: _one_line(text) for name, text in descriptions.items()}


def _one_line(text: str) -> str:
    return _SOURCE.sub("", " ".join(text.split()))
