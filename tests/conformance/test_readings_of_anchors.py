"""Readings R14 to R16: anchors, states of a range, ambiguous places."""

from __future__ import annotations

import hashlib
from typing import Any

import pytest

from tests.conformance.requirement import spec_reading
from tests.conformance.trail_access import run_vibes
from tests.conformance.valid_records import line
from tests.trails import OMIT, SOURCES, CompleteTrail, anchors

TEXT = SOURCES["src/auth.py"]
LINES = TEXT.splitlines()


def placed(trail: CompleteTrail, annotation: str) -> dict[str, Any]:
    answer = run_vibes(trail.root, "blame", "src/auth.py", "--json").json
    return next(each for each in answer["placements"] if annotation in each["ids"])


def rewrite(trail: CompleteTrail, text: str) -> None:
    (trail.root / "src/auth.py").write_bytes(text.encode())


def record(trail: CompleteTrail, start: int, end: int, **members: object) -> str:
    """Append a record with the anchors of its range in `TEXT`."""
    range_members = {"line_start": start, "line_end": end, **anchors(TEXT, start, end).members()}
    return trail.writer.record({**line(trail), **range_members, **members})


@spec_reading(
    "R14",
    "line ends do not matter: a file converted to Windows line ends has the same text",
)
def test_line_ends_do_not_matter(trail: CompleteTrail) -> None:
    rewrite(trail, ("# one\n" + TEXT).replace("\n", "\r\n"))
    found = placed(trail, trail.created)
    assert (found["lineStart"], found["lineEnd"], found["state"]) == (2, 9, "moved")


@spec_reading(
    "R14",
    "anchors of other tools with a final newline or Windows line ends are accepted",
)
@pytest.mark.parametrize(
    "joined",
    ["\n".join(LINES[5:8]) + "\n", "\r\n".join(LINES[5:8]), "\r\n".join(LINES[5:8]) + "\r\n"],
)
def test_anchors_of_other_tools_are_accepted(trail: CompleteTrail, joined: str) -> None:
    annotation = record(
        trail, 6, 8, anchor_hash=hashlib.sha256(joined.encode()).hexdigest(), file_content_hash=OMIT
    )
    rewrite(trail, "# one\n" + TEXT)
    found = placed(trail, annotation)
    assert (found["lineStart"], found["lineEnd"], found["state"]) == (7, 9, "moved")


@spec_reading(
    "R14",
    "anchors describe what the AI wrote: those of the first record of an edit apply",
)
def test_the_anchors_of_the_first_record_apply(trail: CompleteTrail) -> None:
    annotation = record(trail, 6, 8)
    other = anchors(TEXT, 1, 3)
    trail.writer.remap(
        annotation,
        commit="c0ffee" * 6,
        start=1,
        end=3,
        anchor_context=other.anchor_context,
        anchor_hash=other.anchor_hash,
    )
    rewrite(trail, "# one\n" + TEXT)
    assert placed(trail, annotation)["lineStart"] == 7


@spec_reading("R14", "a deletion is shown at its recorded place and owns no line")
def test_a_deletion_owns_no_line(trail: CompleteTrail) -> None:
    annotation = record(trail, 6, 8, action="delete")
    found = placed(trail, annotation)
    assert (found["lineStart"], found["state"], found["ownedRanges"]) == (6, "unverified", [])


@spec_reading(
    "R15", "a range is exact, moved, edited, lost or unverified, and says how that is known"
)
@pytest.mark.parametrize(
    ("text", "state"),
    [
        (TEXT, "exact"),
        (TEXT + "\nmore = 1\n", "exact"),
        ("# one\n" + TEXT, "moved"),
        (TEXT.replace('+", address', '*", address'), "edited"),
        ("nothing = 0\n" * 20, "lost"),
    ],
    ids=["unchanged", "changed below", "changed above", "changed inside", "gone"],
)
def test_every_state_has_its_method(trail: CompleteTrail, text: str, state: str) -> None:
    rewrite(trail, text)
    found = placed(trail, trail.created)
    assert found["state"] == state
    assert found["method"] in {
        "file-hash",
        "anchor-hash",
        "history",
        "context",
        "fuzzy",
        "name",
        "log",
        "recorded",
    }
    assert 0 <= found["confidence"] <= 1


@spec_reading(
    "R16",
    "of several copies the one in the order of its neighbours is used and marked ambiguous",
)
def test_the_nearest_of_several_copies_is_taken(trail: CompleteTrail) -> None:
    copied = "\n".join(LINES[5:8]) + "\n"
    annotation = record(trail, 6, 8, file_content_hash=OMIT)
    rewrite(trail, copied + "\n" + TEXT)
    found = placed(trail, annotation)
    assert (found["lineStart"], found["ambiguous"]) == (10, True), "not the first that fits"
    assert found["confidence"] <= 0.5


@spec_reading("R16", "a single copy of a distinctive text is not ambiguous")
def test_the_only_copy_is_certain(trail: CompleteTrail) -> None:
    rewrite(trail, "# one\n" + TEXT)
    found = placed(trail, trail.created)
    assert (found["ambiguous"], found["state"]) == (False, "moved")
    assert found["confidence"] > 0.9
