"""Messages are found in bytes, however these are cut into parts."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pygls.exceptions import JsonRpcParseError

from vibes_lsp.lsp import transport
from vibes_lsp.lsp.transport import Framing, SkippedBody

HEADS = (
    b"Content-Length: %d\r\n\r\n",
    b"content-length:%d\n\n",
    b"\r\nX-Other: y\r\nContent-Length: %d\r\n\r\n",
)


def bodies(framing: Framing) -> list[bytes | SkippedBody]:
    found = []
    while (body := framing.next_body()) is not None:
        found.append(body)
    return found


@given(
    st.lists(st.tuples(st.binary(max_size=40), st.sampled_from(HEADS)), max_size=6),
    st.lists(st.integers(1, 30), min_size=1),
)
def test_parts_of_any_length_give_the_same_messages(
    messages: list[tuple[bytes, bytes]], sizes: list[int]
) -> None:
    data = b"".join(head % len(body) + body for body, head in messages)
    framing, found = Framing(), []
    while data:
        sizes.append(sizes.pop(0))
        framing.add(data[: sizes[0]])
        data = data[sizes[0] :]
        found += bodies(framing)
    assert found == [body for body, _ in messages]
    assert not framing._received
    assert not framing.is_within_body


@given(st.binary(max_size=300), st.binary(max_size=300))
def test_any_bytes_are_messages_or_an_error(first: bytes, second: bytes) -> None:
    framing = Framing()
    for part in (first, second):
        framing.add(part)
        while True:
            try:
                if framing.next_body() is None:
                    break
            except JsonRpcParseError:
                continue
            except transport._StreamInvalidError:
                return


def test_of_a_body_that_is_too_long_the_ends_are_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(transport, "MAX_BODY", 100)
    monkeypatch.setattr(transport, "_KEPT", 4)
    framing = Framing()
    framing.add(b"Content-Length: 150\r\n\r\n" + b"head" + b"x" * 60)
    assert bodies(framing) == []
    assert not framing._received, "nothing of it takes memory"
    framing.add(b"x" * 82 + b"tailContent-Length: 2\r\n\r\n{}")
    assert bodies(framing) == [SkippedBody(b"head", b"tail"), b"{}"]
