"""Trusts the hooks of Codex as a person does with `/hooks`, by a conversation with its server."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Any


def trust_hooks(codex: Path, project: Path, environment: Mapping[str, str]) -> None:
    """Trust all hooks of a project as they are now.

    Args:
        codex: The program.
        project: The project's folder.
        environment: All environment variables.
    """
    with subprocess.Popen(
        [str(codex), "app-server"],
        cwd=project,
        env=dict(environment),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        encoding="utf-8",
    ) as server:
        _ask(server, "initialize", {"clientInfo": {"name": "tests", "version": "1"}})
        hashes = {
            hook["key"]: {"trusted_hash": hook["currentHash"]} for hook in _hooks(server, project)
        }
        edit = {"keyPath": "hooks.state", "value": hashes, "mergeStrategy": "upsert"}
        _ask(server, "config/batchWrite", {"edits": [edit]})
        assert {hook["trustStatus"] for hook in _hooks(server, project)} == {"trusted"}
        server.terminate()


def _hooks(server: subprocess.Popen[str], project: Path) -> list[dict[str, Any]]:
    [found] = _ask(server, "hooks/list", {"cwds": [str(project)]})["data"]
    hooks: list[dict[str, Any]] = found["hooks"]
    return hooks


def _ask(server: subprocess.Popen[str], method: str, parameters: dict[str, Any]) -> dict[str, Any]:
    """Return the result of a request."""
    assert server.stdin is not None
    assert server.stdout is not None
    request = {"id": method, "method": method, "params": parameters}
    server.stdin.write(json.dumps(request) + "\n")
    server.stdin.flush()
    for line in server.stdout:
        message = json.loads(line)
        if message.get("id") == method:
            assert "result" in message, line
            result: dict[str, Any] = message["result"]
            return result
    raise AssertionError(f"no answer to {method}")
