"""Stored form of entries: numbers (R1) and reasoning by size (RFC 6.7, R8)."""

from __future__ import annotations

import base64
import gzip
import json
from typing import TYPE_CHECKING

import pytest

from tests.trails import context_hash
from vibes_lsp.errors import RefusedWrite
from vibes_lsp.model.canonical_json import canonical_json, with_portable_numbers
from vibes_lsp.model.config import Config
from vibes_lsp.store.reasoning import MAX_TEXT, gzip_bytes, pack_entry

if TYPE_CHECKING:
    from vibes_lsp.model.members import Members

CONFIG = Config(compress_reasoning_threshold_bytes=10, external_blob_threshold_bytes=20)


def reasoning(body: str) -> Members:
    return {
        "type": "reasoning",
        "reasoning_text": body,
        "reasoning_model": "m",
        "reasoning_token_count": 7,
        "later": {"kept": 1},
        "created_at": "2026-02-03T10:00:00.000Z",
    }


def test_up_to_the_threshold_it_is_inline() -> None:
    packed = pack_entry(reasoning("ö" * 5), CONFIG)
    assert (packed.entry, packed.blob) == (reasoning("ö" * 5), None)
    assert packed.key == context_hash(reasoning("ö" * 5))


def test_above_the_threshold_it_is_compressed() -> None:
    packed = pack_entry(reasoning("ö" * 6), CONFIG)
    entry = dict(packed.entry)
    stored = entry.pop("reasoning_text_compressed")
    assert isinstance(stored, str)
    data = base64.b64decode(stored, validate=True)
    assert gzip.decompress(data).decode() == "ö" * 6
    assert (data[3:9], data[9]) == (b"\0\0\0\0\0\x02", 255), "no flags, no time, no system"
    expected = {**reasoning(""), "compressed": True}
    del expected["reasoning_text"]
    assert entry == expected
    assert packed.key == context_hash(packed.entry), "hashed as stored"


def test_above_the_second_threshold_it_is_external_and_the_name_verifies_the_content() -> None:
    inline = reasoning("ö" * 11)
    packed = pack_entry(inline, CONFIG)
    assert packed.blob is not None
    name, content = packed.blob
    assert json.loads(gzip.decompress(content)) == inline
    assert name == f"{context_hash(inline)}.json.gz"
    expected = {**inline, "external": True, "blob_path": f"blobs/{name}"}
    del expected["reasoning_text"]
    assert packed.entry == expected
    assert packed.key == context_hash(packed.entry)


def test_the_time_changes_neither_key_nor_blob_name() -> None:
    one, other = (
        pack_entry({**reasoning("x" * 99), "created_at": time}, CONFIG)
        for time in ("2026-01-01T00:00:00Z", "2027-01-01T00:00:00Z")
    )
    assert one.blob is not None
    assert other.blob is not None
    assert (one.key, one.blob[0]) == (other.key, other.blob[0])


def test_a_blob_threshold_below_the_other_one_makes_blobs() -> None:
    packed = pack_entry(
        reasoning("x" * 15),
        Config(compress_reasoning_threshold_bytes=100, external_blob_threshold_bytes=10),
    )
    assert packed.blob is not None


def test_only_reasoning_is_compressed() -> None:
    entry: Members = {"type": "prompt", "prompt_text": "x" * 99, "reasoning_text": "x" * 99}
    assert pack_entry(entry, CONFIG).entry == entry


def test_invalid_unicode_stays_inline() -> None:
    """Lone surrogates can only be escaped, and compressed text has no escapes."""
    assert pack_entry(reasoning("\ud800" * 99), CONFIG).blob is None


def test_text_above_the_read_limit_is_rejected() -> None:
    with pytest.raises(RefusedWrite, match="too long"):
        pack_entry(reasoning("x" * (MAX_TEXT + 1)), CONFIG)


def test_a_blob_that_no_reader_unpacks_is_rejected() -> None:
    with pytest.raises(RefusedWrite, match="too long"):
        pack_entry(reasoning('"' * (MAX_TEXT - 1000)), CONFIG)


@pytest.mark.parametrize(
    ("number", "stored"),
    [
        ("1.0", "1"),
        ("-0.0", "0"),
        ("1.5", "1.5"),
        ("9007199254740992.0", "9007199254740992"),
        ("1e300", "1e+300"),
        ("true", "true"),
    ],
)
def test_numbers_are_printed_alike_in_every_language(number: str, stored: str) -> None:
    value = json.loads(number)
    assert canonical_json(
        with_portable_numbers({"a": value, "b": [{"c": value}]})
    ) == b'{"a":%b,"b":[{"c":%b}]}' % (
        stored.encode(),
        stored.encode(),
    )


@pytest.mark.parametrize("value", [float("nan"), float("inf"), {1, 2}])
def test_values_outside_json_are_rejected(value: object) -> None:
    with pytest.raises(RefusedWrite, match="cannot write this as JSON"):
        with_portable_numbers({"a": [value]})  # type: ignore[list-item]


@pytest.mark.parametrize("data", [b"", b"x", b"abc" * 100_000])
def test_gzip_data_is_read_by_any_gzip(data: bytes) -> None:
    assert gzip.decompress(gzip_bytes(data)) == data
