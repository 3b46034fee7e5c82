"""The protocol layer of pygls, changed where it would lose documents, memory or privacy. Each change says what it is for."""

from __future__ import annotations

import asyncio
import contextlib
import json
import re
from collections.abc import Callable, Generator
from typing import Any, Final

from lsprotocol import types
from pygls.exceptions import (
    FeatureNotificationError,
    FeatureRequestError,
    JsonRpcException,
    JsonRpcInternalError,
    JsonRpcInvalidParams,
    JsonRpcInvalidRequest,
    JsonRpcServerNotInitialized,
)
from pygls.protocol import LanguageServerProtocol
from pygls.protocol.language_server import lsp_method
from typing_extensions import override

from vibes_lsp.errors import InternalError, VibesError
from vibes_lsp.lsp.documents import Documents
from vibes_lsp.lsp.extensions import PROVENANCE, ProvenanceRequest
from vibes_lsp.model.escaping import single_line

_MAX_MESSAGE: Final = 500


class Protocol(LanguageServerProtocol):
    """Keeps documents in a buffer of our own, and forgets what it has handled."""

    def __init__(self, *arguments: Any) -> None:
        self.documents = Documents()
        super().__init__(*arguments)

    @override
    def _execute_handler(
        self,
        msg_id: Any,
        handler: Any,
        callback: Any,
        args: tuple[Any, ...] | None = None,
        kwargs: dict[str, Any] | None = None,
    ) -> None:
        """Forget the future of every handled message: pygls 2.1 keeps those of notifications for ever."""

        def done(future: Any) -> None:
            self._request_futures.pop(msg_id, None)
            with contextlib.suppress(
                asyncio.CancelledError
            ):  # of a part that ends with the session: nobody waits for the whole
                callback(future)

        super()._execute_handler(msg_id, handler, done, args, kwargs)

    @override
    def _send_handler_result(self, future: Any, *, msg_id: Any) -> None:
        """Answer an error that is meant for the client without a traceback in the log: nothing of ours went wrong."""
        error = None if future.cancelled() else future.exception()
        if error is None:
            super()._send_handler_result(future, msg_id=msg_id)
            return
        self._request_futures.pop(msg_id, None)
        self.refuse(msg_id, self.failure(error))
        self._server.report_server_error(error, FeatureRequestError)

    @override
    def _check_handler_result(self, future: Any) -> None:
        """Log what went wrong with a notification, which nobody can be told about."""
        error = None if future.cancelled() else future.exception()
        if error is not None:
            self._server.report_server_error(error, FeatureNotificationError)

    def failure(self, error: BaseException) -> JsonRpcException:
        """Return an exception as the client sees it: one line, with a report id where nobody foresaw it."""
        if isinstance(error, JsonRpcException):
            return error
        found = error if isinstance(error, VibesError) else InternalError(error)
        message = (
            found.message
            if not isinstance(found, InternalError)
            else f"internal error {found.report_id}; the log of the server says more"
        )
        return JsonRpcInternalError(message, data={"code": found.code})

    def refuse(self, number: object, error: JsonRpcException) -> None:
        """Answer a message with an error; one whose number cannot be read is answered under the number null."""
        known = number if isinstance(number, int | str) and not isinstance(number, bool) else None
        self._send_response(known, error=error.to_response_error())

    @override
    def _send_data(self, data: Any) -> None:
        """Send a message; a result that cannot be written as JSON is answered by an error, for the client waits for something."""
        if not data or self.writer is None:
            return
        try:
            body = _encoded(data, self._serialize_message)
        except Exception as error:  # noqa: BLE001  # whatever the encoder thinks of it
            self._server.report_server_error(error, JsonRpcInternalError)
            number = getattr(data, "id", None)
            if number is None or hasattr(data, "method"):
                return
            refused = self.failure(error)
            members = {"code": refused.code, "message": refused.message, "data": refused.data}
            body = json.dumps({"jsonrpc": self.VERSION, "id": number, "error": members}).encode()
        kind = f"Content-Length: {len(body)}\r\nContent-Type: {self.CONTENT_TYPE}; charset={self.CHARSET}\r\n\r\n"
        self.writer.write(kind.encode() + body)

    @override
    def structure_message(self, data: dict[str, Any]) -> Any:
        """Answer a request whose parameters cannot be read: the library would leave the client waiting."""
        try:
            return super().structure_message(data)
        except JsonRpcException as error:
            if "id" in data and "method" in data:
                refused = types.ResponseError(
                    error.code, f"{error.message}: {_reason(error.__cause__)}"
                )
                self._send_response(data["id"], error=refused)
            raise

    @override
    def handle_message(self, message: Any) -> None:
        """Refuse what comes before `initialize`, or after `shutdown`, with the errors that LSP has for it."""
        method, number = getattr(message, "method", None), getattr(message, "id", None)
        refused = None if method in (None, types.EXIT) else self._out_of_order(str(method))
        if refused is None:
            super().handle_message(message)
        elif number is not None:
            self._send_response(number, error=refused.to_response_error())

    def _out_of_order(self, method: str) -> JsonRpcException | None:
        if self._shutdown:
            return JsonRpcInvalidRequest("the server is shutting down")
        if self._workspace is None and method != types.INITIALIZE:
            return JsonRpcServerNotInitialized("send initialize first")
        if self._workspace is not None and method == types.INITIALIZE:
            return JsonRpcInvalidRequest("initialize was sent before")
        return None

    @override
    def _send_response(
        self, msg_id: Any, result: Any = None, error: types.ResponseError | None = None
    ) -> None:
        """Keep tracebacks, which name paths of this machine, in the log; a message is one line, whatever it quotes."""
        if error is not None:
            data = (
                None if isinstance(error.data, dict) and "traceback" in error.data else error.data
            )
            error = types.ResponseError(error.code, single_line(error.message, _MAX_MESSAGE), data)
        super()._send_response(msg_id, result, error)

    @lsp_method(types.WORKSPACE_EXECUTE_COMMAND)
    @override
    def lsp_workspace__execute_command(
        self, params: types.ExecuteCommandParams
    ) -> Generator[Any, Any, Any]:
        """Take no arguments for an empty object, and say which member of an argument is wrong."""
        params.arguments = params.arguments or [{}]
        try:
            return (yield from super().lsp_workspace__execute_command(params))
        except JsonRpcInvalidParams as error:
            if error.__context__ is None:
                raise
            raise JsonRpcInvalidParams(f"{params.command}: {_reason(error.__context__)}") from None

    @lsp_method(types.SHUTDOWN)
    @override
    def lsp_shutdown(self, *args: Any) -> Generator[Any, Any, None]:
        """Cancel what is still running; over a copy, since a cancelled future is forgotten at once."""
        handler = self.fm.features.get(types.SHUTDOWN)
        if handler is not None:
            yield handler, args, None
        current = self.msg_id
        for number, future in list(self._request_futures.items()):
            if number != current and not future.done():
                future.cancel()
        self._shutdown = True

    @override
    def get_message_type(self, method: str) -> type[Any] | None:  # type: ignore[override]  # the base caches with a wrapper
        return ProvenanceRequest if method == PROVENANCE else super().get_message_type(method)

    # The library's own copy splits lines where LSP does not (form feeds, U+2028) and so applies changes in the wrong place.

    @lsp_method(types.TEXT_DOCUMENT_DID_OPEN)
    @override
    def lsp_text_document__did_open(
        self, params: types.DidOpenTextDocumentParams
    ) -> Generator[Any, Any, None]:
        item = params.text_document
        self.documents.opened(item.uri, item.version, item.text)
        yield from self._user_handler(types.TEXT_DOCUMENT_DID_OPEN, params)

    @lsp_method(types.TEXT_DOCUMENT_DID_CHANGE)
    @override
    def lsp_text_document__did_change(
        self, params: types.DidChangeTextDocumentParams
    ) -> Generator[Any, Any, None]:
        self.documents.changed(
            params.text_document.uri, params.text_document.version, list(params.content_changes)
        )
        yield from self._user_handler(types.TEXT_DOCUMENT_DID_CHANGE, params)

    @lsp_method(types.TEXT_DOCUMENT_DID_SAVE)
    def lsp_text_document__did_save(
        self, params: types.DidSaveTextDocumentParams
    ) -> Generator[Any, Any, None]:
        """Take note at once: the next answer, which may be wanted before any handler runs, is about the saved text."""
        self.documents.saved(params.text_document.uri)
        yield from self._user_handler(types.TEXT_DOCUMENT_DID_SAVE, params)

    @lsp_method(types.TEXT_DOCUMENT_DID_CLOSE)
    @override
    def lsp_text_document__did_close(
        self, params: types.DidCloseTextDocumentParams
    ) -> Generator[Any, Any, None]:
        self.documents.closed(params.text_document.uri)
        yield from self._user_handler(types.TEXT_DOCUMENT_DID_CLOSE, params)

    def _user_handler(self, method: str, params: Any) -> Generator[Any, Any, None]:
        handler = self.fm.features.get(method)
        if handler is not None:
            yield handler, (params,), None


def _encoded(data: Any, default: Callable[[Any], Any]) -> bytes:
    return json.dumps(data, default=default, allow_nan=False).encode()


def _reason(error: BaseException | None) -> str:
    """Say which member was wrong: the library reports groups of groups of exceptions, with notes of where it was."""
    names: list[str] = []
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
        names += [
            str(name)
            for note in getattr(error, "__notes__", ())
            if (name := getattr(note, "name", None)) is not None
        ]
    where = re.sub("_([a-z])", lambda match: match[1].upper(), ".".join(names))  # as on the wire
    if isinstance(error, KeyError):
        return f"{where or error} is missing"
    return f"{where}: {error}" if where else str(error)
