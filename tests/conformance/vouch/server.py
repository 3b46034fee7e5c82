"""A knowledge base and the servers of one program, driven from outside: JSON lines and files."""

from __future__ import annotations

import json
import os
import shlex
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

METHODS = [
    "kb.capabilities", "kb.status", "kb.search", "kb.context", "kb.read_page", "kb.read_claim",
    "kb.read_entity", "kb.read_relation", "kb.list_pages", "kb.list_claims", "kb.list_entities",
    "kb.list_relations", "kb.list_sources", "kb.list_pending", "kb.register_source",
    "kb.register_source_from_path", "kb.source_verify", "kb.propose_claim", "kb.propose_page",
    "kb.propose_entity", "kb.propose_relation", "kb.approve", "kb.reject", "kb.supersede",
    "kb.contradict", "kb.archive", "kb.confirm", "kb.cite", "kb.session_start", "kb.session_end",
    "kb.crystallize", "kb.index_rebuild", "kb.lint", "kb.doctor", "kb.audit", "kb.export",
    "kb.export_check", "kb.import_check", "kb.import_apply",
]  # fmt: skip


class Refused(Exception):
    """A response with an error.

    Args:
        response: The response.
    """

    def __init__(self, response: dict[str, Any]) -> None:
        super().__init__(json.dumps(response)[:500])
        self.code: str = response["error"]["code"]
        self.message: str = response["error"]["message"]


@dataclass(frozen=True)
class Program:
    """A program that implements the specification.

    Attributes:
        name: Its name in the matrix.
        init: The command that creates a knowledge base in the current folder.
        serve: The command that serves JSON lines.
    """

    name: str
    init: str
    serve: str


class Server:
    """A server process for one actor.

    Args:
        program: The program.
        project: Where it runs.
        actor: The value of `VOUCH_AGENT`.
    """

    def __init__(self, program: Program, project: Path, actor: str) -> None:
        environment = {**os.environ, "VOUCH_AGENT": actor, "HOME": str(project)}
        environment.pop("VOUCH_KB_PATH", None)
        self.process = subprocess.Popen(
            shlex.split(program.serve),
            cwd=project,
            env=environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )
        self._count = 0

    def send(self, line: bytes) -> None:
        """Write one line."""
        assert self.process.stdin is not None
        self.process.stdin.write(line + b"\n")
        self.process.stdin.flush()

    def receive(self) -> dict[str, Any]:
        """Return the next response."""
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        assert line, "the server has ended"
        response = json.loads(line)
        assert isinstance(response, dict)
        return response

    def ask(self, line: bytes) -> dict[str, Any]:
        """Write one line and return its response."""
        self.send(line)
        return self.receive()

    def call(self, method: str, **params: Any) -> Any:
        """Return the result of a method.

        Raises:
            Refused: The response is an error.
        """
        self._count += 1
        request = {"id": f"r{self._count}", "method": f"kb.{method}", "params": params}
        response = self.ask(json.dumps(request).encode())
        assert response.get("id") == f"r{self._count}", response
        if not response["ok"]:
            raise Refused(response)
        return response["result"]

    def error(self, method: str, **params: Any) -> Refused:
        """Return the error of a method that must fail."""
        try:
            result = self.call(method, **params)
        except Refused as error:
            return error
        raise AssertionError(f"kb.{method} was not refused: {json.dumps(result)[:300]}")

    def close(self) -> None:
        """End the server."""
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.close()
        self.process.wait(30)
        self.process.stdout.close()


class World:
    """An empty knowledge base and its servers.

    Args:
        program: The program.
        project: An empty folder.
    """

    def __init__(self, program: Program, project: Path) -> None:
        self.program = program
        self.project = project
        subprocess.run(
            shlex.split(program.init),
            cwd=project,
            env={**os.environ, "HOME": str(project)},
            check=True,
            capture_output=True,
        )
        self._servers: dict[str, Server] = {}

    @property
    def folder(self) -> Path:
        """The folder `.vouch`."""
        return self.project / ".vouch"

    @property
    def agent(self) -> Server:
        """The server of an agent."""
        return self.server("agent-a")

    @property
    def person(self) -> Server:
        """The server of a person."""
        return self.server("person")

    def server(self, actor: str) -> Server:
        """Return the server of an actor, started on first use."""
        if actor not in self._servers:
            self._servers[actor] = Server(self.program, self.project, actor)
        return self._servers[actor]

    def close(self) -> None:
        """End all servers."""
        for server in self._servers.values():
            server.process.kill()
            server.close()

    def object(self, path: str) -> dict[str, Any]:
        """Return the members of an object's file."""
        text = (self.folder / path).read_text("utf-8")
        if path.endswith(".md"):
            text = text.split("---\n")[1]
        members = yaml.safe_load(text)
        assert isinstance(members, dict)
        return members

    def events(self) -> list[dict[str, Any]]:
        """Return the events of the audit log."""
        text = (self.folder / "audit.log.jsonl").read_text("utf-8")
        return [json.loads(line) for line in text.splitlines()]

    def set_config(self, **members: Any) -> None:
        """Change settings."""
        path = self.folder / "config.yaml"
        path.write_text(yaml.safe_dump({**(yaml.safe_load(path.read_text()) or {}), **members}))

    def source(self, text: str = "Tokens are signed.") -> str:
        """Register a source and return its id."""
        result = self.agent.call("register_source", content=text, locator="note", title="note")
        identifier = result["id"]
        assert isinstance(identifier, str)
        return identifier

    def propose(self, text: str = "Auth uses tokens", **params: Any) -> str:
        """Propose a claim and return the id of the proposal."""
        evidence = params.pop("evidence", None) or [self.source()]
        result = self.agent.call("propose_claim", text=text, evidence=evidence, **params)
        assert result.get("valid", True), result
        identifier = result["proposal_id"]
        assert isinstance(identifier, str)
        return identifier

    def claim(self, text: str = "Auth uses tokens", **params: Any) -> str:
        """Create a claim and return its id."""
        result = self.person.call("approve", proposal_id=self.propose(text, **params))
        identifier = result.get("object_id") or result["id"]
        assert isinstance(identifier, str)
        return identifier


def items(result: Any) -> list[Any]:
    """Return the elements of a list, also of one in an object, as newer versions send it."""
    if isinstance(result, dict):
        result = next(result[name] for name in ("items", "hits", "events") if name in result)
    assert isinstance(result, list)
    return result
