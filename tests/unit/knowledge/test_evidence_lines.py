"""Placing evidence: what a state promises, over generated sources, quotes and edits."""

from __future__ import annotations

import hashlib
import string
from datetime import UTC, datetime
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vibes_lsp.anchors.location import State
from vibes_lsp.anchors.text import Text
from vibes_lsp.knowledge import citations
from vibes_lsp.knowledge.citations import read_snapshot
from vibes_lsp.knowledge.drafts import ClaimDraft
from vibes_lsp.knowledge.evidence_lines import (
    EvidenceLines,
    LineLocator,
    captured_source,
    evidence_lines,
    format_lines,
    parse_locator,
    place_evidence,
)
from vibes_lsp.knowledge.knowledge_base import create_knowledge_base
from vibes_lsp.knowledge.object_index import ObjectIndex
from vibes_lsp.knowledge.review_gate import ReviewGate
from vibes_lsp.knowledge.sources import InlineEvidence, plan_evidence

_LINE = st.text(string.ascii_lowercase + " é\u2028\x0c\t(){}", max_size=12)
_FILE = st.lists(_LINE, min_size=1, max_size=30)


@st.composite
def cited(draw: st.DrawFn) -> tuple[list[str], int, int]:
    """Return lines of a source, with the first and last one that is cited."""
    lines = draw(_FILE)
    start = draw(st.integers(1, len(lines)))
    return lines, start, draw(st.integers(start, len(lines)))


@st.composite
def edited(draw: st.DrawFn, lines: list[str]) -> list[str]:
    """Return the lines after a few edits."""
    found = list(lines)
    for _ in range(draw(st.integers(0, 4))):
        at = draw(st.integers(0, len(found)))
        end = draw(st.integers(at, min(at + 3, len(found))))
        found[at:end] = draw(st.lists(_LINE, max_size=3))
    return found


def _content(lines: list[str]) -> bytes:
    return "".join(f"{line}\n" for line in lines).encode()


def _evidence(
    lines: list[str], start: int, end: int, quote: str | None, *, captured: bool = True
) -> EvidenceLines:
    content = _content(lines)
    source = captured_source(hashlib.sha256(content).hexdigest(), content) if captured else None
    found = evidence_lines(LineLocator(None, start, end), quote, None, source)
    assert found is not None
    return found


@given(st.data(), cited())
def test_exact_and_moved_lines_are_the_quoted_ones(
    data: st.DataObject, source: tuple[list[str], int, int]
) -> None:
    lines, start, end = source
    text = Text.from_bytes(_content(data.draw(edited(lines))))
    quoted = Text.from_bytes(_content(lines)).lines[start - 1 : end]
    quote = data.draw(st.sampled_from([None, "\n".join(quoted)]))
    (where,) = place_evidence([_evidence(lines, start, end, quote)], text)
    if where.state in {State.EXACT, State.MOVED}:
        assert where.start is not None
        assert where.end is not None
        assert text.lines[where.start - 1 : where.end] == quoted
        assert (where.state == State.EXACT) == (where.start == start)
    elif where.state == State.LOST:
        assert (where.start, where.end) == (None, None)
    else:
        assert where.start is not None
        assert where.end is not None
        assert 1 <= where.start <= where.end <= len(text.lines)


@given(cited())
def test_the_unchanged_file_has_exact_lines(source: tuple[list[str], int, int]) -> None:
    lines, start, end = source
    text = Text.from_bytes(_content(lines))
    (where,) = place_evidence([_evidence(lines, start, end, None)], text)
    assert (where.state, where.start, where.end) == (State.EXACT, start, end)


@given(st.data(), cited())
def test_without_the_captured_bytes_nothing_is_proven(
    data: st.DataObject, source: tuple[list[str], int, int]
) -> None:
    lines, start, end = source
    text = Text.from_bytes(_content(data.draw(edited(lines))))
    quote = data.draw(st.none() | st.just("\n".join(lines[start - 1 : end])) | _LINE)
    (where,) = place_evidence([_evidence(lines, start, end, quote, captured=False)], text)
    assert where.state in {State.UNVERIFIED, State.LOST}
    assert not where.sure


@given(st.data(), cited(), _LINE)
def test_a_quote_that_the_lines_do_not_contain_proves_nothing(
    data: st.DataObject, source: tuple[list[str], int, int], quote: str
) -> None:
    lines, start, end = source
    quoted = Text(quote).lines
    named = lines[start - 1 : end]
    if named in (quoted, quote.split("\n")) or (
        quote.strip() and "\n".join(quoted) in "\n".join(named)
    ):
        return
    text = Text.from_bytes(_content(data.draw(edited(lines))))
    (where,) = place_evidence([_evidence(lines, start, end, quote)], text)
    assert where.state in {State.UNVERIFIED, State.LOST}


@given(st.binary(), st.binary())
def test_only_bytes_with_the_hash_are_a_source(content: bytes, other: bytes) -> None:
    identifier = hashlib.sha256(content).hexdigest()
    assert captured_source(identifier, None) is None
    assert (captured_source(identifier, other) is not None) == (content == other)


@given(st.integers(1, 10**9 - 1), st.integers(0, 1000))
def test_lines_are_formatted_as_they_are_parsed(start: int, more: int) -> None:
    end = min(start + more, 10**9 - 1)
    assert parse_locator(format_lines(start, end)) == LineLocator(None, start, end)
    assert parse_locator(f"src/a.py#{format_lines(start, end)}") == LineLocator(
        "src/a.py", start, end
    )


@given(st.text(string.printable, max_size=40))
def test_any_text_is_a_locator_or_none(text: str) -> None:
    found = parse_locator(text)
    assert found is None or (found.start <= found.end and ".." not in (found.path or "").split("/"))


@pytest.mark.parametrize(
    "locator",
    [
        "",
        "L",
        "L0",
        "L5-L4",
        "L1-",
        "l1",
        "10-20",
        "#sec-3",
        "t=00:14:23",
        "b4-4",
        "L" + "9" * 10,
        "L1-L" + "9" * 1_000_000,
        "a/" * 1_000_000 + "#L1",
        "../up.py#L1",
        "a/../../up.py#L1",
        "/etc/passwd#L1",
        "C:\\x#L1",
        "x\0y#L1",
        "L1\n",
        "L\u0661",
    ],
)
def test_what_names_no_lines(locator: str) -> None:
    assert parse_locator(locator) is None


@given(st.data(), cited())
def test_bytes_name_the_lines_that_they_are_on(
    data: st.DataObject, source: tuple[list[str], int, int]
) -> None:
    lines, start, end = source
    content = _content(lines)
    numbers = [number for number, byte in enumerate(content) if byte == 10]
    first = 0 if start == 1 else numbers[start - 2] + 1
    last = numbers[end - 1]
    begin = data.draw(st.integers(first, numbers[start - 1]))
    stop = data.draw(st.integers(max(begin, 0 if end == 1 else numbers[end - 2] + 1), last)) + 1
    assert LineLocator(None, begin, stop, counts_bytes=True).lines(content) == (start, end)
    assert LineLocator(None, begin, len(content) + 1, counts_bytes=True).lines(content) is None


@pytest.mark.parametrize("locator", ["L1", "L2", "L3", "L3-L4", "L4-L5", "L2-L6", "L6"])
def test_evidence_of_any_lines_is_exact_right_after_the_proposal(
    tmp_path: Path, locator: str
) -> None:
    """Latin-1, blank and CRLF lines too."""
    content = b"one\ncaf\xe9 \xe2\x82\n\n\ntwo\r\n\n"
    project = tmp_path / "project"
    project.mkdir()
    (project / "old.txt").write_bytes(content)
    knowledge = create_knowledge_base(project)
    inline = InlineEvidence(path="old.txt", locator=locator)
    evidence = plan_evidence(knowledge, inline, datetime(2026, 11, 22, tzinfo=UTC)).evidence
    named = parse_locator(locator)
    assert named is not None
    source = captured_source(evidence.source_id, content)
    lines = evidence_lines(named, evidence.quote, evidence.hash, source)
    assert lines is not None
    (where,) = place_evidence([lines], Text.from_bytes(content))
    assert where.state is State.EXACT
    assert (where.start, where.end) == (named.start, named.end)


@pytest.mark.parametrize("quote", ["one\ntwo", "one\ntwo\n", "one\r\ntwo\r\n"])
def test_a_quote_may_end_its_last_line(quote: str) -> None:
    assert _evidence(["one", "two"], 1, 2, quote).is_proven


def test_sources_beyond_the_budget_of_a_file_are_not_verified(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setattr(citations, "_MAX_CONTENT", 250)
    (tmp_path / "project").mkdir()
    knowledge = create_knowledge_base(tmp_path / "project")
    for number in range(4):
        content = f"line {number}\n".encode().ljust(100, b"x")
        (knowledge.project / "a.py").write_bytes(content)
        evidence = [InlineEvidence(path="a.py", locator="L1")]
        draft = ClaimDraft(text=f"Claim {number}", evidence=evidence)
        assert not ReviewGate(knowledge).propose(draft, actor="agent").errors
    found = read_snapshot(ObjectIndex(knowledge)).lines_in("a.py")
    assert [lines.is_proven for _, lines in found].count(True) == 2
    assert len(found) == 4
