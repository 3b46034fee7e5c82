"""The text of a growing manifest (R10): values stay, and branches merge with plain git."""

from __future__ import annotations

import json
from itertools import chain, permutations
from typing import TYPE_CHECKING

import pytest

from tests.trails import Repository, context_hash
from tests.trails.files import GITATTRIBUTES
from vibes_lsp.errors import RefusedWrite
from vibes_lsp.store.manifest import parse_manifest
from vibes_lsp.store.manifest_format import add_entries, to_one_line

if TYPE_CHECKING:
    from pathlib import Path


def entry(words: str, **members: object) -> dict[str, object]:
    return {"type": "prompt", "prompt_text": words, "prompt_type": "other", **members}


def lines(*entries: dict[str, object]) -> dict[str, bytes]:
    return {context_hash(each): json.dumps(each, ensure_ascii=False).encode() for each in entries}


def extend(data: bytes | None, *entries: dict[str, object]) -> bytes:
    return add_entries(parse_manifest(data), lines(*entries))


def whole(*entries: dict[str, object]) -> dict[str, object]:
    return {
        "standard": "VIBES",
        "version": "1.0",
        "entries": {context_hash(each): each for each in entries},
    }


def test_one_line_each_comma_first_new_ones_last() -> None:
    text = extend(None, entry("a"))
    assert json.loads(text) == whole(entry("a"))
    longer = extend(text, entry("b"), entry("c"))
    assert json.loads(longer) == whole(entry("a"), entry("b"), entry("c"))
    assert longer.startswith(text.removesuffix(b"}}\n")), "what was there stays byte for byte"
    head, first, second, third, tail, end = longer.split(b"\n")
    assert (head[-1:], first[:1], second[:2], third[:2], tail, end) == (
        b"{",
        b'"',
        b',"',
        b',"',
        b"}}",
        b"",
    )


@pytest.mark.parametrize(
    "layout",
    [
        lambda value: json.dumps(value, indent=2).encode(),
        lambda value: json.dumps(value, indent="\t").replace("\n", "\r\n").encode(),
        lambda value: json.dumps(value).encode(),
        lambda value: b"\xef\xbb\xbf" + json.dumps(value, indent=1).encode() + b"\n\n",
    ],
    ids=["indented", "crlf", "one line", "byte-order mark"],
)
def test_another_format_is_converted_token_for_token(layout: object) -> None:
    before = {
        "generator": {"name": 'a "b":\\n', "n": [1.0, 1e3]},
        **whole(entry("a", x=1.0, deep={"b": ["\n \t", {}]}), entry("größe  \u2028")),
    }
    text = extend(layout(before), entry("new"))  # type: ignore[operator]
    after = json.loads(text)
    assert after["entries"] == {**before["entries"], context_hash(entry("new")): entry("new")}  # type: ignore[dict-item]
    assert {name: value for name, value in after.items() if name != "entries"} == {
        name: value for name, value in before.items() if name != "entries"
    }
    assert b"1000.0" in text
    assert text.count(b"\n") == 5
    assert extend(text, entry("newer")).startswith(text.removesuffix(b"}}\n"))


def test_numbers_keep_their_digits() -> None:
    data = b'{"standard":"VIBES","version":"1.0","entries":{"k":{"a":1E5,\n"b":0.10000000000000000555,"c":12345678901234567890123}}}'
    assert b'"k":{"a":1E5,"b":0.10000000000000000555,"c":12345678901234567890123}\n' in extend(
        data, entry("a")
    )


def test_an_empty_manifest_gets_its_first_entry_without_a_comma() -> None:
    for empty in (
        b'{"standard":"VIBES","version":"1.0","entries":{\n}}\n',
        b'{"standard": "VIBES", "version": "1.0", "entries": {}}',
    ):
        assert json.loads(extend(empty, entry("a"), entry("b"))) == whole(entry("a"), entry("b"))


def test_the_jsonl_form_becomes_the_rfc_s_object() -> None:
    keyed = json.dumps({context_hash(entry("a")): entry("a")})
    bare = json.dumps(entry("b"))
    text = extend(
        f'{{"standard":"VIBES","version":"1.0"}}\n{keyed}\n{bare}\n{keyed}\n'.encode(), entry("c")
    )
    assert json.loads(text) == whole(entry("a"), entry("b"), entry("c"))


def test_duplicates_with_different_times_stay_and_count_as_one() -> None:
    early, late = (
        entry("a", created_at="2026-01-01T00:00:00Z"),
        entry("a", created_at="2026-01-02T00:00:00Z"),
    )
    text = extend(extend(None, early), entry("b"))
    doubled = (
        text.removesuffix(b"}}\n")
        + b',"'
        + context_hash(late).encode()
        + b'":'
        + json.dumps(late).encode()
        + b"\n}}\n"
    )
    extended = extend(doubled, entry("c"))
    assert extended.startswith(doubled.removesuffix(b"}}\n"))
    assert set(parse_manifest(extended).stored) == {
        context_hash(each) for each in (early, entry("b"), entry("c"))
    }


def test_conflicting_duplicates_both_stay() -> None:
    text = extend(None, entry("a"))
    doubled = (
        text.removesuffix(b"}}\n")
        + b',"'
        + context_hash(entry("a")).encode()
        + b'":{"type":"other"}\n}}\n'
    )
    assert extend(doubled, entry("b")).startswith(doubled.removesuffix(b"}}\n"))


@pytest.mark.parametrize(
    ("data", "says"),
    [
        (
            b'{"standard":"VIBES","version":"1.0","entries":{"%s":{"a":1},"%s":{"a":2}}}'
            % (b"a" * 64, b"a" * 64),
            r"entry aaaaaaaa \(line 1\)",
        ),
        (b'{"standard":"VIBES","x":1,"x":2,"version":"1.0","entries":{}}', "'x'"),
        (b'{"standard":"VIBES","version":"1.0","entries":{"k":{},"k":{"a":1}}}', "'k'"),
        (b'{"standard":"VIBES","version":"1.0","entries":{}}', None),
    ],
)
def test_a_manifest_that_would_lose_data_is_rejected(data: bytes, says: str | None) -> None:
    if says is None:
        extend(data, entry("a"))
    else:
        with pytest.raises(RefusedWrite, match=says):
            extend(data, entry("a"))


@pytest.mark.parametrize(
    ("data", "place"),
    [
        (b'{"standard":"VIBES","version":"1.0","entries":{\n<<<<<<< HEAD\n"a":{}\n}}\n', "line 2"),
        (b'{"standard":"VIBES","version":"1.0","entries":{\n"a":{}\n,"b":\n}}\n', "line 4"),
        (b"[]", "array"),
        (b"", "line 1"),
    ],
)
def test_an_invalid_manifest_is_rejected_with_the_place(data: bytes, place: str) -> None:
    with pytest.raises(RefusedWrite, match=place) as refused:
        extend(data, entry("a"))
    assert "unchanged" in refused.value.hint


@pytest.mark.parametrize("order", list(permutations(["one", "two", "three"])), ids="-".join)
def test_branches_that_all_added_entries_merge_by_plain_git(
    tmp_path: Path, order: tuple[str, ...]
) -> None:
    """`one` and `two` also added the same entry, at different times."""
    repository = Repository(tmp_path)
    manifest = repository.write("manifest.json", extend(None, entry("reviewer")))
    repository.write(".gitattributes", GITATTRIBUTES)
    repository.commit("Begin")
    added = {
        "one": [entry("a"), entry("same", created_at="2026-01-01T00:00:00Z"), entry("b")],
        "two": [entry("same", created_at="2026-01-02T00:00:00Z"), entry("c")],
        "three": [entry("d"), entry("e")],
    }
    for name, entries in added.items():
        repository.switch("main")
        repository.switch(name, create=True)
        for each in entries:
            manifest.write_bytes(extend(manifest.read_bytes(), each))
            repository.commit("Add")
    repository.switch("main")
    for name in order:
        repository.merge(name)
    merged = json.loads(manifest.read_bytes())
    assert set(merged["entries"]) == {
        context_hash(each) for each in [entry("reviewer"), *chain.from_iterable(added.values())]
    }
    folded = json.loads(extend(manifest.read_bytes(), entry("f")))
    assert len(folded["entries"]) == 8, "the same entry of two branches counts once"


@pytest.mark.parametrize(
    ("raw", "line"),
    [
        (b'{ "a" :\n\t 1 }\n', b'{ "a" :1 }'),
        (b'{"a": "x  y" \r\n , "b":  2}', b'{"a": "x  y", "b":  2}'),
        (b"[1,  \n \n  2 ]", b"[1,2 ]"),
    ],
)
def test_only_white_space_with_a_line_break_is_removed(raw: bytes, line: bytes) -> None:
    assert to_one_line(raw) == line
