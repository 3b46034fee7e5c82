"""The index of the log: ids, prefixes, edges, and broken lines (R12)."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING

import pytest

from tests.properties.edges import share_keys
from tests.trails import OMIT, TrailWriter
from tests.unit.store.followed_log import fixed_clock
from tests.unit.trail.trails import read_trail
from vibes_lsp.store.audit_dir import AuditDir
from vibes_lsp.trail.log_index import LogIndex
from vibes_lsp.trail.rows import LogLineKind
from vibes_lsp.trail.trail import Trail

if TYPE_CHECKING:
    from pathlib import Path

HEAD = "ab" * 8
ONE, OTHER = HEAD + "1" * 48, HEAD + "2" * 48
"""Two ids whose first digits are the same."""


def trail_of(path: Path, *lines: bytes) -> Trail:
    directory = AuditDir(path)
    directory.log.write_bytes(b"".join(line + b"\n" for line in lines))
    trail = Trail(directory)
    trail.refresh()
    return trail


def index_of(path: Path, *lines: bytes) -> LogIndex:
    return trail_of(path, *lines).log


BROKEN = [
    (b"<<<<<<< HEAD", "merge-conflict marker"),
    (b"||||||| base", "merge-conflict marker"),
    (b"=======", "merge-conflict marker"),
    (b">>>>>>> topic", "merge-conflict marker"),
    (b'{"type":"line","line_start":NaN}', "NaN is not JSON"),
    (b'{"type":"line","file_path":"\xff"}', "not UTF-8"),
    (b'{"type":"line","file_path":"a.py","extra":"\xff"}', "not UTF-8"),
    (b'\x0c{"type":"line","file_path":"a.py"}', "expecting value"),
    (b' \xef\xbb\xbf{"type":"line","file_path":"a.py"}', "expecting value"),
    (b'{"type":"line","file_path":"a.py"}\x0b', "extra data"),
    (b'{"type":"line","type":"edge"}', "duplicate member"),
    (b'{"type":"line",', "expecting"),
    (b"[]", "array"),
    (b"7", "number"),
    (b"true", "boolean"),
    (b"null", "null"),
    (b'"text"', "string"),
    (b'{"type":"line"} {"type":"line"}', "extra data"),
    (b'{"a":' * 5000, "nested deeper"),
    (b"\0\0\0\0", "expecting value"),
]


@pytest.mark.parametrize(("line", "reason"), BROKEN, ids=[repr(line[:30]) for line, _ in BROKEN])
def test_a_broken_line_is_reported_and_hides_no_other(
    tmp_path: Path, line: bytes, reason: str
) -> None:
    sound = b'{"type":"line","file_path":"a.py","annotation_id":"%s"}'
    trail = trail_of(tmp_path, sound % ONE.encode(), b"", line, sound % OTHER.encode())
    index, (broken,) = trail.log, trail.broken_lines()
    assert broken.line == 3
    assert reason in broken.reason
    assert [list(index.lines_of(kind)) for kind in (LogLineKind.BLANK, LogLineKind.BROKEN)] == [
        [2],
        [3],
    ]
    assert [record.line for record in index.records_of(LogLineKind.LINE)] == [1, 4]
    assert index.record(3) is None
    assert index.raw(3) == line


def test_the_reason_of_a_broken_line_has_no_line_number(tmp_path: Path) -> None:
    (broken,) = trail_of(tmp_path, b"{}", b'{"type":"line",}').broken_lines()
    assert "line 1" not in broken.reason
    assert "column 16" in broken.reason


@pytest.mark.parametrize(
    "line",
    [
        b'{"type":"line","file_path":"a.py","extra":1e400}',
        b'{"type":"line","file_path":"a.py","extra":1,"extra":2}',
        b'{"type":"line","file_path":"a.py","extra":' + b"[" * 70 + b"]" * 70 + b"}",
        b'{"type":"line","file_path":"a.py","extra":1' + b"0" * 5000 + b"}",
    ],
    ids=["infinite", "contradiction", "deep", "huge"],
)
def test_a_line_that_only_the_strict_decoder_rejects_yields_no_record(
    tmp_path: Path, line: bytes
) -> None:
    """The scan decodes few members, so the error shows when the record is decoded."""
    index = index_of(tmp_path, line, b'{"type":"line","file_path":"a.py"}')
    assert [record.line for record in index.records_of(LogLineKind.LINE)] == [2]
    assert [line for line, _ in index.decode([1, 2])] == [1, 2]
    assert not hasattr(dict(index.decode([1]))[1], "members")


@pytest.mark.parametrize(
    "line",
    [
        b'{"type":"line","file_path":5,"annotation_id":7,"line_start":[]}',
        b'{"type":"function","file_path":{},"function_name":1}',
        b'{"type":"edge","edge_type":1,"source_ref":[],"target_ref":{},"metadata":[],"annotation_id":false}',
        b'{"type":"edge","edge_type":"supersedes","metadata":{"reason":5}}',
        b'{"type":"session","session_id":1.5,"event":null}',
        b'{"type":"delegation","annotation_id":[1]}',
    ],
)
def test_members_of_the_wrong_type_are_read_as_absent(tmp_path: Path, line: bytes) -> None:
    trail = trail_of(tmp_path, line, b'{"type":"line","file_path":"a.py"}')
    index = trail.log
    assert trail.broken_lines() == []
    assert trail.count(LogLineKind.OTHER, LogLineKind.BROKEN) == 0
    record = index.record(1)
    assert record is not None
    found = index.by_id(record.id)
    assert found is not None
    assert found.line == 1, "its computed id finds it"
    assert "a.py" in trail.annotated_paths()


@pytest.mark.parametrize("type_", [b'"later"', b"5", b"null", b'["line"]', b'"LINE"', b'""'])
def test_unknown_types_are_counted_as_other(tmp_path: Path, type_: bytes) -> None:
    trail = trail_of(tmp_path, b'{"type":' + type_ + b',"annotation_id":"x"}', b"{}")
    assert trail.count(LogLineKind.OTHER) == trail.line_count == 2
    assert trail.broken_lines() == []
    assert not trail.annotated_paths()


def test_lone_surrogates_are_kept(tmp_path: Path) -> None:
    trail = trail_of(
        tmp_path, b'{"type":"line","file_path":"\\ud800.py","annotation_id":"\\udfff"}'
    )
    assert trail.annotated_paths() == ["\ud800.py"]
    found = trail.log.by_id("\udfff")
    assert found is not None
    assert found.members["file_path"] == "\ud800.py"


def test_a_byte_order_mark_hides_no_record(tmp_path: Path) -> None:
    index = index_of(tmp_path, b'\xef\xbb\xbf{"type":"line","file_path":"a.py"}')
    assert [record.line for record in index.records_of(LogLineKind.LINE)] == [1]


def test_a_record_without_an_id_gets_its_computed_id(writer: TrailWriter) -> None:
    computed = writer.line("a.py", 1, 2, annotation_id=OMIT)
    record = read_trail(writer.root).log.by_id(computed)
    assert record is not None
    assert record.id == computed
    assert "annotation_id" not in record.members


@pytest.mark.parametrize(
    "identifier",
    [
        "note-7",
        "",
        "é" * 64,
        "x" * 64,
        "ab" * 16,
        "AB" * 32,
        ("ab" * 8) + "x" * 48,
        "0" * 15 + "é" + "0" * 48,
    ],
)
def test_records_and_edges_are_found_by_ids_that_are_no_digests(
    writer: TrailWriter, identifier: str
) -> None:
    plain = writer.line("a.py", 1, 2)
    writer.line("a.py", 3, 4, annotation_id=identifier)
    writer.edge("informed_by", identifier, plain)
    log = read_trail(writer.root).log
    record = log.by_id(identifier)
    if identifier:
        assert record is not None
        assert record.members["line_start"] == 3
        assert [edge.target for edge in log.edges(source=identifier)] == [plain]
        assert [edge.source for edge in log.edges(target=plain)] == [identifier]
    assert log.by_id("note-8") is None


@pytest.mark.parametrize("alike", [False, True])
def test_ids_with_equal_first_digits_are_distinguished(
    writer: TrailWriter, monkeypatch: pytest.MonkeyPatch, alike: bool
) -> None:
    other = OTHER
    if alike:
        share_keys(monkeypatch)
    for line, identifier in enumerate((ONE, other), 1):
        writer.line("a.py", line, line, annotation_id=identifier)
        writer.edge("caused_by", identifier, f"prompt {line}")
    writer.edge("depends_on", other, ONE, target_type="annotation")
    log = read_trail(writer.root).log
    for line, identifier in enumerate((ONE, other), 1):
        record = log.by_id(identifier)
        assert record is not None
        assert record.members["line_start"] == line
    assert log.by_id(HEAD + "3" * 48) is None
    assert [edge.target for edge in log.edges(source=ONE)] == ["prompt 1"]
    assert [edge.target for edge in log.edges(source=other)] == ["prompt 2", ONE]
    assert [edge.source for edge in log.edges(target=ONE)] == [other]
    assert [record.id for record in log.with_prefix(HEAD)] == [ONE, other]
    assert [record.id for record in log.with_prefix(other[:33])] == [other]


def test_ids_that_are_no_digests_are_found_by_prefix_among_digests(writer: TrailWriter) -> None:
    identifiers = [ONE, "abab-a-note", ONE.upper(), "note 8", "é" * 8, "abab"]
    for line, identifier in enumerate(identifiers, 1):
        writer.line("a.py", line, line, annotation_id=identifier)
    log = read_trail(writer.root).log
    for prefix, found in (
        ("abab", [ONE, "abab-a-note", "abab"]),
        ("abab-", ["abab-a-note"]),
        ("ababa", [ONE]),
        ("ABAB", [ONE.upper()]),
        ("note", ["note 8"]),
        ("éé", ["é" * 8]),
        ("-bab", []),
        ("0xab", []),
    ):
        assert [record.id for record in log.with_prefix(prefix)] == found


def test_a_record_with_an_empty_id_is_found_by_the_computed_one(writer: TrailWriter) -> None:
    writer.line("a.py", 1, 1, annotation_id="")
    log = read_trail(writer.root).log
    record = log.record(1)
    assert record is not None
    assert len(record.id) == 64
    assert log.by_id(record.id) == record
    assert log.with_prefix(record.id[:8]) == [record]
    assert log.by_id("") is None


def test_edges_come_once_each_in_log_order(writer: TrailWriter) -> None:
    one, other = writer.line("a.py", 1, 1), writer.line("a.py", 2, 2)
    edges = [
        writer.edge("depends_on", one, other),
        writer.edge("depends_on", one, one),
        writer.edge("informed_by", other, one),
    ]
    log = read_trail(writer.root).log
    assert [edge.record.id for edge in log.edges(source=one, target=one)] == edges
    assert [edge.record.id for edge in log.edges(target=one)] == edges[1:]


def test_an_edge_with_the_older_member_names_connects_annotations(writer: TrailWriter) -> None:
    one, other = writer.line("a.py", 1, 1), writer.line("a.py", 2, 2)
    writer.edge("informed_by", one, other, old_names=True)
    (edge,) = read_trail(writer.root).log.edges(source=one)
    assert (edge.target, edge.source_type, edge.target_type) == (other, "annotation", "annotation")


def test_appended_records_are_found_after_a_refresh(writer: TrailWriter) -> None:
    one = writer.line("a.py", 1, 1)
    trail = read_trail(writer.root)
    assert trail.log.edges(source=one) == []
    generation = trail.log.generation
    other = writer.line("a.py", 2, 2)
    writer.edge("depends_on", one, other)
    assert trail.log.by_id(other) is None
    assert trail.refresh()
    assert trail.log.generation > generation
    assert trail.log.by_id(other) is not None
    assert [edge.target for edge in trail.log.edges(source=one)] == [other]


def test_no_record_of_a_replaced_log_is_found(writer: TrailWriter) -> None:
    one = writer.line("a.py", 1, 1)
    writer.edge("depends_on", one, one)
    trail = read_trail(writer.root)
    assert trail.log.by_id(one) is not None
    assert trail.log.edges(source=one)
    writer.files.log.write_bytes(b'{"type":"session","session_id":"s","event":"start"}\n')
    assert trail.refresh()
    assert trail.log.by_id(one) is None
    assert trail.log.edges(source=one) == []
    assert trail.annotated_paths() == []


def test_an_incomplete_last_line_changes_nothing_at_any_refresh(writer: TrailWriter) -> None:
    writer.line("a.py", 1, 1)
    writer.raw_log(b'{"type":"li')
    log = LogIndex(writer.files.log)
    with fixed_clock() as clock:
        clock.now = writer.files.log.stat().st_mtime_ns + 1
        assert log.refresh()
        generation = log.generation
        assert not log.refresh()
    assert log.generation == generation
    assert log.incomplete_tail() == b'{"type":"li'


def test_a_log_that_cannot_be_read_counts_as_empty(writer: TrailWriter) -> None:
    one = writer.line("a.py", 1, 1)
    trail = read_trail(writer.root)
    log = writer.files.log
    log.rename(log.with_suffix(".hidden"))
    log.mkdir()
    assert trail.refresh()
    assert str(trail.log.problem) == "annotations.jsonl is not a regular file"
    assert not trail.refresh(), "the problem is reported once"
    assert trail.annotated_paths() == []
    assert trail.log.by_id(one) is None
    log.rmdir()
    log.with_suffix(".hidden").rename(log)
    assert trail.refresh()
    assert not trail.log.problem
    assert trail.log.by_id(one) is not None


@pytest.mark.parametrize(
    "first", [b"", b'{"type":"line","prompt_hash":7}'], ids=["usual", "unusual"]
)
def test_annotations_are_found_by_the_prompt_or_decision_that_they_name(
    tmp_path: Path, first: bytes
) -> None:
    lines = [
        first,
        b'{"type":"line","prompt_hash":"p","annotation_id":"1"}',
        b'{"type":"edge","prompt_hash":"p","annotation_id":"2"}',
        b'{"type":"function","prompt_hash":"p","decision_hash":"d","annotation_id":"3"}',
        b'{"type":"line","prompt_hash":"q","decision_hash":"d","annotation_id":"4"}',
        b'{"type":"line","annotation_id":"5"}',
    ]
    index = index_of(tmp_path, *lines)
    found = {entry: [each.id for each in index.annotations_naming(entry, 10)] for entry in "pqdx"}
    assert found == {"p": ["1", "3"], "q": ["4"], "d": ["3", "4"], "x": []}
    assert [each.id for each in index.annotations_naming("p", 1)] == ["3"]


def test_a_nested_timestamp_is_not_that_of_the_record(tmp_path: Path) -> None:
    trail = trail_of(
        tmp_path,
        b'{"x":{"timestamp":"2001-01-01T00:00:00Z"},"type":"line","file_path":"a.py",'
        b'"timestamp":"2026-02-03T10:00:00Z"}',
        b'{"x":{"timestamp":"2026-02-03T10:00:00Z"},"type":"line","file_path":"a.py",'
        b'"timestamp":"2001-01-01T00:00:00Z"}',
    )
    since = datetime(2026, 1, 1, tzinfo=UTC)
    assert [lineage.first.line for lineage in trail.lineages_since(since)] == [1]
