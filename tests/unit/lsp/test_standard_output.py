"""Messages leave whole, however standard output takes them."""

from __future__ import annotations

import io
import sys
from types import SimpleNamespace

import pytest
from typing_extensions import Buffer, override

from vibes_lsp.lsp.main import standard_output


class Pipe(io.RawIOBase):
    """A pipe that takes a few bytes at a time, as a full one does."""

    def __init__(self) -> None:
        self.taken = bytearray()

    @override
    def writable(self) -> bool:
        return True

    @override
    def write(self, data: Buffer, /) -> int:
        part = bytes(data)[:7]
        self.taken += part
        return len(part)


def test_a_large_message_leaves_whole_without_a_buffer(monkeypatch: pytest.MonkeyPatch) -> None:
    pipe = Pipe()
    monkeypatch.setattr(sys, "stdout", SimpleNamespace(buffer=pipe))
    message = b"Content-Length: 100000\r\n\r\n" + b"x" * 100_000
    output = standard_output()
    output.write(message)
    output.flush()
    assert pipe.taken == message
