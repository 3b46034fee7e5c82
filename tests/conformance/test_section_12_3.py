"""RFC 12.3: a manifest that later versions may have written to."""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest

from tests.conformance import sound
from tests.conformance.faces import (
    MANIFEST,
    READING,
    checked,
    found,
    opened,
    places,
    snapshot,
    vibes,
    vibes_each,
)
from tests.conformance.requirement import rfc
from tests.trails import CompleteTrail, Repository

LATER = {
    "type": "policy",
    "prompt_text": "",
    "reasoning_model": None,
    "created_at": "2026-02-03T11:00:00Z",
    "rules": [{"id": 1}],
}


@rfc(
    "12.3",
    "MUST",
    "entry types of later versions are ignored: no finding, though their hashes count",
)
def test_an_unknown_type_of_entry_is_ignored(trail: CompleteTrail) -> None:
    trail.writer.entry(LATER)
    report = checked(trail.root)
    assert found(report) == set()
    assert report.entries["other"] == 1
    assert report.context_hashes["spec"] == len(opened(trail.root).manifest)


@rfc("12.3", "MUST", "members of later versions are ignored, in an entry of any type")
@pytest.mark.parametrize(
    "make", [sound.environment, sound.prompt, sound.command, sound.reasoning, sound.decision]
)
def test_an_unknown_member_is_ignored(
    trail: CompleteTrail, make: Callable[[], dict[str, object]]
) -> None:
    assert sound.entry_findings(trail, make(), added_later={"in": "1.7"}) == set()


@rfc(
    "12.3",
    "MUST NOT",
    "entries that we do not know are kept, value for value, and shown as they are",
)
def test_an_unknown_entry_is_kept(trail: CompleteTrail) -> None:
    key = trail.writer.entry(LATER)
    files = snapshot(trail.root)
    assert json.dumps(vibes(trail.root, "show", key, "--json").json["entry"]) == json.dumps(LATER)
    assert vibes_each(trail.root, [*READING, ("init",)]).code == 0
    after = snapshot(trail.root)
    assert {name: after[name] for name in files} == files


@rfc(
    "12.3",
    "MUST NOT",
    "an entry of any type that was removed or changed since a base revision is found by the check against it",
)
@pytest.mark.parametrize("entry", [LATER, sound.prompt()], ids=["unknown", "prompt"])
@pytest.mark.parametrize("change", ["removed", "changed"])
def test_an_entry_that_is_gone_is_found(
    trail: CompleteTrail, entry: dict[str, object], change: str
) -> None:
    key = trail.writer.entry(entry)
    base = Repository(trail.root).commit("Recorded")
    trail.writer.entry(sound.command())
    assert not places(checked(trail.root, base), "base-entry"), "adding is no change"
    manifest = json.loads((trail.root / MANIFEST).read_bytes())
    manifest["entries"][key]["created_at"] = "2026-02-03T11:00:01Z"
    trail.writer.raw_manifest(json.dumps(manifest, ensure_ascii=False).encode())
    assert not places(checked(trail.root, base), "base-entry"), (
        "no key covers it, and a merge chooses it"
    )
    if change == "removed":
        del manifest["entries"][key]
    else:
        manifest["entries"][key]["prompt_text"] += "Otherwise."
    trail.writer.raw_manifest(json.dumps(manifest, ensure_ascii=False).encode())
    assert len(places(checked(trail.root, base), "base-entry")) == 1
