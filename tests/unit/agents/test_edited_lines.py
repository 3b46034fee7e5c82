"""Which lines an edit wrote: 200 generated tool calls for each kind of payload, and hard cases."""

from __future__ import annotations

import random
from collections import Counter
from dataclasses import replace
from typing import Final

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.unit.agents.generated_edits import (
    FOLDER,
    GeneratedEdit,
    join,
    moved,
    only_window,
    replace_once,
)
from tests.unit.agents.payload_kinds import KINDS
from tests.unit.agents.tool_calls import (
    Call,
    Kind,
    as_bytes,
    file_of,
    one,
    sequence,
    whole,
)
from vibes_lsp.agents.all_agents import read_event
from vibes_lsp.agents.edited_lines import (
    EditedRange,
    ResolvedEdit,
    changed_ranges,
    resolve_edits,
    why_unresolved,
)
from vibes_lsp.agents.events import DiffHunk, FileEdit, FilesEdited, PatchChunk
from vibes_lsp.agents.patches import places_of, read_unified_diff
from vibes_lsp.agents.sender import parse_payload
from vibes_lsp.model.vocabulary import Action

CALLS: Final = 200
UNCERTAIN: Final = {"vscode-patch": 3, "vscode-files": 4}
"""Edits of the calls whose lines are not certain: the patch would also fit the text as it is, so
VS Code may not have written it yet."""
BY_TEXT: Final = [
    kind
    for kind in KINDS
    if KINDS[kind].generate in (one, sequence) and KINDS[kind].unknown is None
]
NO_PLACE: Final = "the new text is not at one place that is certain"
NOT_THERE: Final = "the file does not have the new text"


def edits_of(kind: Kind, call: Call) -> tuple[FileEdit, ...]:
    """Return the edits that are read from a payload; none if it says that nothing was changed."""
    is_ascii = len(call[-1].written) % 2 == 0
    event = read_event(parse_payload(as_bytes(kind.report(call), is_ascii=is_ascii)))
    if event is None:
        assert [edit.before for edit in call] == [edit.after for edit in call]
        return ()
    assert isinstance(event.action, FilesEdited)
    assert len(event.action.edits) == len(call)
    return event.action.edits


def lines_of(text: str) -> list[str]:
    lines = text.removeprefix("\ufeff").split("\n")
    return [line.removesuffix("\r") for line in (lines[:-1] if lines[-1] == "" else lines)]


def claimed(resolved: ResolvedEdit) -> set[int]:
    return {n for each in resolved.ranges for n in range(each.start, each.end + 1)}


def written(edit: GeneratedEdit, resolved: ResolvedEdit) -> set[int]:
    """Return the lines of the resolved text that an edit wrote."""
    return {n for n, line in enumerate(lines_of(resolved.after), 1) if line in edit.written}


def resolved_call(
    kind: Kind, call: Call
) -> list[tuple[GeneratedEdit, FileEdit, ResolvedEdit | None]]:
    """Return as what each edit of a call was read and resolved; the files are as it left them."""
    found = edits_of(kind, call)
    resolved: dict[int, ResolvedEdit | None] = {}
    for path in {edit.path for edit in call} if found else ():
        numbers = [n for n, edit in enumerate(call) if edit.path == path]
        saved = call[numbers[-1]].saved
        resolved |= zip(numbers, resolve_edits([found[n] for n in numbers], saved), strict=True)
    return [(call[n], found[n], resolved[n]) for n in sorted(resolved)]


@pytest.mark.parametrize("kind", KINDS)
def test_the_lines_of_a_generated_edit_are_those_that_it_wrote(kind: str) -> None:
    rng = random.Random(kind)
    reasons: Counter[str] = Counter()
    count = 0
    for _ in range(CALLS):
        call = KINDS[kind].generate(rng)
        for edit, found, resolved in resolved_call(KINDS[kind], call):
            count += 1
            assert found.path == file_of(edit)
            if edit.after is None:
                assert found.deletes
            elif resolved is None:
                reasons[why_unresolved(found, edit.saved)] += 1
            else:
                assert claimed(resolved) == written(edit, resolved), (edit, found)
                if edit.before is None:
                    assert {each.action for each in resolved.ranges} <= {Action.CREATE}
                if edit is call[-1]:
                    assert lines_of(resolved.after) == edit.after
    unknown = KINDS[kind].unknown
    expected = {NO_PLACE: UNCERTAIN[kind]} if kind in UNCERTAIN else {}
    assert reasons == (expected if unknown is None else {unknown: count})
    assert count >= CALLS - (40 if KINDS[kind].generate is whole else 0)


@pytest.mark.parametrize("kind", [kind for kind in KINDS if KINDS[kind].has_texts])
def test_a_payload_with_whole_texts_needs_no_file(kind: str) -> None:
    rng = random.Random(kind)
    for _ in range(CALLS):
        call = KINDS[kind].generate(rng)
        [resolved] = resolve_edits(edits_of(KINDS[kind], call), None)
        assert resolved is not None
        assert claimed(resolved) == written(call[0], resolved)


@pytest.mark.parametrize("kind", BY_TEXT)
def test_edits_of_one_file_are_found_when_it_has_all_of_them(kind: str) -> None:
    """As after parallel calls: the first edits are found when the later ones are undone."""
    rng = random.Random(kind)
    for _ in range(CALLS):
        edits = following_edits(rng)
        found = [each for edit in edits for each in edits_of(KINDS[kind], [edit])]
        for edit, resolved in zip(edits, resolve_edits(found, edits[-1].saved), strict=True):
            assert resolved is not None, edits
            assert claimed(resolved) == written(edit, resolved), edits


@pytest.mark.parametrize("kind", BY_TEXT)
def test_an_edit_alone_is_right_or_unresolved_in_a_file_that_has_later_ones(kind: str) -> None:
    rng = random.Random(kind)
    reasons: Counter[str] = Counter()
    for _ in range(CALLS):
        edits = following_edits(rng)
        for edit in edits:
            [found] = edits_of(KINDS[kind], [edit])
            [resolved] = resolve_edits([found], edits[-1].saved)
            if resolved is None:
                reasons[why_unresolved(found, edits[-1].saved)] += 1
            else:
                assert claimed(resolved) == written(edit, resolved), edits
    assert reasons.keys() <= {NO_PLACE, NOT_THERE}
    assert reasons.total() < CALLS


@pytest.mark.parametrize("kind", BY_TEXT)
def test_no_line_is_claimed_before_the_file_has_the_edit(kind: str) -> None:
    """Some agents report an edit before it is on the disk; others' edits may be taken back."""
    rng = random.Random(kind)
    for _ in range(CALLS):
        edit = replace_once(rng)
        saved = replace(edit, after=edit.before, ends=(edit.ends[0],) * 2).saved
        [resolved] = resolve_edits(edits_of(KINDS[kind], [edit]), saved)
        assert resolved is None or lines_of(resolved.after) == edit.after


def following_edits(rng: random.Random) -> list[GeneratedEdit]:
    """Return two to four edits of one file, each of the text that the one before it made."""
    edits = sequence(rng)
    while len(edits) < 2:
        edits = sequence(rng)
    return edits


@pytest.mark.parametrize(
    "kind", ["codex-patch", "copilot-patch", "vscode-patch", "opencode-patch", "amp-patch"]
)
def test_a_patched_file_has_its_new_name_and_lines(kind: str) -> None:
    rng = random.Random(kind)
    for _ in range(CALLS):
        edit = moved(rng)
        [found] = edits_of(KINDS[kind], [edit])
        assert found.path == f"{FOLDER}/src/moved.py"
        [resolved] = resolve_edits([found], edit.saved)
        assert resolved is None or claimed(resolved) == written(edit, resolved)


@pytest.mark.parametrize("kind", ["copilot-edit", "cursor-edit", "codex-patch", "vscode-patch"])
def test_repeated_new_text_is_right_or_unresolved(kind: str) -> None:
    """The new lines stand elsewhere, too: nothing is guessed, and no line too many is claimed."""
    rng = random.Random(kind)
    resolved_count = 0
    for _ in range(3 * CALLS):
        before = [rng.choice("abc") for _ in range(rng.randint(3, 9))]
        start = rng.randrange(len(before))
        old, new = before[start : start + 1], [rng.choice("abc") for _ in range(rng.randint(1, 2))]
        after = [*before[:start], *new, *before[start + 1 :]]
        window = only_window(before, start, 1, ends=True)
        if window is None:
            continue
        low, high = window
        texts = join(before[low:high]), join([*before[low:start], *new, *before[start + 1 : high]])
        edit = GeneratedEdit("a", before, after, frozenset(), ((start, old, new),), texts)
        [found] = resolve_edits(edits_of(KINDS[kind], [edit]), edit.saved)
        if found is None:
            continue
        resolved_count += 1
        unclaimed = iter(line for n, line in enumerate(after, 1) if n not in claimed(found))
        earlier = iter(before)
        assert all(line in earlier for line in unclaimed), edit
        assert len(claimed(found)) <= len(new)
    assert resolved_count > CALLS


def test_a_text_that_stands_elsewhere_is_not_taken_for_an_edit_that_is_not_saved() -> None:
    edit = FileEdit("a", old="one\n", new="two\n", may_be_unsaved=True)
    assert resolve_edits([edit], "two\nx\none\n") == [None]
    chunk = PatchChunk((), ((" ", "x"), ("-", "one"), ("+", "two")))
    patch = FileEdit("a", chunks=(chunk,), may_be_unsaved=True)
    assert resolve_edits([patch], "x\ntwo\nx\none\n") == [None]
    [resolved] = resolve_edits([patch], "x\ntwo\nx\n")
    assert resolved is not None


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        ("a", "a\n", []),
        ("a\n", "a", []),
        ("a\r\nb\r\n", "a\nb\n", []),
        ("a\nb", "a\nb\nc", [(3, 3)]),
        ("", "a\n", [(1, 1)]),
        ("a\nb\n", "a\n", []),
        ("\ufeffa\n", "a\nb\n", [(2, 2)]),
        ("a\n\n\nb\n", "a\n\nx\n\nb\n", [(3, 3)]),
    ],
)
def test_only_added_and_changed_lines_are_written(
    before: str, after: str, expected: list[tuple[int, int]]
) -> None:
    assert [(each.start, each.end) for each in changed_ranges(before, after)] == expected


def test_an_edit_within_a_line_has_the_whole_line() -> None:
    edit = FileEdit("a", before="x = f(a) / b\n", old="/ b\n", new="/ c\n")
    [resolved] = resolve_edits([edit], None)
    assert resolved is not None
    assert resolved.ranges == (EditedRange(1, 1, Action.MODIFY),)


def test_the_text_after_has_the_line_ends_of_the_file() -> None:
    edit = FileEdit("a", old="b\n", new="c\n")
    [resolved] = resolve_edits([edit], "\ufeffa\r\nc\r\n")
    assert resolved is not None
    assert resolved.after == "\ufeffa\r\nc\r\n"


@pytest.mark.parametrize(
    ("edit", "reason"),
    [
        (FileEdit("a", old="b", new="c", replace_all=True), "text before"),
        (FileEdit("a", old="b", new="nowhere"), "does not have the new text"),
        (FileEdit("a", old="b", new="c"), "one place"),
        (FileEdit("a", after="c\n"), "text before"),
        (FileEdit("a", before="b\n", after="c\n", changed_by_person=True), "a person changed"),
        (FileEdit("a"), "names no text"),
    ],
)
def test_what_is_not_certain_is_unresolved_for_a_reason(edit: FileEdit, reason: str) -> None:
    assert resolve_edits([edit], "c\nc\n") == [None]
    assert reason in why_unresolved(edit, "c\nc\n")


def test_an_edit_of_a_file_that_is_gone_is_unresolved() -> None:
    edit = FileEdit("a", old="b", new="c")
    assert resolve_edits([edit], None) == [None]
    assert "no such text file" in why_unresolved(edit, None)


def test_a_block_beside_equal_lines_begins_where_it_does_for_git() -> None:
    method = "/**\n * Returns {0}.\n */\nint {0}() {{\n    return 1;\n}}\n\n"
    one, two, three = (method.format(name) for name in ("one", "two", "three"))
    old = "/**\n * Returns three."
    edit = FileEdit("A.java", old=old, new=f"{two}{old}", before=one + three)
    [resolved] = resolve_edits([edit], one + two + three)
    assert resolved is not None
    assert resolved.ranges == (EditedRange(8, 14, Action.CREATE),)


def test_a_diff_with_a_number_of_thousands_of_digits_is_damaged() -> None:
    assert read_unified_diff(f"@@ -1,{'9' * 5000} +1 @@\n-a\n+b\n") == ()


def test_what_a_person_changed_since_is_not_claimed_with_the_agents_diff() -> None:
    hunk = DiffHunk(2, (("-", "b"), ("+", "B")))
    edit = FileEdit("a", before="a\nb\nc\n", hunks=(hunk,))
    [resolved] = resolve_edits([edit], "a\nB\nc\nby a person\n")
    assert resolved is not None
    assert resolved.ranges == (EditedRange(2, 2, Action.MODIFY),)


@given(st.lists(st.sampled_from("ab"), max_size=9), st.lists(st.sampled_from("ab"), max_size=3))
def test_a_block_is_found_wherever_it_stands(lines: list[str], block: list[str]) -> None:
    assert places_of(lines, block) == [
        start for start in range(len(lines)) if block and lines[start : start + len(block)] == block
    ]
