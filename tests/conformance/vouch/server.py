"""A knowledge base and the servers of one program, driven from outside: JSON lines and files."""

from __future__ import annotations

import io
import json
import os
import shlex
import subprocess
from abc import ABC, abstractmethod
from collections import deque
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import yaml
from typing_extensions import override

from vibes_lsp.knowledge.json_lines import answer_lines
from vibes_lsp.knowledge.knowledge_base import create_knowledge_base, find_knowledge_base
from vibes_lsp.knowledge.methods import KnowledgeMethods

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


class Program(Protocol):
    """A program that implements the specification."""

    def create(self, project: Path) -> None:
        """Create a knowledge base in a folder."""

    def start(self, project: Path, actor: str) -> Server:
        """Start a server of JSON lines for one actor."""


class Server(ABC):
    """A server for one actor."""

    def __init__(self) -> None:
        self._count = 0

    @abstractmethod
    def send(self, line: bytes) -> None:
        """Write one line."""

    @abstractmethod
    def receive(self) -> dict[str, Any]:
        """Return the next response."""

    @abstractmethod
    def close(self) -> None:
        """End the server."""

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


@dataclass(frozen=True)
class Commands:
    """A program that is run by its commands.

    Attributes:
        name: Its name in the matrix.
        init: The command that creates a knowledge base in the current folder.
        serve: The command that serves JSON lines.
    """

    name: str
    init: str
    serve: str

    def create(self, project: Path) -> None:
        """Create a knowledge base in a folder."""
        subprocess.run(
            shlex.split(self.init),
            cwd=project,
            env={**os.environ, "HOME": str(project)},
            check=True,
            capture_output=True,
        )

    def start(self, project: Path, actor: str) -> ServerProcess:
        """Start a server process for one actor, the value of `VOUCH_AGENT`."""
        environment = {**os.environ, "VOUCH_AGENT": actor, "HOME": str(project)}
        environment.pop("VOUCH_KB_PATH", None)
        process = subprocess.Popen(
            shlex.split(self.serve),
            cwd=project,
            env=environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )
        return ServerProcess(process)


class ServerProcess(Server):
    """A server in a process of its own.

    Args:
        process: The process, with pipes.
    """

    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        super().__init__()
        self.process = process

    @override
    def send(self, line: bytes) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(line + b"\n")
        self.process.stdin.flush()

    @override
    def receive(self) -> dict[str, Any]:
        assert self.process.stdout is not None
        return _decoded(self.process.stdout.readline())

    @override
    def close(self) -> None:
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.close()
        self.process.wait()
        self.process.stdout.close()


class InThisProcess:
    """This project's methods, called without a process."""

    def create(self, project: Path) -> None:
        """Create a knowledge base in a folder."""
        create_knowledge_base(project)

    def start(self, project: Path, actor: str) -> Server:
        """Return a server in this process."""
        return _ServerInThisProcess(KnowledgeMethods(find_knowledge_base(project), actor))


class _ServerInThisProcess(Server):
    def __init__(self, methods: KnowledgeMethods) -> None:
        super().__init__()
        self._methods = methods
        self._responses: deque[bytes] = deque()

    @override
    def send(self, line: bytes) -> None:
        self._responses.extend(answer_lines(self._methods, io.BytesIO(line + b"\n")))

    @override
    def receive(self) -> dict[str, Any]:
        return _decoded(self._responses.popleft())

    @override
    def close(self) -> None:
        self._methods.close()


def _decoded(line: bytes) -> dict[str, Any]:
    assert line, "the server has ended"
    response = json.loads(line)
    assert isinstance(response, dict)
    return response


class World:
    """An empty knowledge base and its servers.

    Args:
        program: The program.
        project: An empty folder.
    """

    def __init__(self, program: Program, project: Path) -> None:
        self.program = program
        self.project = project
        program.create(project)
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
            self._servers[actor] = self.program.start(self.project, actor)
        return self._servers[actor]

    def close(self) -> None:
        """End all servers."""
        for server in self._servers.values():
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
