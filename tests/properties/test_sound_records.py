"""A check that sets sound records aside finds and counts what one that looks at each does."""

from __future__ import annotations

import json
import tempfile
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.properties.logs import LINES
from tests.trails import annotation_id, context_hash
from vibes_lsp.checks import report
from vibes_lsp.checks.context import open_context
from vibes_lsp.checks.report import Report, check_trail
from vibes_lsp.checks.sound_records import SoundRecords
from vibes_lsp.store.audit_dir import AuditDir

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

NOW: Final = datetime(2026, 2, 4, tzinfo=UTC)
TIME: Final = "2026-02-03T10:00:00.000Z"
ENVIRONMENT: Final = {
    "type": "environment",
    "tool_name": "t",
    "tool_version": "1",
    "model_name": "m",
    "model_version": "1",
    "created_at": TIME,
}
PROMPT: Final = {
    "type": "prompt",
    "prompt_text": "p",
    "prompt_type": "user_instruction",
    "created_at": TIME,
}
ENTRIES: Final = {context_hash(each): each for each in (ENVIRONMENT, PROMPT)} | {"short": PROMPT}
ENVIRONMENT_HASH, PROMPT_HASH, _ = ENTRIES
ANNOTATION: Final[dict[str, Any]] = {
    "file_path": "a.py",
    "environment_hash": ENVIRONMENT_HASH,
    "prompt_hash": PROMPT_HASH,
    "action": "create",
    "timestamp": TIME,
    "commit_hash": "ab" * 20,
    "session_id": "s",
    "assurance_level": "medium",
    "anchor_context": "größe\n\t\"'\\/\u2028\x7f",
    "anchor_hash": "cd" * 32,
}
LINE: Final = {"type": "line", "line_start": 1, "line_end": 2, **ANNOTATION}
FACTORS: Final = [
    {"signal": "temperature", "value": 0.5, "weight": 0.25, "reason": "größe"},
    {"signal": "human_review_present", "value": 1, "weight": 0.75},
]
SCORED: Final = {**LINE, "line_start": 2, "risk_score": 0.875, "risk_factors": FACTORS}
FUNCTION: Final = {"type": "function", "function_name": "f", **ANNOTATION}
SESSION: Final = {
    "type": "session",
    "event": "start",
    "session_id": "s",
    "environment_hash": ENVIRONMENT_HASH,
    "assurance_level": "medium",
    "timestamp": TIME,
}


def _edge(source: str, target: str) -> dict[str, Any]:
    return {
        "type": "edge",
        "edge_type": "caused_by",
        "source_ref": source,
        "source_type": "annotation",
        "target_ref": target,
        "target_type": "context",
        "timestamp": TIME,
        "session_id": "s",
        "metadata": {"reason": "covers", "count": 1},
    }


ANNOTATION_EDGE: Final = {
    **_edge(annotation_id(LINE), annotation_id(FUNCTION)),
    "edge_type": "supersedes",
    "target_type": "annotation",
}
SESSION_EDGE: Final = {**_edge("s", "s"), "source_type": "session", "target_type": "session"}
BASES: Final = (
    LINE,
    FUNCTION,
    SCORED,
    _edge(annotation_id(LINE), PROMPT_HASH),
    ANNOTATION_EDGE,
    SESSION_EDGE,
)
NAMES: Final = sorted(
    {
        *(*LINE, *FUNCTION, *ANNOTATION_EDGE),
        *("command_hash", "reasoning_hash", "decision_hash", "file_content_hash"),
        *("function_signature", "risk_score", "risk_factors", "imported_from", "later"),
        *("source_id", "target_id"),
    }
)
VALUES: Final[tuple[Any, ...]] = (
    *("", "a", None, 0, 1, 1.0, 3, -1, 2**53 + 1, 2**70, True, [], {}, "line", "function", "edge"),
    *("ab" * 20, "AB" * 20, "abc", "ab" * 32, "AB" * 32, "ab" * 33, "ab" * 31 + "a\n", "ü" * 64),
    *(ENVIRONMENT_HASH, PROMPT_HASH, f"{PROMPT_HASH}\n", "short", "s", "low", "medium", "high"),
    *("modify", "review", "rebase_remap", "rebase_orphan", "supersedes", "caused_by", "covers"),
    *("annotation", "context", "session", "2026-02-03", "2026-02-30T10:00:00.000Z"),
    *(f"{TIME}\n{TIME}", "2026-02-03T10:00:00+05:00", "2026-02-03T10:00", f" {TIME}", f"{TIME}\n"),
    *("2030-01-01T00:00:00.000Z", "0001-01-01T00:00:00+14:00", "\uff12026-02-03T10:00:00Z"),
    *(annotation_id(LINE), annotation_id(FUNCTION)),
    [{"signal": "temperature", "value": 0.5, "weight": 1}],
    [*FACTORS, {}],
    [FACTORS[0] | {"later": 1}, *FACTORS[1:]],
    *(
        [FACTORS[0] | {name: value}, *FACTORS[1:]]
        for name, values in (
            ("signal", ("", "org:a", "else", "human_review_present")),
            ("value", (0.00001, 0.0001, 0.1 + 0.2, 2, -0.5, "0.5", None, True, 10**30)),
            ("weight", (0, 1.0, 2.5, -1, {"a": 1})),
            ("reason", (None, 1)),
        )
        for value in values
    ),
    *(0.87, 0.88, 0.9, 1e-7),
    {"reason": "commit", "nested": {"a": 1}},
    {"b": 1.0, "a": "ü"},
)


def _line(record: Mapping[str, Any], *, keep_id: bool = False) -> bytes:
    """A record in the usual notation, with its id."""
    members = dict(record)
    if not keep_id:
        members["annotation_id"] = annotation_id(members)
    return json.dumps(members, ensure_ascii=False, separators=(",", ":")).encode()


def _notations(record: Mapping[str, Any]) -> Iterator[bytes]:
    """The lines of a sound record in other notations, valid or not."""
    lines = (_line({**record, "timestamp": f"2026-02-03T11:00:00.{n:03}Z"}) for n in range(100))
    line = next(lines)
    yield line.replace(b":", b": ")
    yield next(lines) + b" "
    yield next(lines) + b"\r"
    yield b"\xef\xbb\xbf" + next(lines)
    line = next(lines)
    yield line + line
    yield next(lines)[:-1]
    yield json.dumps(json.loads(next(lines)), separators=(",", ":")).encode()
    yield json.dumps(json.loads(next(lines)), separators=(",", ":"), sort_keys=True).encode()
    yield next(lines).replace(b'"timestamp"', b'"time\\u0073tamp"')
    yield next(lines).replace(b"-", b"\\u002d", 1)
    yield next(lines).replace(b"Z", b"\xff", 1)
    yield next(lines).replace(b"Z", b"\\ud800", 1)
    for number in (b"1.0", b"1e0", b"01", b"-1", b"1" * 400):
        yield next(lines).replace(b":1,", b":%s," % number)
    for name in (b"timestamp", b"type", b"later"):  # members that occur twice or are unknown
        for value in (b'"x"', b"1", b'"%s"' % TIME.encode()):
            yield next(lines)[:-1] + b',"%s":%s}' % (name, value)
            yield b'{"%s":%s,' % (name, value) + next(lines)[1:]


def _numbers() -> Iterator[bytes]:
    """The lines of a record with a risk, with its numbers in other notations, valid or not."""
    lines = (_line({**SCORED, "timestamp": f"2026-02-03T12:00:00.{n:03}Z"}) for n in range(100))
    for number in (b"0.50", b"5e-1", b"5E-1", b"0.5e0", b".5", b"0.5 ", b"NaN", b"50000e-5"):
        yield next(lines).replace(b":0.5,", b":%s," % number)
        yield next(lines).replace(b":0.5,", b":%s, " % number)
    yield next(lines).replace(b":0.5,", b':0.5,"value":0.5,')
    yield next(lines).replace(b":1,", b":10e-1,")
    yield next(lines).replace(b":0.875,", b":0.8750,")
    shorter = next(lines).replace(b":0.875,", b":1e-4,").replace(b":0.5,", b":1e-4,")
    yield shorter.replace(b',"session_id":"s"', b',"type":"line" ,"session_id":"s"')


def _faults() -> Iterator[bytes]:
    """One sound record of each kind, with every value in every member, in every notation."""
    yield from _numbers()
    for number, base in enumerate(BASES):
        yield _line(base)
        yield _line(base)  # the id occurs twice
        yield from _notations(base)
        yield _line(base | {"annotation_id": f"{number:064x}"}, keep_id=True)
        yield _line(base | {"annotation_id": f"{number:063x}"}, keep_id=True)
        yield _line(base | {"annotation_id": None}, keep_id=True)
        yield _line(base, keep_id=True)
        for name in NAMES:
            yield _line({key: value for key, value in base.items() if key != name})
            yield from (_line({**base, name: value}) for value in VALUES)
    for number in range(10, 14):  # lineages of several records, with and without a cause
        newer, older = ({**LINE, "line_start": number, "line_end": end} for end in (20, 30))
        yield from map(_line, (newer, older))
        joining = _edge(annotation_id(newer), annotation_id(older))
        joining |= {"edge_type": "supersedes", "target_type": "annotation"}
        yield _line({**joining, "metadata": {"reason": "commit"}})
        if number % 2:
            yield _line(_edge(annotation_id(older), PROMPT_HASH))


@pytest.mark.parametrize("level", ["low", "high"])
@pytest.mark.parametrize("at_once", [1, 8_192])
def test_no_fault_of_a_record_is_missed_and_each_is_counted(
    tmp_path: Path, level: str, at_once: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(report, "_LINES_AT_ONCE", at_once)
    faults = list(_faults())
    _assert_nothing_is_missed(tmp_path / ".ai-audit", [_line(SESSION), *faults], b"\n", level)


@given(
    st.lists(st.sampled_from(list(_faults())) | LINES, min_size=1, max_size=6),
    st.sampled_from([b"\n", b"\r\n"]),
)
def test_nothing_depends_on_the_other_lines(texts: list[bytes], end: bytes) -> None:
    with tempfile.TemporaryDirectory() as folder:
        _assert_nothing_is_missed(Path(folder) / ".ai-audit", texts, end, "medium")


def _assert_nothing_is_missed(audit: Path, texts: Sequence[bytes], end: bytes, level: str) -> None:
    _write(audit, texts, end, level)
    found = _check(audit)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(SoundRecords, "sift", _leave_all)
        expected = _check(audit)
    assert found == expected


def _write(audit: Path, texts: Sequence[bytes], end: bytes, level: str) -> None:
    audit.mkdir()
    config = {"standard": "VIBES", "standard_version": "1.0", "assurance_level": level}
    (audit / "config.json").write_text(json.dumps(config))
    manifest = {"standard": "VIBES", "version": "1.0", "entries": ENTRIES}
    (audit / "manifest.json").write_text(json.dumps(manifest))
    (audit / "annotations.jsonl").write_bytes(end.join([*texts, b""]))


def _check(audit: Path) -> Report:
    return check_trail(open_context(AuditDir(audit), NOW))


def _leave_all(_: object, first: int, texts: Sequence[bytes], *__: object) -> list[int]:
    return list(range(first, first + len(texts)))


@pytest.mark.parametrize("end", [b"\n", b"\r\n"])
def test_sound_annotations_and_edges_are_set_aside(
    tmp_path: Path, end: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    left: list[list[int]] = []
    sift = SoundRecords.sift

    def record_what_is_left(*arguments: Any) -> list[int]:
        left.append(sift(*arguments))
        return left[-1]

    monkeypatch.setattr(SoundRecords, "sift", record_what_is_left)
    audit = tmp_path / ".ai-audit"
    _write(audit, [_line(each) for each in (SESSION, *BASES)], end, "medium")
    assert _check(audit).annotation_ids["spec"] == 1 + len(BASES)
    assert left == [[1]]  # the session
