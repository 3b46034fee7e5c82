"""A minimal language client: one request at a time to a real server over stdio."""

from __future__ import annotations

import json
import subprocess
import sysconfig
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Self


class Client:
    """Speaks LSP with a `vibes-lsp` process in a folder; keeps pushed diagnostics by URI."""

    def __init__(
        self,
        folder: Path,
        command: Sequence[str | Path] = (),
        environment: Mapping[str, str] | None = None,
    ) -> None:
        self._folder = folder
        self._environment = environment
        self._command = list(command) or [Path(sysconfig.get_path("scripts")) / "vibes-lsp"]
        self._number = 0
        self._told: list[str] = []  # by notifications before the last answer
        self.diagnostics: dict[str, list[dict[str, Any]]] = {}

    def __enter__(self) -> Self:
        self._server = subprocess.Popen(
            self._command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env=self._environment,
        )
        uri = self._folder.as_uri()
        folders = [{"uri": uri, "name": self._folder.name}]
        self.request(
            "initialize",
            {"processId": None, "rootUri": uri, "workspaceFolders": folders, "capabilities": {}},
        )
        self.notify("initialized", {})
        return self

    def __exit__(self, *_: object) -> None:
        self.request("shutdown", None)
        self.notify("exit", None)
        self._server.communicate()

    @property
    def process_id(self) -> int:
        """The server's process."""
        return self._server.pid

    def open(self, path: str) -> str:
        """Open a file, wait until the server has searched git history, and return its URI."""
        file = self._folder / path
        uri = file.as_uri()
        document = {
            "uri": uri,
            "languageId": "plaintext",
            "version": 1,
            "text": file.read_text(encoding="utf-8"),
        }
        self.notify("textDocument/didOpen", {"textDocument": document})
        while "provisional" in self.request("vibes/provenance", {"textDocument": {"uri": uri}}):
            self.wait_for("vibes/provenanceChanged")
        return uri

    def request(self, method: str, params: object) -> Any:
        """Send a request and return its result.

        Raises:
            RuntimeError: The server answered with an error, or exited.
        """
        message = json.loads(self.exchange(method, params))
        if "error" in message:
            raise RuntimeError(message["error"]["message"])
        return message.get("result")

    def exchange(self, method: str, params: object) -> bytes:
        """Send a request and return its answer as it was sent.

        Raises:
            RuntimeError: The server exited.
        """
        self._number += 1
        self._told.clear()
        self._send({"id": self._number, "method": method, "params": params})
        while not _is_answer(body := self._read(), self._number):
            self._keep(json.loads(body))
        return body

    def wait_for(self, method: str) -> None:
        """Wait until the server sends a notification, or sent it just before its last answer."""
        while method not in self._told and self._receive().get("method") != method:
            pass

    def notify(self, method: str, params: object) -> None:
        """Send a notification."""
        self._send({"method": method, "params": params})

    def _send(self, message: dict[str, object]) -> None:
        body = json.dumps({"jsonrpc": "2.0", **message}, separators=(",", ":")).encode()
        assert self._server.stdin is not None
        self._server.stdin.write(b"Content-Length: %d\r\n\r\n" % len(body) + body)
        self._server.stdin.flush()

    def _receive(self) -> dict[str, Any]:
        message: dict[str, Any] = json.loads(self._read())
        self._keep(message)
        return message

    def _read(self) -> bytes:
        assert self._server.stdout is not None
        length = 0
        while (line := self._server.stdout.readline()) not in (b"\r\n", b""):
            name, _, value = line.partition(b":")
            length = int(value) if name.lower() == b"content-length" else length
        if not length:
            raise RuntimeError("the server exited")
        return self._server.stdout.read(length)

    def _keep(self, message: dict[str, Any]) -> None:
        self._told.append(message.get("method", ""))
        if message.get("method") == "textDocument/publishDiagnostics":
            self.diagnostics[message["params"]["uri"]] = message["params"]["diagnostics"]


def _is_answer(body: bytes, number: int) -> bool:
    """Whether a message answers a request; a long answer is not parsed for it."""
    if body.startswith((b'{"jsonrpc":"2.0","id":%d,' % number, b'{"id": %d,' % number)):
        return True
    message = json.loads(body)
    return message.get("id") == number and "method" not in message
