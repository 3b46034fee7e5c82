"""The protocol layer without the library's detours, all of them in this module.

Most requests take the library longer to convert and dispatch than to answer. Nothing here changes
an answer: with `VIBES_LSP_PROTOCOL=stock` the server does without this module, and tests compare.
`benchmarks/server.py` measures what it buys.
"""

from __future__ import annotations

import inspect
import json
from collections.abc import Callable
from contextvars import copy_context
from typing import Any, Final

import msgspec
from lsprotocol import types
from pygls.feature_manager import is_thread_function
from typing_extensions import override

from vibes_lsp.lsp.encoded_answers import EncodedResult
from vibes_lsp.lsp.protocol import Protocol
from vibes_lsp.model.members import Members

_encode: Final = msgspec.json.Encoder().encode
_UNENCODABLE: Final = (TypeError, ValueError, OverflowError, RecursionError)
"""What msgspec raises for a value that the library may be able to send."""


class FastProtocol(Protocol):
    """Answers in one step what needs no waiting, and encodes each answer once."""

    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        self._functions: dict[str, Callable[[Any], object]] = {}

    @override
    def answer_directly(self, data: Members) -> bool:
        """Answer a request that has a direct answer, without objects for its parameters.

        A direct answer that fails is none: the handler of the request answers or reports it.
        """
        method, number, params = data.get("method"), data.get("id"), data.get("params")
        answer = self.direct_answers.get(method) if isinstance(method, str) else None
        if answer is None or not isinstance(params, dict) or not isinstance(number, int | str):
            return False
        try:
            is_refused = isinstance(number, bool) or self.lifecycle_error(str(method)) is not None
            result = None if is_refused else answer(params)
        except Exception:  # noqa: BLE001  # the handler meets the same error
            return False
        if result is None:
            return False
        self._send_body(number, result.body)
        return True

    @override
    def handle_message(self, message: Any) -> None:
        """Know requests by their members, and call functions at once.

        The library compares each message with classes of `typing.Protocol`, and makes a future for
        each answer, even if it is there.
        """
        method, number = getattr(message, "method", None), getattr(message, "id", None)
        if method is None or number is None or self.lifecycle_error(method) is not None:
            super().handle_message(message)
            return
        function = self._functions.get(method) or self._plain_function(method)
        if function is None:
            copy_context().run(self._handle_request, number, method, message.params)
            return
        try:
            result = function(message.params)
        except Exception as error:  # noqa: BLE001  # as the library treats a future
            self.send_failure(number, error)
        else:
            self._send_response(number, result)

    def _plain_function(self, method: str) -> Callable[[Any], object] | None:
        """Return the handler of a request if it is a function that returns the answer."""
        handler: Callable[[Any], object] | None = self.fm.features.get(method)
        if (
            handler is None
            or method in self.fm.builtin_features
            or is_thread_function(handler)  # type: ignore[no-untyped-call]  # of pygls
            or inspect.iscoroutinefunction(handler)
            or inspect.isgeneratorfunction(handler)
        ):
            return None
        self._functions[method] = handler
        return handler

    @override
    def _send_response(
        self, msg_id: Any, result: Any = None, error: types.ResponseError | None = None
    ) -> None:
        """Send what is encoded as it is, and encode the rest without a message object around it."""
        if error is None and isinstance(msg_id, int | str) and not isinstance(msg_id, bool):
            body = result.body if isinstance(result, EncodedResult) else self._body(result)
            if body is not None:
                self._result_types.pop(msg_id, None)
                self._send_body(msg_id, body)
                return
        super()._send_response(msg_id, result, error)

    def _body(self, result: object) -> bytes | None:
        """Return a result as JSON; None for what only the library can encode, or refuse."""
        try:
            return _encode(self._converter.unstructure(result))
        except _UNENCODABLE:
            return None

    def _send_body(self, number: int | str, body: bytes) -> None:
        known = b"%d" % number if isinstance(number, int) else json.dumps(number).encode()
        self.write(b'{"jsonrpc":"2.0","id":%b,"result":%b}' % (known, body))
