"""The `kb.*` methods as one JSON object per line, in and out (vouch 6).

A line that is no request is answered with an error; none ends the server.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Iterator
from typing import Any, BinaryIO, Final

import msgspec

from vibes_lsp.errors import ForbiddenSelfApproval, MalformedJson, VibesError, report
from vibes_lsp.knowledge.method_context import MissingParameter, UnknownMethod
from vibes_lsp.knowledge.methods import KnowledgeMethods
from vibes_lsp.model.canonical_json import parse_json

_logger = logging.getLogger(__name__)

_MAX_LINE: Final = 8 << 20
"""Longest request in bytes: parsed, it can take twenty times as much memory."""
_SKIPPED: Final = 1 << 16
_METHOD_NOT_FOUND: Final = "method_not_found"
_MISSING_PARAM: Final = "missing_param"
_INVALID_REQUEST: Final = "invalid_request"
_INTERNAL_ERROR: Final = "internal_error"


def answer_lines(methods: KnowledgeMethods, stream: BinaryIO) -> Iterator[bytes]:
    """Yield the response to each line of a stream in order; blank lines have none."""
    for line in _lines(stream):
        if line.strip():
            yield _encode(_answer(methods, line)) + b"\n"


def _lines(stream: BinaryIO) -> Iterator[bytes]:
    """Yield lines; of one that is too long, only enough to see that it is, however long it is."""
    while line := stream.readline(_MAX_LINE + 1):
        part = line
        while part and len(line) > _MAX_LINE and not part.endswith(b"\n"):
            part = stream.readline(_SKIPPED)
        yield line


def _answer(methods: KnowledgeMethods, line: bytes) -> dict[str, Any]:
    if len(line) > _MAX_LINE:
        return _error("", _INVALID_REQUEST, f"the line has more than {_MAX_LINE >> 20} MiB")
    try:
        request = parse_json(line)
    except MalformedJson as error:
        return _error("", _INVALID_REQUEST, f"the line is no JSON: {error.reason}")
    if not isinstance(request, dict):
        return _error("", _INVALID_REQUEST, "the line is no JSON object")
    identifier, method = request.get("id"), request.get("method")
    params = request.get("params")
    if not isinstance(identifier, str) or not identifier:
        response_id = str(identifier) if isinstance(identifier, int) else ""
        return _error(response_id, _INVALID_REQUEST, "id: expected a text that is not empty")
    if not isinstance(method, str):
        return _error(identifier, _INVALID_REQUEST, "method: expected a text")
    if params is not None and not isinstance(params, dict):
        return _error(identifier, _INVALID_REQUEST, "params: expected an object")
    return call_method(methods, identifier, method, params or {})


def call_method(
    methods: KnowledgeMethods, identifier: str, method: str, params: dict[str, Any]
) -> dict[str, Any]:
    """Return the response to a request."""
    try:
        return {"id": identifier, "ok": True, "result": methods.call(method, params)}
    except UnknownMethod as error:
        return _error(identifier, _METHOD_NOT_FOUND, error.message)
    except MissingParameter as error:
        return _error(identifier, _MISSING_PARAM, error.message)
    except ForbiddenSelfApproval as error:
        return _error(identifier, _INVALID_REQUEST, error.message)
    except VibesError as error:
        hint = f"; {error.hint}" if error.hint else ""
        return _error(identifier, _INVALID_REQUEST, f"{error.message}{hint}")
    except Exception as error:  # noqa: BLE001  # the next request must be answered
        return _error(identifier, _INTERNAL_ERROR, report(error).message)


def _encode(response: dict[str, Any]) -> bytes:
    try:
        return msgspec.json.encode(response)  # a sixth of the time of json.dumps
    except (TypeError, ValueError, OverflowError):  # half a surrogate pair, a very large number
        return json.dumps(response).encode()


def _error(identifier: str, code: str, message: str) -> dict[str, Any]:
    return {"id": identifier, "ok": False, "error": {"code": code, "message": message}}
