"""The protocol layer of pygls, changed where it would lose documents, memory or privacy.

The docstring of each override says which fault of the library it corrects.
"""

from __future__ import annotations

import asyncio
import contextlib
import inspect
import json
import re
import sys
from collections.abc import Callable, Generator
from functools import wraps
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

from vibes_lsp.errors import InternalError, OutdatedIndex, VibesError
from vibes_lsp.lsp.protocol.extensions import PROVENANCE, ProvenanceRequest
from vibes_lsp.lsp.protocol.open_documents import Documents
from vibes_lsp.model.escaping import single_line

_MAX_MESSAGE: Final = 500
_HEADERS: Final = (
    b"Content-Length: %d\r\nContent-Type: application/vscode-jsonrpc; charset=utf-8\r\n\r\n%b"
)


class RequestFailed(JsonRpcException):
    """One of our errors for the client: a message for people, a stable code for programs."""

    CODE = -32001

    def __init__(self, error: VibesError) -> None:
        hint = f"; {error.hint}" if error.hint else ""
        super().__init__(
            message=f"{error.message}{hint}", code=self.CODE, data={"code": error.code}
        )


class Protocol(LanguageServerProtocol):
    """Keeps documents in a buffer of our own, and releases what it has handled.

    Attributes:
        documents: The open documents.
    """

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
        """Release the future of every handled message: pygls 2.1 keeps those of notifications.

        A message is handled once more if the log or its index is another one meanwhile.
        """

        def done(future: Any) -> None:
            self._request_futures.pop(msg_id, None)
            with contextlib.suppress(asyncio.CancelledError):  # it ends with the session
                callback(future)

        super()._execute_handler(msg_id, _repeatable(handler), done, args, kwargs)

    @override
    def _send_handler_result(self, future: Any, *, msg_id: Any) -> None:
        """Answer an error; log no traceback for one that only the client has to handle."""
        error = None if future.cancelled() else future.exception()
        if error is None:
            super()._send_handler_result(future, msg_id=msg_id)
            return
        answer = self.to_rpc_error(error)
        self.send_error(msg_id, answer)
        reported = answer if isinstance(answer, RequestFailed) else error
        self._server.report_server_error(reported, FeatureRequestError)

    @override
    def _check_handler_result(self, future: Any) -> None:
        """Log the error of a notification, which has no answer."""
        error = None if future.cancelled() else future.exception()
        if error is not None:
            self._server.report_server_error(error, FeatureNotificationError)

    def to_rpc_error(self, error: BaseException) -> JsonRpcException:
        """Return an exception for the client: one line, with a report id if it is unexpected."""
        if isinstance(error, JsonRpcException):
            return error
        if isinstance(error, VibesError) and not isinstance(error, InternalError):
            return RequestFailed(error)
        internal_error = error if isinstance(error, InternalError) else InternalError(error)
        message = f"internal error {internal_error.report_id}; see the log of the server"
        return JsonRpcInternalError(message, data={"code": internal_error.code})

    def send_error(self, number: object, error: JsonRpcException) -> None:
        """Answer a message with an error, under the id null if its id cannot be read."""
        known = number if isinstance(number, int | str) and not isinstance(number, bool) else None
        self._send_response(known, error=error.to_response_error())

    @override
    def _send_data(self, data: Any) -> None:
        """Send a message; for a result that cannot be encoded, send an error: a client waits."""
        if not data or self.writer is None:
            return
        try:
            body = json.dumps(data, default=self._serialize_message, allow_nan=False).encode()
        except Exception as error:  # noqa: BLE001  # any error of the encoder
            self._server.report_server_error(error, JsonRpcInternalError)
            if hasattr(data, "method"):  # a request or notification: no client waits
                return
            refused = self.to_rpc_error(error)
            members = {"code": refused.code, "message": refused.message, "data": refused.data}
            body = json.dumps({"jsonrpc": self.VERSION, "id": data.id, "error": members}).encode()
        try:
            self.writer.write(_HEADERS % (len(body), body))
        except OSError:  # the client reads no more; the end of its input ends the server
            writer, self.writer = self.writer, None
            with contextlib.suppress(OSError):
                writer.close()  # else what is buffered fails again at the end of the program

    @override
    def structure_message(self, data: dict[str, Any]) -> Any:
        """Answer a request with invalid parameters; the library would not answer it."""
        try:
            return super().structure_message(data)
        except JsonRpcException as error:
            if "id" in data and "method" in data:
                refused = types.ResponseError(
                    error.code, f"{error.message}: {_invalid_member(error.__cause__)}"
                )
                self._send_response(data["id"], error=refused)
            raise

    @override
    def handle_message(self, message: Any) -> None:
        """Answer with LSP's errors what comes before `initialize` or after `shutdown`."""
        method, number = getattr(message, "method", None), getattr(message, "id", None)
        refused = None if method in (None, types.EXIT) else self.lifecycle_error(str(method))
        if refused is None:
            super().handle_message(message)
        elif number is not None:
            self._send_response(number, error=refused.to_response_error())

    def lifecycle_error(self, method: str) -> JsonRpcException | None:
        """Return why a method may not be called now; None if it may."""
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
        """Send no traceback, which names paths of this machine; send messages as one line."""
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
        """Accept no arguments as an empty object; name the member of an argument that is wrong."""
        params.arguments = params.arguments or [{}]
        try:
            return (yield from super().lsp_workspace__execute_command(params))
        except JsonRpcInvalidParams as error:
            if error.__context__ is None:
                raise
            raise JsonRpcInvalidParams(
                f"{params.command}: {_invalid_member(error.__context__)}"
            ) from None

    @lsp_method(types.SHUTDOWN)
    @override
    def lsp_shutdown(self, *args: Any) -> Generator[Any, Any, None]:
        """Cancel what still runs; over a copy, since a cancelled future is released at once."""
        handler = self.fm.features.get(types.SHUTDOWN)
        if handler is not None:
            yield handler, args, None
        current = self.msg_id
        for number, future in list(self._request_futures.items()):
            if number != current and not future.done():
                future.cancel()
        self._shutdown = True

    @lsp_method(types.EXIT)
    @override
    def lsp_exit(self, *args: Any) -> Generator[Any, Any, None]:
        """End the session; what still runs in the background sends nothing any more."""
        try:
            yield from super().lsp_exit(*args)
        except OSError:  # the client reads no more, so what is buffered cannot be sent
            sys.exit(0 if self._shutdown else 1)
        finally:
            self.writer = None

    @override
    def get_message_type(self, method: str) -> type[Any] | None:  # type: ignore[override]  # cached
        return ProvenanceRequest if method == PROVENANCE else super().get_message_type(method)

    # The library splits lines where LSP does not (form feeds, U+2028) and so applies changes in the
    # wrong place.

    @lsp_method(types.TEXT_DOCUMENT_DID_OPEN)
    @override
    def lsp_text_document__did_open(
        self, params: types.DidOpenTextDocumentParams
    ) -> Generator[Any, Any, None]:
        document = params.text_document
        self.documents.open(document.uri, document.version, document.text)
        yield from self._user_handler(types.TEXT_DOCUMENT_DID_OPEN, params)

    @lsp_method(types.TEXT_DOCUMENT_DID_CHANGE)
    @override
    def lsp_text_document__did_change(
        self, params: types.DidChangeTextDocumentParams
    ) -> Generator[Any, Any, None]:
        self.documents.change(
            params.text_document.uri, params.text_document.version, list(params.content_changes)
        )
        yield from self._user_handler(types.TEXT_DOCUMENT_DID_CHANGE, params)

    @lsp_method(types.TEXT_DOCUMENT_DID_CLOSE)
    @override
    def lsp_text_document__did_close(
        self, params: types.DidCloseTextDocumentParams
    ) -> Generator[Any, Any, None]:
        self.documents.close(params.text_document.uri)
        yield from self._user_handler(types.TEXT_DOCUMENT_DID_CLOSE, params)

    def _user_handler(self, method: str, params: Any) -> Generator[Any, Any, None]:
        handler = self.fm.features.get(method)
        if handler is not None:
            yield handler, (params,), None


def _repeatable(handler: Callable[..., Any]) -> Callable[..., Any]:
    """Return a handler that begins again, once, if the index of a trail is outdated.

    The refresh of the second attempt rebuilds it.
    """
    if inspect.isgeneratorfunction(handler):  # the library's own, which run ours
        return handler
    if asyncio.iscoroutinefunction(handler):

        @wraps(handler)
        async def handle_async(*arguments: Any) -> Any:
            try:
                return await handler(*arguments)
            except OutdatedIndex:
                return await handler(*arguments)

        return handle_async

    @wraps(handler)
    def handle(*arguments: Any) -> Any:
        try:
            return handler(*arguments)
        except OutdatedIndex:
            return handler(*arguments)

    return handle


def _invalid_member(error: BaseException | None) -> str:
    """Return which member was wrong: the library raises nested exception groups with notes."""
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
