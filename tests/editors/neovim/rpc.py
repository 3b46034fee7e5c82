"""A minimal client of Neovim's RPC: one call at a time."""

from __future__ import annotations

import socket
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

import msgspec

from tests.waiting import TIMEOUT

_REQUEST: Final = 0
_RESPONSE: Final = 1
_NOTIFICATION: Final = 2


class Rpc:
    """A connection to a Neovim.

    Args:
        address: Path of its socket.

    Raises:
        OSError: It does not listen there, perhaps not yet.
    """

    def __init__(self, address: Path) -> None:
        self._socket = socket.socket(socket.AF_UNIX)
        try:
            self._socket.settimeout(TIMEOUT)
            self._socket.connect(str(address))
        except OSError:
            self._socket.close()
            raise
        self._received = b""
        self._calls = 0

    def close(self) -> None:
        """End Neovim, which may outlive its terminal, and close the connection."""
        with suppress(OSError):  # it has ended
            self._socket.sendall(msgspec.msgpack.encode([_NOTIFICATION, "nvim_command", ["qall!"]]))
        self._socket.close()

    def lua(self, code: str, *arguments: Any) -> Any:
        """Run Lua code with its arguments as `...`; return its result.

        Raises:
            AssertionError: The code raised an error.
        """
        self._calls += 1
        self._socket.sendall(
            msgspec.msgpack.encode(
                [_REQUEST, self._calls, "nvim_exec_lua", [code, list(arguments)]]
            )
        )
        while True:
            kind, number, error, result = self._message()
            if kind == _RESPONSE and number == self._calls:
                assert error is None, error
                return result

    def _message(self) -> Any:
        while True:
            chunk = self._socket.recv(1 << 16)
            if not chunk:
                raise AssertionError("Neovim closed the connection")
            self._received += chunk
            try:
                message = msgspec.msgpack.decode(self._received)
            except msgspec.DecodeError:
                continue  # incomplete: wait for the rest of the message
            self._received = b""
            return message
