"""JSON Schemas of log records and manifest entries (RFC 6.1-6.7, 7.2-7.7).

Those of records are made from `model.record_schema`. Unknown members are allowed (RFC 12.2).

Members that the RFC requires but real logs lack for good reasons are optional here:
`annotation_id` (R3), `commit_hash` (R4) and the ends of an edge under their older names (R5).
Separate checks report those.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from vibes_lsp.model.json_schema import EXPECTED, RULE, Schema, Violation, optional
from vibes_lsp.model.members import Members
from vibes_lsp.model.record_schema import RECORD_SCHEMAS, Member, MemberType, RecordSchema
from vibes_lsp.model.vocabulary import (
    CommandType,
    Confidence,
    ContextType,
    PromptType,
    RecordType,
    SessionEvent,
)

TEXT: Final[Schema] = {"type": "string"}
NAME: Final[Schema] = {"type": "string", "minLength": 1}
TEXTS: Final[Schema] = {"type": "array", "items": TEXT}
FRACTION: Final[Schema] = {"type": "number", "minimum": 0, "maximum": 1}
_INTEGER: Final[Schema] = {"type": "integer"}
_BOOLEAN: Final[Schema] = {"type": "boolean"}
_OBJECT: Final[Schema] = {"type": "object"}
_TIMESTAMP: Final[Schema] = {
    "type": "string",
    "format": "date-time",
    "description": "ISO 8601, UTC",
}


def _hexadecimal(pattern: str, meaning: str) -> Schema:
    return {"type": "string", "pattern": pattern, EXPECTED: meaning}


_DIGEST: Final = _hexadecimal("^[0-9a-f]{64}$", "64 lowercase hexadecimal digits")


def word_of(kind: type[Any]) -> Schema:
    """Return the schema of a text that is one of some words."""
    return {"type": "string", "enum": [word.value for word in kind]}


def _with_members(required: Mapping[str, Schema], others: Mapping[str, Schema]) -> Schema:
    """Return the schema of an object by its required and its other members."""
    members = {**required, **{name: optional(schema) for name, schema in others.items()}}
    return {"type": "object", "properties": members, "required": list(required)}


_VALUES: Final[Mapping[MemberType, Schema]] = {
    MemberType.TEXT: TEXT,
    MemberType.NAME: NAME,
    MemberType.TIMESTAMP: _TIMESTAMP,
    MemberType.DIGEST: _DIGEST,
    MemberType.COMMIT: _hexadecimal("^[0-9a-f]{4,64}$", "4 to 64 lowercase hexadecimal digits"),
    MemberType.LINE: {"type": "integer", "minimum": 1},
    MemberType.FRACTION: FRACTION,
    MemberType.BOOLEAN: _BOOLEAN,
    MemberType.LINE_HASHES: _hexadecimal(
        "^(?:[0-9a-f]{8})+$", "8 lowercase hexadecimal digits for each line"
    ),
    MemberType.TEXTS: TEXTS,
    MemberType.FACTORS: {
        "type": "array",
        "items": _with_members(
            {"signal": NAME, "value": FRACTION, "weight": {"type": "number"}}, {"reason": TEXT}
        ),
    },
    MemberType.OBJECT: _OBJECT,
}


def _check_lines(record: Members) -> Violation | None:
    start, end = record["line_start"], record["line_end"]
    ends_first = isinstance(start, int) and isinstance(end, int) and end < start
    return Violation(("line_end",), "the range ends before it starts") if ends_first else None


def _check_start(record: Members) -> Violation | None:
    if record["event"] != SessionEvent.START:
        return None
    needed = ("environment_hash", "assurance_level")
    missing = next((name for name in needed if record.get(name) is None), None)
    return (
        missing and Violation((missing,), "is required when a session starts", "missing")
    ) or None


def _check_ends(record: Members) -> Violation | None:
    """Check the names of an edge's ends; those with older names have no types (R5)."""
    for end in ("source", "target"):
        name = f"{end}_ref"
        if record.get(name) is not None:
            name = f"{end}_type"
        elif record.get(f"{end}_id") is not None:
            continue
        if record.get(name) is None:
            return Violation((name,), "is required", "missing")
    return None


_RULES: Final[Mapping[RecordType, Callable[[Members], Violation | None]]] = {
    RecordType.LINE: _check_lines,
    RecordType.SESSION: _check_start,
    RecordType.EDGE: _check_ends,
}


def _record(schema: RecordSchema) -> Schema:
    members: dict[str, Schema] = {"type": {"const": schema.type.value, "type": "string"}}
    for member in schema.members:
        members[member.name] = _member(member)
        if member.older_name is not None:
            members[member.older_name] = optional(NAME)
    return {
        "title": f"{schema.type.capitalize()}Record",
        "description": schema.description,
        "type": "object",
        "properties": members,
        "required": ["type", *(member.name for member in schema.members if member.is_required)],
        RULE: _RULES.get(schema.type),
    }


def _member(member: Member) -> Schema:
    value = _VALUES[member.type] if isinstance(member.type, MemberType) else word_of(member.type)
    described = f"{member.description}; an extension ({member.section})"
    description = described if member.is_extension else member.description
    schema = {**value, "description": description} if description else value
    return schema if member.is_required else optional(schema)


RECORDS: Final[Mapping[str, Schema]] = {
    schema.type.value: _record(schema) for schema in RECORD_SCHEMAS.values()
}
"""The schema of each type of record."""


def _check_selected(decision: Any) -> Violation | None:
    if decision["selected"] in [option["id"] for option in decision["options"]]:
        return None
    return Violation(("selected",), "expected the id of one of the options")


def _entry(
    kind: ContextType,
    description: str,
    required: Mapping[str, Schema],
    others: Mapping[str, Schema],
) -> Schema:
    always = {"type": {"const": kind.value, "type": "string"}, "created_at": _TIMESTAMP}
    members = _with_members({**always, **required}, others)
    return {"title": f"{kind.capitalize()}Context", "description": description, **members}


_OPTION: Final = _with_members({"id": NAME, "description": TEXT}, {"pros": TEXTS, "cons": TEXTS})
ENTRIES: Final[Mapping[str, Schema]] = {
    ContextType.ENVIRONMENT: _entry(
        ContextType.ENVIRONMENT,
        "Tool, model and parameters (RFC 6.2).",
        dict.fromkeys(("tool_name", "tool_version", "model_name", "model_version"), TEXT),
        {"model_parameters": _OBJECT, "tool_extensions": TEXTS},
    ),
    ContextType.PROMPT: _entry(
        ContextType.PROMPT,
        "What the AI was asked (RFC 6.3).",
        {"prompt_text": TEXT, "prompt_type": word_of(PromptType)},
        {"prompt_context_files": TEXTS},
    ),
    ContextType.COMMAND: _entry(
        ContextType.COMMAND,
        "A tool invocation or shell command (RFC 6.4).",
        {"command_text": TEXT, "command_type": word_of(CommandType)},
        {
            "command_exit_code": _INTEGER,
            "command_output_summary": TEXT,
            "working_directory": TEXT,
        },
    ),
    ContextType.REASONING: _entry(
        ContextType.REASONING,
        "How the AI reasoned: inline, compressed or in a blob (RFC 6.5, 6.7, R8).\n\n"
        "RFC 6.5 requires `reasoning_model`, but the examples of RFC 6.7 lack it: a separate "
        "check\nreports it.",
        {},
        {
            "reasoning_text": TEXT,
            "reasoning_text_compressed": TEXT,
            "compressed": _BOOLEAN,
            "external": _BOOLEAN,
            "blob_path": TEXT,
            "reasoning_token_count": _INTEGER,
            "reasoning_model": TEXT,
        },
    ),
    ContextType.DECISION: {
        **_entry(
            ContextType.DECISION,
            "A choice between alternatives (RFC 6.6).",
            {
                "decision_point": TEXT,
                "options": {"type": "array", "items": _OPTION},
                "selected": TEXT,
                "rationale": TEXT,
            },
            {"confidence": word_of(Confidence)},
        ),
        RULE: _check_selected,
    },
}
"""The schema of each type of entry; `created_at` is not part of an entry's hash (RFC 5.2)."""
