"""`vibes show`: a record, entry or session by any unique prefix, with its edges, as on disk."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

import pytest

from tests.cli.run_vibes import vibes

if TYPE_CHECKING:
    from tests.cli.run_vibes import RunVibes
    from tests.trails import CompleteTrail
    from tests.unit.checks.projects import Project


def on_disk(trail: CompleteTrail, identifier: str) -> dict[str, Any]:
    return trail.writer.files.record(identifier)


def test_a_record_is_shown_with_its_context(valid_trail: CompleteTrail) -> None:
    done = vibes("show", valid_trail.created[:12], cwd=valid_trail.root)
    assert (done.code, done.err) == (0, "")
    assert done.lines[0] == f"line {valid_trail.created[:8]}  src/auth.py:1-8"
    assert any(
        re.fullmatch(r"  timestamp +\d+ \w+ ago \(2026-02-03T.*Z\)", line) for line in done.lines
    )
    assert "  prompt_text           Create a sign-up check for email and password." in done.lines
    assert '  model_parameters  {"temperature": 0.2}' in done.lines
    prompt = "Create a sign-up check for email and password."
    assert f"-> caused_by context {(valid_trail.prompt or '')[:8]}  {prompt}" in done.lines
    assert any(line.startswith("-> reviewed_by session ") for line in done.lines)


@pytest.mark.parametrize("name", ["compressed_reasoning", "external_reasoning"])
def test_reasoning_is_shown_from_each_form_of_storage(
    valid_trail: CompleteTrail, run_vibes: RunVibes, name: str
) -> None:
    done = run_vibes("show", getattr(valid_trail, name), cwd=valid_trail.root)
    text = {"compressed_reasoning": "Length first. ", "external_reasoning": "Windows slide. "}[name]
    (line,) = [line for line in done.lines if line.startswith("  reasoning_text")]
    assert text * 10 in line
    assert line.endswith("…")


def test_a_record_in_json(valid_trail: CompleteTrail) -> None:
    shown = vibes("show", valid_trail.modified, "--json", cwd=valid_trail.root).json
    assert shown == {
        "kind": "record",
        "id": valid_trail.modified,
        "record": on_disk(valid_trail, valid_trail.modified),
        "edges": {
            "out": [
                on_disk(valid_trail, valid_trail.causes[1]),
                on_disk(valid_trail, valid_trail.informed_by),
            ],
            "in": [],
        },
    }


def test_edges_of_any_member_are_those_of_the_lineage(
    valid_trail: CompleteTrail, run_vibes: RunVibes
) -> None:
    shown = [
        run_vibes("show", identifier, "--json", cwd=valid_trail.root).json
        for identifier in valid_trail.lineage
    ]
    assert [each["record"]["annotation_id"] for each in shown] == list(valid_trail.lineage)
    assert all(
        on_disk(valid_trail, valid_trail.causes[4]) in each["edges"]["out"] for each in shown
    )


def test_an_edge_within_a_lineage_is_printed_once(
    valid_trail: CompleteTrail, run_vibes: RunVibes
) -> None:
    for identifier in valid_trail.lineage:
        lines = run_vibes("show", identifier, cwd=valid_trail.root).lines
        joining = [line for line in lines if "supersedes" in line]
        assert joining
        assert all(line.startswith("-> ") for line in joining)


def test_an_entry_in_json(valid_trail: CompleteTrail, run_vibes: RunVibes) -> None:
    key = valid_trail.prompt or ""
    shown = run_vibes("show", key[:10], "--json", cwd=valid_trail.root).json
    entry = json.loads(valid_trail.writer.files.manifest.read_bytes())["entries"][key]
    assert (shown["kind"], shown["id"], shown["entry"]) == ("entry", key, entry)
    assert [edge["edge_type"] for edge in shown["edges"]["in"]] == ["caused_by"] * 3


def test_a_session_in_json(valid_trail: CompleteTrail, run_vibes: RunVibes) -> None:
    shown = run_vibes("show", valid_trail.worker_session, "--json", cwd=valid_trail.root).json
    assert (shown["kind"], shown["id"]) == ("session", valid_trail.worker_session)
    assert [record["event"] for record in shown["records"]] == ["start", "end"]
    assert shown["record"] == shown["records"][0]
    assert [edge["edge_type"] for edge in shown["edges"]["in"]] == ["delegated_to", "caused_by"]


@pytest.mark.parametrize(
    ("prefix", "message"),
    [
        (
            "ffffffff",
            "vibes: no record, context entry or session has an id that starts with 'ffffffff'; `vibes log` lists the records\n",
        ),
        ("abc", "vibes: id 'abc' is too short; give at least 4 characters\n"),
        ("", "vibes: id '' is too short; give at least 4 characters\n"),
    ],
)
def test_an_id_that_names_nothing_is_wrong_use(
    valid_trail: CompleteTrail, run_vibes: RunVibes, prefix: str, message: str
) -> None:
    done = run_vibes("show", prefix, cwd=valid_trail.root)
    assert (done.code, done.out, done.err) == (2, "", message)


def test_a_prefix_of_two_ids_is_wrong_use(project: Project, run_vibes: RunVibes) -> None:
    for session in ("same-start-1", "same-start-2"):
        project.writer.session_start(session_id=session)
    done = run_vibes("show", "same-start", cwd=project.root)
    assert (done.code, done.out) == (2, "")
    assert (
        done.err
        == "vibes: ambiguous id 'same-start': 2 ids start with it: session same-start-1, session same-start-2; give more characters\n"
    )


def test_without_a_manifest_the_context_is_not_published(
    project: Project, run_vibes: RunVibes
) -> None:
    project.writer.files.manifest.unlink()
    done = run_vibes("show", project.trail.created, cwd=project.root)
    assert done.code == 0
    assert f"prompt {(project.trail.prompt or '')[:8]}: context not published" in done.lines
