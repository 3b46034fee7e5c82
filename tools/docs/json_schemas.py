"""JSON Schemas of the three files, made from the models: `docs/schema/` publishes them for other tools."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from vibes_lsp.model.config import CONFIG_SCHEMA
from vibes_lsp.model.json_schema import published
from vibes_lsp.model.schemas import ENTRIES, RECORDS

_DRAFT: Final = "https://json-schema.org/draft/2020-12/schema"
_MANIFEST: Final = {
    "description": "The frame of `manifest.json` (RFC 6.1).",
    "type": "object",
    "properties": {
        "standard": {"type": "string", "const": "VIBES"},
        "version": {"type": "string"},
        "entries": {"type": "object", "additionalProperties": {"oneOf": list(ENTRIES.values())}},
    },
    "required": ["standard", "version", "entries"],
}


def schemas() -> dict[str, dict[str, Any]]:
    """Return the schema of each file by the schema's own file name; of the log, that of one line."""
    return {
        "config.schema.json": _framed("config.json", CONFIG_SCHEMA),
        "manifest.schema.json": _framed("manifest.json", _MANIFEST),
        "record.schema.json": _framed(
            "one line of annotations.jsonl", {"oneOf": list(RECORDS.values())}
        ),
    }


def _framed(title: str, schema: Mapping[str, Any]) -> dict[str, Any]:
    return {"$schema": _DRAFT, **published(schema), "title": f"VIBES: {title}"}
