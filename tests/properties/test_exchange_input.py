"""Files and notes of other tools never make a reader fail, whatever is in them."""

from __future__ import annotations

import json
from contextlib import suppress
from typing import Any, Final

from hypothesis import given
from hypothesis import strategies as st

from tests.properties.json_values import JSON
from vibes_lsp.exchange.agent_trace import Trace, read_traces
from vibes_lsp.exchange.git_ai_notes import (
    Attestation,
    AuthorshipLog,
    InvalidNote,
    attributed_lines,
    parse_note,
)
from vibes_lsp.exchange.import_plan import Refusal

WORDS: Final = st.sampled_from(
    [
        *("version", "id", "timestamp", "files", "path", "conversations", "ranges", "vcs", "tool"),
        *("start_line", "end_line", "contributor", "type", "model_id", "content_hash", "metadata"),
        *("0.1.0", "1.0", "ai", "human", "git", "2026-02-03T09:00:00Z", "a.py", "revision"),
        *("schema_version", "authorship/3.0.0", "sessions", "prompts", "agent_id", "messages"),
    ]
)
SHAPES: Final = st.recursive(
    st.one_of(WORDS, JSON, st.integers(-2, 9)),
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(WORDS, inner, max_size=6)),
    max_leaves=30,
)


@given(
    st.one_of(
        st.binary(),
        SHAPES.map(lambda each: json.dumps(each).encode()),
        st.lists(SHAPES).map(lambda each: b"\n".join(json.dumps(one).encode() for one in each)),
    )
)
def test_any_bytes_are_read_as_records_or_refused(data: bytes) -> None:
    for each in read_traces(data, "traces.jsonl"):
        assert isinstance(each, Trace | Refusal)
        if isinstance(each, Trace):
            assert all(1 <= one.start <= one.end for one in each.ranges)


LINES: Final = st.one_of(
    st.sampled_from(
        ["---", "a.py", '"a b.py"', "  s_1::t_1 1-4", "  h_1 2", "  x 5-1", "   ", "\x00"]
    ),
    st.text(max_size=9),
)


@given(
    st.one_of(
        st.binary(),
        st.tuples(st.lists(LINES), SHAPES).map(
            lambda pair: "\n".join([*pair[0], "---", json.dumps(pair[1])]).encode(
                "utf-8", "replace"
            )
        ),
    )
)
def test_any_bytes_are_read_as_a_note_or_refused(data: bytes) -> None:
    with suppress(InvalidNote):
        assert isinstance(parse_note(data), AuthorshipLog)


ATTESTED: Final = st.lists(
    st.builds(
        Attestation,
        st.sampled_from(["s_1::t_1", "s_2::t_1", "h_1", "abcd1234abcd1234"]),
        st.lists(
            st.tuples(st.integers(1, 12), st.integers(0, 5)).map(lambda pair: (pair[0], sum(pair)))
        ).map(tuple),
    )
)


@given(ATTESTED, st.integers(0, 12))
def test_the_last_attestation_of_a_line_counts_and_a_persons_always(
    attestations: list[Attestation], length: int
) -> None:
    expected: dict[int, Any] = {}
    for each in (
        *(one for one in attestations if not one.is_human),
        *(one for one in attestations if one.is_human),
    ):
        for start, end in each.ranges:
            expected.update(dict.fromkeys(range(start, min(end, length) + 1), each.key))
    found = {
        line: each.key
        for each in attributed_lines(attestations, length)
        for line in range(each.start, each.end + 1)
    }
    assert found == {line: key for line, key in expected.items() if not key.startswith("h_")}
