"""Objects as YAML and as Markdown with front matter, read from untrusted files.

A file is bounded in size, has no aliases (which can grow to any size) and no tags of programs.
"""

from __future__ import annotations

import re
from typing import Any, Final

import yaml

from vibes_lsp.errors import InvalidObject

MAX_OBJECT: Final = 4 << 20
"""Largest object file, in bytes."""
_LOADER: Final = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_DUMPER: Final = getattr(yaml, "CSafeDumper", yaml.SafeDumper)
_MAX_DEPTH: Final = 50
_FRONT_MATTER: Final = re.compile(rb"---[ \t]*\r?\n(.*?)\r?\n---[ \t]*(?:\r?\n|\Z)", re.DOTALL)


def load_yaml(data: bytes, name: str) -> Any:
    """Return the value of a YAML file.

    Args:
        data: The content.
        name: The file, for the error.

    Raises:
        InvalidObject: It is too large or too deep, no UTF-8 or no YAML, or has aliases.
    """
    if len(data) > MAX_OBJECT:
        raise InvalidObject(f"{name}: {len(data):,} bytes, expected at most {MAX_OBJECT:,}")
    try:
        text = data.decode("utf-8")
        if "*" in text or "&" in text or _may_be_deep(text):
            _check_events(text, name)
        return yaml.load(text, Loader=_LOADER)  # noqa: S506  # a safe loader
    except UnicodeDecodeError:
        raise InvalidObject(f"{name}: no UTF-8") from None
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        mark = getattr(error, "problem_mark", None)
        line = "" if mark is None else f", line {mark.line + 1}"
        raise InvalidObject(f"{name}{line}: no YAML") from None


def _may_be_deep(text: str) -> bool:
    """Return whether a text can nest more deeply than the limit."""
    brackets = text.count("[") + text.count("{")
    return brackets > _MAX_DEPTH or any(
        len(line) - len(line.lstrip(" -?")) > _MAX_DEPTH for line in text.splitlines()
    )


def _check_events(text: str, name: str) -> None:
    depth = 0
    for event in yaml.parse(text, Loader=_LOADER):
        if isinstance(event, yaml.AliasEvent):
            raise InvalidObject(f"{name}: YAML aliases are refused")
        if isinstance(event, yaml.CollectionStartEvent):
            depth += 1
            if depth > _MAX_DEPTH:
                raise InvalidObject(f"{name}: nested more than {_MAX_DEPTH} times")
        elif isinstance(event, yaml.CollectionEndEvent):
            depth -= 1


def dump_yaml(members: dict[str, Any]) -> bytes:
    """Return members as YAML in their order."""
    text: str = yaml.dump(members, Dumper=_DUMPER, sort_keys=False, allow_unicode=True)
    return text.encode("utf-8")


def load_page(data: bytes, name: str) -> dict[str, Any]:
    """Return the front matter of a page with its body as member `body`.

    Raises:
        InvalidObject: There is no front matter, or it is no mapping.
    """
    found = _FRONT_MATTER.match(data)
    if found is None:
        raise InvalidObject(f"{name}: no front matter: expected YAML between lines of '---'")
    members = load_yaml(found[1], name)
    if not isinstance(members, dict):
        raise InvalidObject(f"{name}: the front matter has no members")
    try:
        return {**members, "body": data[found.end() :].decode("utf-8")}
    except UnicodeDecodeError:
        raise InvalidObject(f"{name}: no UTF-8") from None


def dump_page(members: dict[str, Any]) -> bytes:
    """Return a page: its front matter, then its body."""
    front = {name: value for name, value in members.items() if name != "body"}
    return b"---\n" + dump_yaml(front) + b"---\n" + str(members.get("body", "")).encode("utf-8")
