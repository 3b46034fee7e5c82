"""The installed product as a subject through its language server: one server a history."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from typing_extensions import override

from tests import forked
from tests.git_life.product import CommandLine, annotation
from tests.git_life.subject import Claim, Edit
from tests.server.wire import Wire

_CAPABILITIES: Final[dict[str, Any]] = {"textDocument": {"publishDiagnostics": {}}}


class Editor(CommandLine):
    """An editor that has one project open; in other work trees the command line is used.

    Args:
        environment: Of all programs.
    """

    def __init__(self, environment: dict[str, str]) -> None:
        super().__init__(environment)
        self._wire: Wire | None = None
        self._root: Path | None = None

    @override
    def init(self, root: Path) -> None:
        super().init(root)
        if self._wire is None:
            words = [f"{name}={value}" for name, value in self._environment.items()]
            command = ["env", "-i", *words, str(forked.program("vibes-lsp"))]
            self._wire, self._root = Wire(root.parent / "server.log", command=command), root
            self._wire.initialize(root, _CAPABILITIES)

    @override
    def record(self, root: Path, edit: Edit) -> None:
        if self._wire is None or root != self._root:
            super().record(root, edit)
            return
        uri = self._open(self._wire, root / edit.path)
        for span in edit.ranges:
            arguments = {**annotation(edit, span), "uri": uri}
            del arguments["file"]
            answer = self._wire.request(
                "workspace/executeCommand",
                {"command": "vibes.recordAnnotation", "arguments": [arguments]},
            )
            assert "error" not in answer, answer
        self._close(self._wire, uri)

    @override
    def owners(self, root: Path, path: str) -> Mapping[int, Claim]:
        if self._wire is None or root != self._root:
            return super().owners(root, path)
        uri = self._open(self._wire, root / path)
        answer = self._final(self._wire, uri)
        self._close(self._wire, uri)
        return self.claims(answer)

    @override
    def close(self) -> None:
        if self._wire is not None:
            self._wire.request("shutdown", None)
            self._wire.notify("exit", None)
            self._wire.__exit__()

    @staticmethod
    def _final(wire: Wire, uri: str) -> Mapping[str, Any]:
        """Return what the server says of a file once it asked git."""
        while True:
            wire.notifications.clear()
            answer = wire.request("vibes/provenance", {"textDocument": {"uri": uri}, "lines": True})
            assert "error" not in answer, answer
            result: Mapping[str, Any] = answer["result"]
            if not result.get("provisional") and not result.get("indexing"):
                return result
            while not any(_is_change(message, uri) for message in wire.notifications):
                message = wire.receive()
                if "id" in message and "method" in message:
                    wire.send(id=message["id"], result=None)
                wire.notifications.append(message)

    @staticmethod
    def _open(wire: Wire, file: Path) -> str:
        uri = file.as_uri()
        document = {
            "uri": uri,
            "languageId": "text",
            "version": 1,
            "text": file.read_bytes().decode(),
        }
        wire.notify("textDocument/didOpen", {"textDocument": document})
        return uri

    @staticmethod
    def _close(wire: Wire, uri: str) -> None:
        wire.notify("textDocument/didClose", {"textDocument": {"uri": uri}})


def _is_change(message: Mapping[str, Any], uri: str) -> bool:
    params = message.get("params") or {}
    return message.get("method") == "vibes/provenanceChanged" and params.get("uri") == uri
