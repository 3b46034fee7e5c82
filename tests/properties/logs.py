"""Arbitrary logs: records of all types among invalid lines."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Final

from hypothesis import strategies as st

from tests.trails import annotation_id

if TYPE_CHECKING:
    from hypothesis.strategies import SearchStrategy

IDS: Final = tuple(annotation_id({"number": number}) for number in range(4))
COMMITS: Final = ("a1" * 20, "b2" * 20, None)
ODDITIES: Final = (
    b"",
    b"  ",
    b"\xef\xbb\xbf{}",
    b"{}",
    b"[]",
    b"null",
    b"7",
    b'"text"',
    b"{",
    b'{"type":"line"',
    b"<<<<<<< HEAD",
    b"=======",
    b">>>>>>> topic",
    b'{"type":"line","line_start":NaN}',
    b'{"type":"line","file_path":"\xff"}',
    b'{"type":"line","file_path":"\\ud800"}',
    b'{"type":"line","file_path":5,"annotation_id":7}',
    b'{"type":"edge","metadata":[],"source_ref":{}}',
    b'{"type":"session","session_id":null}',
    b'{"type":["line"]}',
    b'{"type":"later","annotation_id":"x"}',
    b'{"type":"line","annotation_id":"short"}',
    b"[" * 5000,
)


def _record(members: dict[str, Any]) -> bytes:
    return json.dumps(
        {name: value for name, value in members.items() if value is not ...}, ensure_ascii=False
    ).encode()


def _maybe(strategy: SearchStrategy[Any]) -> SearchStrategy[Any]:
    return st.one_of(st.just(...), strategy)


RECORDS: Final = st.one_of(
    st.fixed_dictionaries(
        {
            "type": st.sampled_from(["line", "function"]),
            "annotation_id": _maybe(st.sampled_from(IDS)),
            "file_path": st.sampled_from(["a.py", "b.py", "./a.py", "größe.py"]),
            "line_start": st.integers(1, 3),
            "line_end": st.integers(3, 5),
            "action": st.sampled_from(["create", "modify", "rebase_remap", "rebase_orphan"]),
            "timestamp": st.sampled_from(["2026-02-03T10:00:00Z", "2026-02-03T10:00:01Z", "never"]),
            "commit_hash": _maybe(st.sampled_from(COMMITS)),
            "prompt_hash": _maybe(st.sampled_from([*IDS, "short"])),
            "session_id": _maybe(st.sampled_from(["s", "t", "u"])),
            "assurance_level": _maybe(st.sampled_from(["low", "high"])),
        }
    ),
    st.fixed_dictionaries(
        {
            "type": st.just("edge"),
            "edge_type": st.sampled_from(["supersedes", "reviewed_by", "caused_by", "other"]),
            "source_ref": st.sampled_from([*IDS, "short"]),
            "target_ref": st.sampled_from([*IDS, "short"]),
            "metadata": _maybe(
                st.fixed_dictionaries(
                    {"reason": st.sampled_from(["commit", "covers", "orphan", "else"])}
                )
            ),
        }
    ),
    st.fixed_dictionaries(
        {
            "type": st.just("session"),
            "event": st.just("start"),
            "session_id": st.sampled_from(["s", "t"]),
        }
    ),
    st.fixed_dictionaries(
        {
            "type": st.just("delegation"),
            "parent_session_id": st.just("s"),
            "child_session_id": st.just("t"),
        }
    ),
).map(_record)

LINES: Final = st.one_of(RECORDS, RECORDS, st.sampled_from(ODDITIES), st.binary(max_size=40))


@st.composite
def logs(draw: st.DrawFn) -> bytes:
    """The bytes of a log, with either line ending, with or without a final one."""
    lines = draw(st.lists(LINES, max_size=12))
    end = draw(st.sampled_from([b"\n", b"\r\n"]))
    return end.join(lines) + draw(st.sampled_from([b"", end]))


@st.composite
def split_logs(draw: st.DrawFn) -> list[tuple[bytes, bool]]:
    """A log in pieces as written, each with whether it is read afterwards."""
    log = draw(logs())
    cuts = sorted(draw(st.lists(st.integers(0, len(log)), max_size=6)))
    pieces = [log[start:end] for start, end in zip([0, *cuts], [*cuts, len(log)], strict=True)]
    return [(piece, draw(st.booleans())) for piece in pieces]
