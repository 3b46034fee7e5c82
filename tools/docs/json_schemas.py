"""JSON Schemas of the three files, made from the models: `docs/schema/` publishes them for other tools."""

from __future__ import annotations

from typing import Any, Final

from pydantic import TypeAdapter

from vibes_lsp.model.config_schema import config_schema
from vibes_lsp.model.schemas import ManifestFrame, Record

_DRAFT: Final = "https://json-schema.org/draft/2020-12/schema"


def schemas() -> dict[str, dict[str, Any]]:
    """Return the schema of each file by the schema's own file name; of the log, that of one line."""
    return {
        "config.schema.json": _framed("config.json", config_schema()),
        "manifest.schema.json": _framed("manifest.json", TypeAdapter(ManifestFrame).json_schema()),
        "record.schema.json": _framed(
            "one line of annotations.jsonl", TypeAdapter(Record).json_schema()
        ),
    }


def _framed(title: str, schema: dict[str, Any]) -> dict[str, Any]:
    return {"$schema": _DRAFT, **schema, "title": f"VIBES: {title}"}
