"""RFC 7.3.1: lines move; recorded lines are valid at the time of the edit only."""

from __future__ import annotations

from typing import Any

import pytest

from tests.conformance.requirement import rfc_reader
from tests.conformance.trail_access import (
    READ_COMMANDS,
    check_project,
    finding_fields,
    finding_locations,
    open_trail,
    run_vibes,
    run_vibes_commands,
)
from tests.conformance.valid_records import line, record_findings
from tests.trails import OMIT, SOURCES, CompleteTrail


@rfc_reader(
    "7.3.1",
    "MUST NOT",
    "recorded lines are shown as recorded and never as lines of the current file",
)
@pytest.mark.parametrize(
    "text", ["", "# one line\n", "\n" * 500], ids=["emptied", "shorter than the range", "longer"]
)
def test_recorded_lines_are_not_taken_for_present_lines(trail: CompleteTrail, text: str) -> None:
    commands = [*READ_COMMANDS, ("log", "--file", "src/auth.py"), ("show", trail.created)]
    before = run_vibes_commands(trail.root, commands, "--json")
    (trail.root / "src/auth.py").write_text(text, encoding="utf-8")
    after = run_vibes_commands(trail.root, commands, "--json")
    assert (before.code, before.err) == (0, "")
    assert after == before
    assert finding_fields(check_project(trail.root)) == set(), (
        "a range beyond the file's end is no error of the record"
    )


@rfc_reader(
    "7.3.1",
    "MUST NOT",
    "a listing shows a record's line in the log and its members, without current lines of the file",
)
def test_a_listing_claims_no_place(trail: CompleteTrail) -> None:
    for listed in run_vibes(trail.root, "log", "--json").json["records"]:
        assert listed.keys() == {"line", "id", "record"}
        assert open_trail(trail.root).log.record(listed["line"]).members == listed["record"]  # type: ignore[union-attr]


@rfc_reader("7.3.1", "SHOULD", "records without content anchors are read like any other")
def test_anchors_may_be_absent(trail: CompleteTrail) -> None:
    bare = dict.fromkeys(("anchor_context", "anchor_hash", "file_content_hash"), OMIT)
    assert record_findings(trail, {**line(trail), **bare}) == set()
    assert open_trail(trail.root).lineages_in("src/auth.py")[-1].current.text("anchor_hash") is None


@rfc_reader("7.3.1", "OPTIONAL", "an anchor that is not a digest is reported")
@pytest.mark.parametrize("member", ["anchor_hash", "file_content_hash"])
@pytest.mark.parametrize("value", ["abc123", "X" * 64, 12])
def test_an_anchor_is_a_digest(trail: CompleteTrail, member: str, value: object) -> None:
    assert record_findings(trail, line(trail), **{member: value}) == {("record-field", member)}


@rfc_reader(
    "7.3.1",
    "MUST",
    "a remapped record without a `supersedes` edge to its original is reported at its line",
)
def test_a_remap_without_an_edge_is_reported(trail: CompleteTrail) -> None:
    assert record_findings(trail, line(trail), action="rebase_remap") == {("remap-edge", "action")}


@rfc_reader(
    "7.3.1",
    "MUST",
    "a `supersedes` edge from a remapped record to its original makes them one edit with the new lines",
)
@pytest.mark.parametrize("old_names", [False, True], ids=["names of 7.6", "names of 7.3.1"])
def test_a_remap_leads_to_its_original(trail: CompleteTrail, old_names: bool) -> None:
    original = trail.writer.record(line(trail))
    moved = trail.writer.record(
        {
            **line(trail),
            "line_start": 20,
            "line_end": 22,
            "action": "rebase_remap",
            "commit_hash": "c0ffee" * 6,
        }
    )
    trail.writer.edge("supersedes", moved, original, target_type="annotation", old_names=old_names)
    trail.writer.cause(original, trail.command)
    lineage = open_trail(trail.root).lineage_of(original)
    assert lineage is not None
    assert lineage.ids == (original, moved)
    assert lineage.current.id == moved
    assert lineage.first.members["line_start"] == 2, "the original is still there, unchanged"
    assert not finding_locations(check_project(trail.root), "remap-edge")


@rfc_reader(
    "7.3.1",
    "stated",
    "an orphan record marks a place that was not found: at most a note, and the edit is still shown",
)
def test_an_orphan_is_read(trail: CompleteTrail) -> None:
    original = trail.writer.record(line(trail))
    trail.writer.cause(original, trail.command)
    orphan = trail.writer.record(
        {**line(trail), "action": "rebase_orphan", "commit_hash": "c0ffee" * 6}
    )
    trail.writer.cause(orphan, trail.command)
    assert check_project(trail.root).passed
    trail.writer.edge(
        "supersedes", orphan, original, target_type="annotation", metadata={"reason": "orphan"}
    )
    lineage = open_trail(trail.root).lineage_of(orphan)
    assert lineage is not None
    assert lineage.current.id == original
    assert finding_fields(check_project(trail.root)) == set()


TEXT = SOURCES["src/auth.py"]
"""The file of the complete trail, in which `created` has lines 1 to 8."""


def placed(trail: CompleteTrail, annotation: str) -> dict[str, Any]:
    """Return what the program says of an annotation's place in the file as it is now."""
    answer = run_vibes(trail.root, "blame", "src/auth.py", "--json").json
    return next(each for each in answer["placements"] if each["annotationId"] == annotation)


def rewrite(trail: CompleteTrail, text: str) -> None:
    (trail.root / "src/auth.py").write_bytes(text.encode())


@rfc_reader(
    "7.3.1",
    "SHOULD",
    "the file hash is checked first: if it matches, the recorded lines are valid",
)
def test_in_an_unchanged_file_the_recorded_lines_hold(trail: CompleteTrail) -> None:
    found_there = placed(trail, trail.created)
    assert (found_there["lineStart"], found_there["lineEnd"]) == (1, 8)
    assert (found_there["state"], found_there["method"]) == ("exact", "file-hash")


@rfc_reader(
    "7.3.1",
    "SHOULD",
    "otherwise the recorded context is searched for, and the anchor hash confirms the text",
)
def test_a_moved_range_is_found_by_its_context_and_verified(trail: CompleteTrail) -> None:
    rewrite(trail, "# one\n# two\n# three\n" + TEXT)
    found_there = placed(trail, trail.created)
    assert (found_there["lineStart"], found_there["lineEnd"], found_there["state"]) == (
        4,
        11,
        "moved",
    )
    assert (found_there["recordedLineStart"], found_there["recordedLineEnd"]) == (1, 8), (
        "the record itself is not corrected"
    )


@rfc_reader(
    "7.3.1",
    "SHOULD",
    "if the context is found but the hash differs, the range is edited",
)
def test_a_found_context_with_another_hash_is_an_edit(trail: CompleteTrail) -> None:
    rewrite(trail, "# one\n" + TEXT.replace("looks like one", "looks like an address"))
    found_there = placed(trail, trail.created)
    assert (found_there["lineStart"], found_there["state"]) == (2, "edited")
    assert found_there["confidence"] < 0.9


@rfc_reader("7.3.1", "MUST NOT", "a range whose text is not found is lost and owns no line")
def test_a_range_whose_text_is_gone_claims_no_line(trail: CompleteTrail) -> None:
    rewrite(trail, "".join(f"unrelated_{number} = {number}\n" for number in range(40)))
    found_there = placed(trail, trail.created)
    assert (found_there["lineStart"], found_there["lineEnd"], found_there["state"]) == (
        None,
        None,
        "lost",
    )
    assert found_there["ownedRanges"] == []


@rfc_reader("7.3.1", "MUST NOT", "recorded lines without confirmation are unverified")
def test_recorded_lines_without_anchors_are_unverified(trail: CompleteTrail) -> None:
    bare = dict.fromkeys(("anchor_context", "anchor_hash", "file_content_hash"), OMIT)
    annotation = trail.writer.record({**line(trail), **bare})
    found_there = placed(trail, annotation)
    assert (found_there["lineStart"], found_there["lineEnd"], found_there["state"]) == (
        2,
        4,
        "unverified",
    )
    assert found_there["confidence"] < 0.5
