"""Files whose anchors show that none of their text is in another file have none there."""

from __future__ import annotations

import json
from hashlib import sha256

from hypothesis import event, example, given, settings
from hypothesis import strategies as st

from tests.properties.edges import IDS, edge
from tests.properties.test_log_follower import append
from tests.properties.test_saved_index import new_project
from vibes_lsp.index.moves import MovedOut
from vibes_lsp.index.project_files import RangeFilter, RawLines
from vibes_lsp.index.recorded_anchors import may_have_text_in
from vibes_lsp.index.trail import Trail
from vibes_lsp.store.audit_dir import AuditDir

BLOCKS = ("one\ntwo", "three\nfour", "five", "")
CONTEXTS = (*BLOCKS, None, "one\ufffd\ntwo", "three\r\nfour", "else\ntwo")
Record = dict[str, object]


def annotation(number: int, path: str, block: str, context: str | None, *, remap: bool) -> Record:
    """Return an annotation of a block with any context."""
    return {
        "type": "line",
        "annotation_id": IDS[number],
        "file_path": path,
        "line_start": 1,
        "line_end": 1 + block.count("\n"),
        "anchor_context": context,
        "anchor_hash": sha256(block.encode()).hexdigest() if block else None,
        "action": "rebase_remap" if remap else "create",
        "timestamp": f"2026-02-03T10:00:0{number}.000Z",
    }


numbers = st.integers(0, len(IDS) - 1)
records = st.lists(
    st.builds(
        annotation,
        numbers,
        st.sampled_from(("a.py", "./a.py", "b.py")),
        st.sampled_from(BLOCKS),
        st.sampled_from(CONTEXTS),
        remap=st.booleans(),
    )
    | st.builds(edge, numbers, numbers, st.sampled_from((None, "covers", "commit"))),
    max_size=7,
)
ELSEWHERE: list[Record] = [
    annotation(0, "b.py", BLOCKS[0], BLOCKS[0], remap=False),
    annotation(1, "a.py", "", None, remap=True),
    edge(1, 0, "commit"),
]
"""The file has an annotation whose anchors are those of a record about another one."""


@settings(max_examples=200)
@given(records, records, st.lists(st.sampled_from((*BLOCKS[:3], "else")), max_size=3))
@example(ELSEWHERE, [], ["one\ntwo"])
@example(ELSEWHERE[:2], ELSEWHERE[2:], ["one\ntwo"])
def test_no_file_is_left_out_whose_text_may_be_in_another(
    saved: list[Record], added: list[Record], text: list[str]
) -> None:
    with new_project(small=False) as (path, _):
        trail = Trail(AuditDir(path.parent), uses_saved=True)
        append(path, b"".join(json.dumps(each).encode() + b"\n" for each in saved))
        trail.refresh()
        trail.save()
        append(path, b"".join(json.dumps(each).encode() + b"\n" for each in added))
        trail.refresh()
        file = RawLines("\n".join(text).encode())
        for name in ("a.py", "b.py"):
            gone = MovedOut(trail).of(name)
            is_there = any(RangeFilter(each.recorded_range).may_be_in(file) for each in gone)
            may_be_there = may_have_text_in(trail, name, file)
            event(f"is there: {is_there}, may be: {may_be_there}")
            assert may_be_there >= is_there


def test_a_file_without_the_first_line_of_any_range_is_left_out() -> None:
    with new_project(small=False) as (path, _):
        trail = Trail(AuditDir(path.parent), uses_saved=True)
        record = annotation(0, "a.py", BLOCKS[0], BLOCKS[0], remap=False)
        append(path, json.dumps(record).encode() + b"\n")
        trail.refresh()
        trail.save()
        assert may_have_text_in(trail, "a.py", RawLines(b"zero\none\ntwo\n"))
        assert not may_have_text_in(trail, "a.py", RawLines(b"zero\ntwo\n"))
