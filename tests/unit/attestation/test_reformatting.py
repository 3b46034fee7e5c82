"""The digests of a manifest as a value, with and without its entries."""

from __future__ import annotations

import hashlib
import json
from typing import Final

import pytest

from vibes_lsp.attestation.reformatting import canonical_digest, frame_digest

FRAME: Final = hashlib.sha256(b"{}").hexdigest()


def manifest(*entries: int, **other: object) -> bytes:
    keyed = {hashlib.sha256(b"%d" % number).hexdigest(): {"n": number} for number in entries}
    return json.dumps({"standard": "VIBES", **other, "entries": keyed}).encode()


def test_the_frame_does_not_depend_on_entries() -> None:
    assert frame_digest(manifest(1, 2)) == frame_digest(manifest(1, 2, 3))
    assert frame_digest(manifest(1, 2)) != frame_digest(manifest(1, 2, version="1.0"))
    assert canonical_digest(manifest(1, 2)) != canonical_digest(manifest(1, 2, 3))


def test_white_space_and_order_do_not_matter() -> None:
    content = b'{\n "entries": {"b": {}, "a": 1},\n "a": 2\n}\n'
    assert canonical_digest(content) == canonical_digest(b'{"a":2,"entries":{"a":1,"b":{}}}')
    assert frame_digest(content) == frame_digest(b'{"a":2}')


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"[]",
        b'{"entries":{"a":{"b":1},"a":{"b":2}}}',
        b'{"a":1,"a":2,"entries":{}}',
        b'{"entries":{"a":1}}{"entries":{"a":1}}',
        b'{"entries":{"a":NaN}}',
    ],
)
def test_what_is_not_a_manifest_has_no_frame(content: bytes) -> None:
    assert frame_digest(content) is None


def test_entries_that_differ_in_time_only_are_valid_in_a_frame() -> None:
    content = b'{"entries":{"a":{"created_at":1},"a":{"created_at":2}}}'
    assert frame_digest(content) == FRAME
    assert canonical_digest(content) is None
