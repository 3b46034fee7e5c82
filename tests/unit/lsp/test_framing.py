"""Messages are found in bytes, however these are cut into parts."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable

from hypothesis import given
from hypothesis import strategies as st
from pygls.exceptions import JsonRpcParseError

from vibes_lsp.lsp.transport import Incoming

HEADS = (
    b"Content-Length: %d\r\n\r\n",
    b"content-length:%d\n\n",
    b"\r\nX-Other: y\r\nContent-Length: %d\r\n\r\n",
)


def sent(parts: Iterable[bytes]) -> Incoming:
    """Return the input of a client that sends some bytes, in parts that are not empty."""
    left = iter([*filter(None, parts), b""])

    async def read() -> bytes:
        return next(left)

    return Incoming(read)


async def bodies(incoming: Incoming) -> list[bytes]:
    found = []
    while (length := await incoming.length()) is not None:
        body = await incoming.body(length)
        assert body is not None
        found.append(body)
    return found


def cut(data: bytes, sizes: list[int]) -> list[bytes]:
    parts = []
    while data:
        sizes.append(sizes.pop(0))
        parts.append(data[: sizes[0]])
        data = data[sizes[0] :]
    return parts


@given(
    st.lists(st.tuples(st.binary(max_size=40), st.sampled_from(HEADS)), max_size=6),
    st.lists(st.integers(1, 30), min_size=1),
)
def test_parts_of_any_length_give_the_same_messages(
    messages: list[tuple[bytes, bytes]], sizes: list[int]
) -> None:
    data = b"".join(head % len(body) + body for body, head in messages)
    found = asyncio.run(bodies(sent(cut(data, sizes))))
    assert found == [body for body, _ in messages]


@given(st.binary(max_size=300), st.binary(max_size=300))
def test_any_bytes_are_messages_or_an_error(first: bytes, second: bytes) -> None:
    async def read_all(incoming: Incoming) -> None:
        while True:
            try:
                length = await incoming.length()
            except JsonRpcParseError:
                continue
            if length is None or await incoming.body(length) is None:
                return

    asyncio.run(read_all(sent((first, second))))


@given(st.lists(st.integers(1, 90), min_size=1))
def test_nothing_is_kept_of_a_body_that_is_too_long(sizes: list[int]) -> None:
    data = b"Content-Length: 150\r\n\r\n" + b"x" * 150 + b"Content-Length: 2\r\n\r\n{}"
    incoming = sent(cut(data, sizes))

    async def read() -> list[bytes]:
        length = await incoming.length()
        assert length == 150
        await incoming.skip(length)
        assert len(incoming._received) < 90
        return await bodies(incoming)

    assert asyncio.run(read()) == [b"{}"]
