"""RFC 12.3: a manifest with entries of later versions."""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest

from tests.conformance import valid_records
from tests.conformance.requirement import rfc_reader
from tests.conformance.trail_access import (
    MANIFEST,
    READ_COMMANDS,
    check_project,
    finding_fields,
    finding_locations,
    open_trail,
    run_vibes,
    run_vibes_commands,
    snapshot,
)
from tests.trails import CompleteTrail, Repository

LATER = {
    "type": "policy",
    "prompt_text": "",
    "reasoning_model": None,
    "created_at": "2026-02-03T11:00:00Z",
    "rules": [{"id": 1}],
}


@rfc_reader(
    "12.3",
    "MUST",
    "unknown entry types are not reported; their hashes are verified",
)
def test_an_unknown_type_of_entry_is_ignored(trail: CompleteTrail) -> None:
    trail.writer.entry(LATER)
    report = check_project(trail.root)
    assert finding_fields(report) == set()
    assert report.entries["other"] == 1
    assert report.context_hashes["spec"] == len(open_trail(trail.root).manifest)


@rfc_reader("12.3", "MUST", "unknown members are ignored, in entries of all types")
@pytest.mark.parametrize(
    "make",
    [
        valid_records.environment,
        valid_records.prompt,
        valid_records.command,
        valid_records.reasoning,
        valid_records.decision,
    ],
)
def test_an_unknown_member_is_ignored(
    trail: CompleteTrail, make: Callable[[], dict[str, object]]
) -> None:
    assert valid_records.entry_findings(trail, make(), added_later={"in": "1.7"}) == set()


@rfc_reader(
    "12.3",
    "MUST NOT",
    "unknown entries keep their values and are shown unchanged",
)
def test_an_unknown_entry_is_kept(trail: CompleteTrail) -> None:
    key = trail.writer.entry(LATER)
    files = snapshot(trail.root)
    assert json.dumps(run_vibes(trail.root, "show", key, "--json").json["entry"]) == json.dumps(
        LATER
    )
    assert run_vibes_commands(trail.root, [*READ_COMMANDS, ("init",)]).code == 0
    after = snapshot(trail.root)
    assert {name: after[name] for name in files} == files


@rfc_reader(
    "12.3",
    "MUST NOT",
    "a check against a base revision reports entries that were changed or removed since",
)
@pytest.mark.parametrize("entry", [LATER, valid_records.prompt()], ids=["unknown", "prompt"])
@pytest.mark.parametrize("change", ["removed", "changed"])
def test_an_entry_that_is_gone_is_found(
    trail: CompleteTrail, entry: dict[str, object], change: str
) -> None:
    key = trail.writer.entry(entry)
    base = Repository(trail.root).commit("Recorded")
    trail.writer.entry(valid_records.command())
    assert not finding_locations(check_project(trail.root, base), "base-entry"), (
        "adding is no change"
    )
    manifest = json.loads((trail.root / MANIFEST).read_bytes())
    manifest["entries"][key]["created_at"] = "2026-02-03T11:00:01Z"
    trail.writer.raw_manifest(json.dumps(manifest, ensure_ascii=False).encode())
    assert not finding_locations(check_project(trail.root, base), "base-entry"), (
        "no key covers it, and a merge chooses it"
    )
    if change == "removed":
        del manifest["entries"][key]
    else:
        manifest["entries"][key]["prompt_text"] += "Otherwise."
    trail.writer.raw_manifest(json.dumps(manifest, ensure_ascii=False).encode())
    assert len(finding_locations(check_project(trail.root, base), "base-entry")) == 1
