"""Look-up of records, entries and sessions by id or prefix."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.trails import TrailWriter, complete
from tests.unit.trail.trails import ENVIRONMENT, read_trail
from vibes_lsp.errors import AmbiguousId, UnknownId
from vibes_lsp.store.log_follower import LogFollower
from vibes_lsp.trail.lookup import look_up

if TYPE_CHECKING:
    from pathlib import Path

LONG = "abcd" * 16


def test_records_entries_and_sessions_are_found_by_id_and_by_prefix(tmp_path: Path) -> None:
    made = complete(tmp_path)
    trail = read_trail(tmp_path)
    for kind, identifier in (
        ("record", made.created),
        ("record", made.review),
        ("entry", made.command),
        ("session", made.session),
    ):
        for prefix in (identifier, identifier[:12]):
            found = look_up(trail, prefix)
            assert (found.kind, found.id) == (kind, identifier)
    assert look_up(trail, made.created).record == trail.log.by_id(made.created)
    assert look_up(trail, made.command).entry == trail.manifest.entry(made.command)
    session = look_up(trail, made.session).session
    assert session is not None
    assert session.text("description") == "Sign-up"


def test_all_digits_of_a_long_prefix_count(tmp_path: Path) -> None:
    made = complete(tmp_path)
    trail = read_trail(tmp_path)
    assert look_up(trail, made.created[:40]).id == made.created
    wrong = made.created[:39] + ("0" if made.created[39] != "0" else "1")
    with pytest.raises(UnknownId):
        look_up(trail, wrong)


def test_an_ambiguous_prefix_names_the_matches(tmp_path: Path) -> None:
    writer = TrailWriter(tmp_path)
    writer.line("a.py", 1, 1, environment=ENVIRONMENT, annotation_id=LONG)
    writer.entry({"type": "other"}, key=LONG[:60] + "0000")
    writer.session_start(environment=ENVIRONMENT, session_id="abcd-1")
    with pytest.raises(
        AmbiguousId, match=r"3 ids start with it: record abcd.*entry abcd.*session abcd-1"
    ):
        look_up(read_trail(tmp_path), "abcd")


def test_an_ambiguous_prefix_names_five_matches_at_most(tmp_path: Path) -> None:
    writer = TrailWriter(tmp_path)
    for number in range(9):
        writer.line("a.py", 1, 1, environment=ENVIRONMENT, annotation_id=LONG[:60] + f"{number:04}")
    with pytest.raises(AmbiguousId, match=r"9 ids start with it: .* and 4 more"):
        look_up(read_trail(tmp_path), "abcd")


def test_an_exact_match_wins_over_longer_ids(tmp_path: Path) -> None:
    writer = TrailWriter(tmp_path)
    writer.session_start(environment=ENVIRONMENT, session_id="abcd")
    writer.session_start(environment=ENVIRONMENT, session_id="abcdef")
    assert look_up(read_trail(tmp_path), "abcd").id == "abcd"


def test_a_whole_id_is_found_without_reading_the_log(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    writer = TrailWriter(tmp_path)
    key = writer.entry({"type": "other"})
    writer.session_start(environment=ENVIRONMENT, session_id="5e551011-0000")
    created = [
        writer.line("a.py", number, number, environment=ENVIRONMENT) for number in range(1, 100)
    ][-1]
    trail = read_trail(tmp_path)
    read: list[tuple[int, int]] = []
    read_places = LogFollower.read

    def read_some(follower: LogFollower, places: list[tuple[int, int]]) -> list[bytes]:
        read.extend(places)
        return read_places(follower, places)

    monkeypatch.setattr(LogFollower, "read", read_some)
    assert [look_up(trail, each).kind for each in (key, "5e551011-0000", created)] == [
        "entry",
        "session",
        "record",
    ]
    assert len(read) == 2, "the session, the record"


def test_the_same_id_of_two_things_is_ambiguous(tmp_path: Path) -> None:
    writer = TrailWriter(tmp_path)
    writer.line("a.py", 1, 1, environment=ENVIRONMENT, annotation_id=LONG)
    writer.entry({"type": "other"}, key=LONG)
    with pytest.raises(AmbiguousId, match=r"2 ids start with it: record abcd.*entry abcd"):
        look_up(read_trail(tmp_path), LONG)


@pytest.mark.parametrize("identifier", ["note-7", "abcd" * 4, "x" * 64])
def test_a_record_is_found_by_an_id_that_is_no_digest(tmp_path: Path, identifier: str) -> None:
    writer = TrailWriter(tmp_path)
    writer.line("a.py", 1, 1, environment=ENVIRONMENT, annotation_id=identifier)
    assert look_up(read_trail(tmp_path), identifier).kind == "record"


def test_a_repeated_record_is_one(tmp_path: Path) -> None:
    writer = TrailWriter(tmp_path)
    one = writer.line("a.py", 1, 1, environment=ENVIRONMENT)
    writer.raw_log(writer.files.log.read_bytes())
    record = look_up(read_trail(tmp_path), one[:8]).record
    assert record is not None
    assert record.line == 1


def test_of_records_with_one_id_the_annotation_comes_first(tmp_path: Path) -> None:
    writer = TrailWriter(tmp_path)
    other = writer.line("a.py", 1, 1, environment=ENVIRONMENT)
    writer.edge("informed_by", other, other, target_type="annotation", annotation_id=LONG)
    writer.line("a.py", 2, 2, environment=ENVIRONMENT, annotation_id=LONG)
    trail = read_trail(tmp_path)
    assert [record.line for record in trail.log.with_id(LONG)] == [3, 2]
    record = trail.log.by_id(LONG)
    assert record is not None
    assert record.is_annotation
    assert look_up(trail, LONG).record == record


@pytest.mark.parametrize("prefix", ["", "a", "abc"])
def test_a_prefix_of_under_four_characters_is_too_short(tmp_path: Path, prefix: str) -> None:
    complete(tmp_path)
    with pytest.raises(UnknownId, match="too short"):
        look_up(read_trail(tmp_path), prefix)


@pytest.mark.parametrize(
    "prefix", ["ffff_ffff", "zzzz", "0x12", "+123", " 123", "\ud800" * 4, "%" * 100]
)
def test_a_prefix_of_no_id_is_unknown(tmp_path: Path, prefix: str) -> None:
    complete(tmp_path)
    with pytest.raises(UnknownId, match="no record"):
        look_up(read_trail(tmp_path), prefix)


def test_nothing_is_found_in_an_empty_trail(tmp_path: Path) -> None:
    with pytest.raises(UnknownId):
        look_up(read_trail(tmp_path), "abcd")
