"""Which lines an edit wrote: 300 generated edits for each kind of payload, and the hard cases."""

from __future__ import annotations

import random

import pytest

from tests.unit.ingest.generated_edits import (
    FOLDER,
    KINDS,
    GeneratedEdit,
    codex_patch,
    copilot_edit,
    generate,
)
from vibes_lsp.ingest.edited_lines import EditedRange, ResolvedEdit, changed_ranges, resolve_edits
from vibes_lsp.ingest.events import FileEdit, FilesEdited
from vibes_lsp.ingest.payloads import read_event

EDITS = 300


def edits_of(payload: dict[str, object]) -> tuple[FileEdit, ...]:
    event = read_event(payload)  # type: ignore[arg-type]  # built by hand
    assert event is not None
    assert isinstance(event.action, FilesEdited)
    return event.action.edits


def spans(resolved: ResolvedEdit | None) -> list[tuple[int, int]]:
    assert resolved is not None, "unresolved"
    return [(each.start, each.end) for each in resolved.ranges]


def content(text: str) -> list[str]:
    return text.replace("\r\n", "\n").split("\n")


@pytest.mark.parametrize("kind", KINDS)
def test_the_lines_of_a_generated_edit_are_those_that_it_wrote(kind: str) -> None:
    shape, report = KINDS[kind]
    rng = random.Random(kind)
    for number in range(EDITS):
        edit = generate(rng, **shape)
        [found] = edits_of(report(edit))
        assert found.path == f"{FOLDER}/{edit.path}"
        [resolved] = resolve_edits([found], edit.saved)
        assert spans(resolved) == edit.truth, (number, edit)
        assert resolved is not None
        assert content(resolved.after) == content(edit.saved) or "create" in kind


@pytest.mark.parametrize(
    "kind", [kind for kind in KINDS if kind.split("-")[0] in ("claude", "gemini", "qwen")]
)
def test_a_payload_with_whole_texts_needs_no_file(kind: str) -> None:
    shape, report = KINDS[kind]
    rng = random.Random(kind)
    for _ in range(EDITS):
        edit = generate(rng, **shape)
        [resolved] = resolve_edits(list(edits_of(report(edit))), None)
        assert spans(resolved) == edit.truth


@pytest.mark.parametrize("kind", ["copilot-edit", "cline-edit", "codex-patch", "opencode-edit"])
def test_an_edit_is_found_in_a_file_that_has_later_edits(kind: str) -> None:
    shape, report = KINDS[kind]
    rng = random.Random(kind)
    for _ in range(EDITS):
        edit = generate(rng, **shape)
        above = [f"later {number}" for number in range(rng.randint(1, 5))]
        [resolved] = resolve_edits(
            list(edits_of(report(edit))), edit.text(above + edit.after, newline=edit.newline)
        )
        assert spans(resolved) == [(a + len(above), b + len(above)) for a, b in edit.truth]


@pytest.mark.parametrize("report", [copilot_edit, codex_patch])
def test_edits_of_one_file_are_found_after_the_last_one(report: object) -> None:
    """The first edits are found in the text that is left when the later ones are undone."""
    rng = random.Random(4)
    for _ in range(EDITS):
        first = generate(rng)
        while first.newline != "\n":
            first = generate(rng)
        second = following(rng, first)
        payloads = [report(each) for each in (first, second)]  # type: ignore[operator]
        edits = [edit for payload in payloads for edit in edits_of(payload)]
        assert [spans(each) for each in resolve_edits(edits, second.saved)] == [
            first.truth,
            second.truth,
        ]


def following(rng: random.Random, first: GeneratedEdit) -> GeneratedEdit:
    """Return another edit of the file, which may rewrite what the first one wrote."""
    start = rng.randrange(len(first.after))
    old = first.after[start : start + rng.randint(0, 2)]
    new = [f"second {rng.randrange(10**9)}"]
    after = [*first.after[:start], *new, *first.after[start + len(old) :]]
    truth = [(start + 1, start + 1)]
    return GeneratedEdit(first.path, first.after, after, truth, [(start, old, new)])


def test_a_patch_of_several_files_has_the_lines_of_each() -> None:
    rng = random.Random(5)
    for _ in range(EDITS):
        edits = [
            generate(rng, hunks=2, path="a.py"),
            generate(rng, creates=True, path="b.py"),
            generate(rng, path="c.py"),
        ]
        found = edits_of(codex_patch(*edits))
        for edit, given in zip(edits, found, strict=True):
            assert given.path == f"{FOLDER}/{edit.path}"
            assert spans(resolve_edits([given], edit.saved)[0]) == edit.truth


def test_a_moved_file_has_its_new_name() -> None:
    patch = "*** Begin Patch\n*** Update File: old.py\n*** Move to: new.py\n@@\n a\n-b\n+c\n*** End Patch\n"
    payload = codex_patch()
    payload["tool_input"] = {"command": patch}
    [edit] = edits_of(payload)
    assert edit.path == f"{FOLDER}/new.py"
    assert spans(resolve_edits([edit], "a\nc\n")[0]) == [(2, 2)]


def test_repeated_new_text_is_right_or_unresolved() -> None:
    """The new lines stand elsewhere, too: nothing is guessed, and no line too many is claimed."""
    rng = random.Random(6)
    resolved_count = 0
    for _ in range(3 * EDITS):
        before = [rng.choice("abc") for _ in range(rng.randint(3, 9))]
        start = rng.randrange(len(before))
        old, new = before[start : start + 1], [rng.choice("abc") for _ in range(rng.randint(1, 2))]
        after = [*before[:start], *new, *before[start + 1 :]]
        edit = GeneratedEdit("a", before, after, [], [(start, old, new)])
        for report in (copilot_edit, codex_patch):
            [found] = resolve_edits(list(edits_of(report(edit))), edit.saved)
            if found is None:
                continue
            resolved_count += 1
            claimed = {number for a, b in spans(found) for number in range(a, b + 1)}
            unclaimed = iter(line for n, line in enumerate(after, 1) if n not in claimed)
            earlier = iter(before)
            assert all(line in earlier for line in unclaimed), (edit, report)
            assert len(claimed) <= len(new)
    assert resolved_count > EDITS


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
    assert resolved.ranges == (EditedRange(1, 1, "modify"),)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "edit",
    [
        FileEdit("a", old="b", new="c", replace_all=True),
        FileEdit("a", old="b", new="nowhere"),
        FileEdit("a", after="c\n"),
        FileEdit("a", before="b\n", after="c\n", changed_by_person=True),
        FileEdit("a", deletes=True),
        FileEdit("a"),
    ],
)
def test_what_is_not_certain_is_unresolved(edit: FileEdit) -> None:
    assert resolve_edits([edit], "c\nc\n") == [None]
