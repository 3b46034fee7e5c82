"""The generated pages say what the code says."""

from __future__ import annotations

import json
from pathlib import Path

import jsonschema
import pytest

from tests.trails.complete_trail import complete
from tools.docs import figures
from tools.docs.generate import DOCS, blocks, files


def test_the_pages_on_disk_are_those_that_make_docs_writes() -> None:
    assert [
        path.relative_to(DOCS.parent).as_posix()
        for path, text in files().items()
        if path.read_text(encoding="utf-8") != text
    ] == [], "run `make docs`"


def test_the_figures_by_distance_are_those_of_all_draws() -> None:
    results = json.loads(figures.RESULTS.read_bytes())
    for mode in ("anchors only", "in git"):
        draws, distances = (
            [row for row in results[name] if row["mode"] == mode] for name in ("draws", "distances")
        )
        assert draws
        for name in draws[0].keys() - {"source", "mode"}:
            assert sum(row[name] for row in draws) == sum(row[name] for row in distances), name


def test_every_block_that_is_made_is_on_a_page() -> None:
    text = "".join(path.read_text(encoding="utf-8") for path in files() if path.suffix == ".md")
    assert [name for name in blocks() if f"<!-- end {name} -->" not in text] == []


@pytest.mark.parametrize("level", ["low", "medium", "high"])
def test_a_sound_trail_fits_the_published_schemas(tmp_path: Path, level: str) -> None:
    trail = complete(tmp_path, level)
    audit = tmp_path / ".ai-audit"
    for name, instance in (
        ("config", json.loads((audit / "config.json").read_bytes())),
        ("manifest", json.loads((audit / "manifest.json").read_bytes())),
    ):
        jsonschema.Draft202012Validator(_schema(name)).validate(instance)
    validator = jsonschema.Draft202012Validator(_schema("record"))
    for record in trail.writer.files.records():
        validator.validate(record)


def test_a_record_that_lacks_what_the_rfc_requires_does_not_fit(tmp_path: Path) -> None:
    trail = complete(tmp_path)
    record = trail.writer.files.record(trail.created)
    del record["environment_hash"]
    assert not jsonschema.Draft202012Validator(_schema("record")).is_valid(record)


def _schema(name: str) -> dict[str, object]:
    schema: dict[str, object] = json.loads((DOCS / "schema" / f"{name}.schema.json").read_bytes())
    return schema
