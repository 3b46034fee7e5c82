"""Answers about provenance that an agent got from our MCP server, as its hook's payload has them.

Pure. An answer says which annotations the agent was told of before it edits their files. Recorded
texts in it are strings, which are never parsed, so no text can add an annotation.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import islice
from typing import Final

from vibes_lsp.agents.events import AnnotationShown, ProvenanceAsked
from vibes_lsp.errors import MalformedJson
from vibes_lsp.model.canonical_json import parse_json_prefix
from vibes_lsp.model.members import JsonValue, Members, objects, text

MAX_SHOWN: Final = 50
"""Annotations of one answer that are kept; a session's edits refer to them."""
_TOOLS: Final = "provenance_at|why|find_prompts|risk|review_queue"
_TOOL_NAME: Final = re.compile(rf"(?:mcp_{{1,2}})?vibes(?:__|[_./:-])(?:{_TOOLS})")
_ANSWER: Final = frozenset({"annotations", "prompts"})
_WRAPPERS: Final = ("structuredContent", "content", "text", "llmContent", "returnDisplay")
"""The members in which agents store the answer of an MCP tool, the most exact first."""
_MAX_DEPTH: Final = 6


def provenance_asked(tool: str | None, response: JsonValue) -> ProvenanceAsked | None:
    """Return what an agent was told; None for another tool or an answer without annotations.

    Args:
        tool: The name of the tool as the agent has it, such as `mcp__vibes__why`.
        response: The tool's response as the agent stores it.
    """
    if tool is None or not _TOOL_NAME.fullmatch(tool):
        return None
    answer = _answer_in(response, _MAX_DEPTH)
    shown = islice(annotations_shown(answer), MAX_SHOWN) if answer else ()
    unique = tuple(dict.fromkeys(shown))
    return ProvenanceAsked(unique) if unique else None


def annotations_shown(answer: Members) -> Iterator[AnnotationShown]:
    """Yield the annotations of an answer with the files that they are in."""
    for shown in (*objects(answer.get("annotations")), *objects(answer.get("prompts"))):
        identifier, path = text(shown, "annotationId"), text(shown, "filePath")
        if identifier and path:
            yield AnnotationShown(identifier, path)
        else:
            yield from annotations_shown(shown) if "annotations" in shown else ()


def _answer_in(value: JsonValue, depth: int) -> Members | None:
    """Return the answer in a response: an object, JSON text, or one of them in wrappers."""
    if depth == 0:
        return None
    if isinstance(value, str):
        return _answer_in(_parsed(value), depth - 1)
    if isinstance(value, dict) and not _ANSWER.isdisjoint(value):
        return value
    inside = (
        [value[name] for name in _WRAPPERS if name in value]
        if isinstance(value, dict)
        else value
        if isinstance(value, list)
        else []
    )
    answers = (_answer_in(part, depth - 1) for part in inside)
    return next((part for part in answers if part is not None), None)


def _parsed(text: str) -> JsonValue:
    """Return the JSON object at the start of a text; Copilot CLI appends the answer once more."""
    try:
        return parse_json_prefix(text) if text.startswith("{") else None
    except MalformedJson:  # the agent has cut it
        return None
