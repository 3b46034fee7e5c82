"""Reviews: the reviewed end of an edge, missing members, the deciding review (R6)."""

from __future__ import annotations

from dataclasses import replace
from itertools import product
from typing import TYPE_CHECKING

import pytest

from tests.trails import TrailWriter
from tests.unit.trail.trails import lineage_of, read_trail
from vibes_lsp.model.vocabulary import ReviewerKind, Verdict
from vibes_lsp.trail.reviews import deciding_review, review_status_of

if TYPE_CHECKING:
    from vibes_lsp.trail.reviews import Review

TEXT = "a\nb\n"


def reviews_of(writer: TrailWriter, annotation: str) -> list[Review]:
    trail = read_trail(writer.root)
    return trail.reviews_of(lineage_of(trail, annotation))


def test_a_review_that_we_wrote_has_all_members(writer: TrailWriter) -> None:
    one = writer.line("a.py", 1, 2, text=TEXT)
    edge = writer.review(one, verdict="rejected", reviewer="Grace", note="No.")
    (review,) = reviews_of(writer, one)
    assert (review.annotation, review.reviewer, review.kind, review.verdict, review.note) == (
        one,
        "Grace",
        "human",
        "rejected",
        "No.",
    )
    record = read_trail(writer.root).log.by_id(one)
    assert record is not None
    assert review.text_hash == record.text("anchor_hash")
    assert review.edge.record.id == edge


def test_an_edge_of_another_tool_is_a_review_of_unknown_kind(writer: TrailWriter) -> None:
    one = writer.line("a.py", 1, 2)
    writer.edge("reviewed_by", one, "session-1", target_type="session")
    (review,) = reviews_of(writer, one)
    assert review.kind == "unknown"
    assert (review.reviewer, review.verdict, review.text_hash, review.note) == (
        None,
        None,
        None,
        None,
    )


def test_a_later_edge_with_the_id_of_a_review_does_not_replace_it(writer: TrailWriter) -> None:
    one = writer.line("a.py", 1, 2, text=TEXT)
    writer.review(one, verdict="rejected")
    log = writer.root / ".ai-audit/annotations.jsonl"
    lines = log.read_bytes().splitlines(keepends=True)
    [rejection] = [line for line in lines if b'"rejected"' in line]
    log.write_bytes(b"".join([*lines, rejection.replace(b'"rejected"', b'"approved"')]))
    assert [review.verdict for review in reviews_of(writer, one)] == ["rejected"]


def test_unknown_vocabulary_counts_as_absent(writer: TrailWriter) -> None:
    one = writer.line("a.py", 1, 2)
    writer.review(one, verdict="lgtm", kind="robot", session="s")
    (review,) = reviews_of(writer, one)
    assert (review.kind, review.verdict) == ("unknown", None)


@pytest.mark.parametrize(
    "metadata",
    [[], "approved", 5, {"verdict": 1, "kind": ["human"], "reviewer": {}, "text": None, "note": 7}],
)
def test_metadata_of_a_wrong_type_counts_as_absent(writer: TrailWriter, metadata: object) -> None:
    one = writer.line("a.py", 1, 2)
    writer.record(
        {
            "type": "edge",
            "edge_type": "reviewed_by",
            "source_ref": one,
            "target_ref": "s",
            "target_type": "session",
            "metadata": metadata,
            "timestamp": writer.tick(),
        }
    )
    (review,) = reviews_of(writer, one)
    assert (review.kind, review.verdict, review.reviewer, review.text_hash, review.note) == (
        "unknown",
        None,
        None,
        None,
        None,
    )


def test_an_edge_in_the_other_direction_is_a_review(writer: TrailWriter) -> None:
    """RFC 10.4.1: the edge "targets" the annotation."""
    one = writer.line("a.py", 1, 2)
    writer.edge("reviewed_by", "session-1", one, source_type="session", target_type="annotation")
    (review,) = reviews_of(writer, one)
    assert review.annotation == one


@pytest.mark.parametrize("reversed_", [False, True])
def test_between_two_annotations_the_review_record_is_the_review(
    writer: TrailWriter, reversed_: bool
) -> None:
    reviewed = writer.line("a.py", 1, 2)
    review = writer.line("a.py", 1, 2, action="review")
    ends = (review, reviewed) if reversed_ else (reviewed, review)
    writer.edge("reviewed_by", *ends, target_type="annotation")
    assert [each.annotation for each in reviews_of(writer, reviewed)] == [reviewed]
    assert reviews_of(writer, review) == []


def test_between_two_edits_the_source_is_reviewed(writer: TrailWriter) -> None:
    one, other = writer.line("a.py", 1, 2), writer.line("a.py", 3, 4)
    writer.edge("reviewed_by", one, other, target_type="annotation")
    assert [each.annotation for each in reviews_of(writer, one)] == [one]
    assert reviews_of(writer, other) == []


def test_a_review_edge_between_sessions_is_ignored(writer: TrailWriter) -> None:
    one = writer.line("a.py", 1, 2)
    writer.edge("reviewed_by", one, one, source_type="session", target_type="session")
    assert reviews_of(writer, one) == []


def test_reviews_come_in_the_order_of_events(writer: TrailWriter) -> None:
    one = writer.line("a.py", 1, 2)
    writer.review(one, note="second", session="s", timestamp="2026-03-02T00:00:00Z")
    writer.review(one, note="first", session="s", timestamp="2026-03-01T00:00:00Z")
    writer.review(one, note="third", session="s", timestamp="2026-03-02T00:00:00Z")
    assert [review.note for review in reviews_of(writer, one)] == ["first", "second", "third"]


def test_a_repeated_edge_is_one_review(writer: TrailWriter) -> None:
    one = writer.line("a.py", 1, 2)
    writer.review(one, session="s")
    writer.raw_log(writer.files.log.read_bytes())
    assert len(reviews_of(writer, one)) == 1


def test_other_edges_are_no_reviews(writer: TrailWriter) -> None:
    one = writer.line("a.py", 1, 2)
    writer.edge(
        "informed_by",
        one,
        "s",
        target_type="session",
        metadata={"verdict": "approved", "kind": "human"},
    )
    assert reviews_of(writer, one) == []


def test_the_deciding_review_alone_gives_the_status_of_all(writer: TrailWriter) -> None:
    """For every short list of reviews, the deciding one alone has the status of all."""
    one = writer.line("a.py", 1, 2, text=TEXT)
    writer.review(one)
    (ours,) = reviews_of(writer, one)
    kinds = [
        replace(ours, kind=kind, verdict=verdict, text_hash=text)
        for kind in ReviewerKind
        for verdict in (*Verdict, None)
        for text in (ours.text_hash, "0" * 64, None)
    ]
    lines = TEXT.splitlines()
    for count in range(4):
        for some in product(kinds, repeat=count):
            reviews = list(some)
            shown = deciding_review(reviews, lines)
            assert review_status_of(reviews, lines) == review_status_of(
                [] if shown is None else [shown], lines
            ), reviews
            assert (shown is None) == (not reviews)


def test_of_equal_reviews_the_newest_decides(writer: TrailWriter) -> None:
    one = writer.line("a.py", 1, 2, text=TEXT)
    for verdict, note in (
        ("approved", "first"),
        ("rejected", "second"),
        ("rejected", "third"),
        ("approved", "fourth"),
        ("approved", "fifth"),
    ):
        writer.review(one, verdict=verdict, note=note, session="s")
    reviews = reviews_of(writer, one)
    shown = [deciding_review(reviews[:count], TEXT.splitlines()) for count in range(1, 6)]
    assert [each and each.note for each in shown] == ["first", "second", "third", "fourth", "fifth"]
