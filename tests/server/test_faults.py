"""A fault of ours in the server: the request is answered by one line with a report id, and the server goes on."""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING, Any, Final

import pytest

from tests.fault_injection import FAULT, FAULT_TEXT, command_with_fault
from tests.server.project import Project
from tests.server.wire import Wire, hover_at

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

MESSAGE: Final = re.compile(r"internal error [0-9a-f]{8}; see the log of the server")
LOGGED: Final = re.compile(r"internal error ([0-9a-f]{8}): KeyError in \S+\.py:\d+$", re.MULTILINE)


def started(
    tmp_path: Path, place: str, monkeypatch: pytest.MonkeyPatch
) -> tuple[Wire, Project, str]:
    project = Project(tmp_path / "own")
    project.config()
    project.environment()
    uri = project.annotated().as_uri()
    command = command_with_fault("vibes_lsp.lsp.main", place) if os.name == "nt" else None
    with monkeypatch.context() as patch:
        patch.setenv(FAULT, place)
        return Wire(tmp_path / "server.log", command=command), project, uri


REQUESTS: Final[dict[str, tuple[str, Callable[[str], tuple[str, Any]]]]] = {
    "hover": (
        "vibes_lsp.lsp.state.projects:Projects.snapshot",
        lambda uri: ("textDocument/hover", hover_at(uri, 4)),
    ),
    "lens": (
        "vibes_lsp.lsp.state.projects:Projects.snapshot",
        lambda uri: ("textDocument/codeLens", {"textDocument": {"uri": uri}}),
    ),
    "provenance": (
        "vibes_lsp.lsp.state.projects:Projects.snapshot",
        lambda uri: ("vibes/provenance", {"textDocument": {"uri": uri}}),
    ),
    "references": (
        "vibes_lsp.lsp.state.projects:Projects.snapshot",
        lambda uri: (
            "textDocument/references",
            {**hover_at(uri, 4), "context": {"includeDeclaration": True}},
        ),
    ),
    "actions": (
        "vibes_lsp.lsp.state.projects:Projects.snapshot",
        lambda uri: (
            "textDocument/codeAction",
            {
                "textDocument": {"uri": uri},
                "range": {"start": {"line": 3, "character": 0}, "end": {"line": 3, "character": 0}},
                "context": {"diagnostics": []},
            },
        ),
    ),
    "check": (
        "vibes_lsp.checks.report:check_trail",
        lambda uri: (
            "workspace/executeCommand",
            {"command": "vibes.check", "arguments": [{"uri": uri}]},
        ),
    ),
    "show": (
        "vibes_lsp.lsp.state.server:Server.find_project",
        lambda _uri: (
            "workspace/executeCommand",
            {"command": "vibes.show", "arguments": [{"id": "abcd"}]},
        ),
    ),
    "record": (
        "vibes_lsp.recording.recorder:Recorder._execute_once",
        lambda uri: (
            "workspace/executeCommand",
            {
                "command": "vibes.startSession",
                "arguments": [
                    {
                        "uri": uri,
                        "tool": {"name": "T", "version": "1"},
                        "model": {"name": "m", "version": "1"},
                    }
                ],
            },
        ),
    ),
}


@pytest.mark.parametrize("name", REQUESTS)
def test_a_request_is_answered_with_a_report_id(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    place, ask = REQUESTS[name]
    wire, project, uri = started(tmp_path, place, monkeypatch)
    with wire:
        wire.initialize(
            project.root,
            {
                "workspace": {"diagnostics": {"refreshSupport": True}},
                "textDocument": {"diagnostic": {}},
            },
        )
        error, again = (wire.request(*ask(uri))["error"] for _ in range(2))
        assert error == again
        assert error["code"] == -32603
        assert MESSAGE.fullmatch(error["message"]), error
        assert error["data"] == {"code": "internal-error"}
        assert wire.request("textDocument/unknown", {})["error"]["code"] == -32601, "it goes on"
        assert wire.request("shutdown", None)["result"] is None
        wire.notify("exit", None)
        assert wire.end() == 0
        assert error["message"].split()[2].rstrip(";") in LOGGED.findall(wire.logged())
        assert "Traceback" not in wire.logged()
        assert FAULT_TEXT not in wire.logged()


@pytest.mark.parametrize(
    "place",
    [
        "vibes_lsp.lsp.text_sync:_relocate",
        "vibes_lsp.lsp.text_sync:_look_up_history",
        "vibes_lsp.lsp.state.refresh:push_diagnostics",
        "vibes_lsp.lsp.lifecycle:_configure",
        "vibes_lsp.lsp.state.indexing:Indexing.prepare",
        "vibes_lsp.lsp.state.history_lookup:HistoryLookup.look_up",
        "vibes_lsp.lsp.state.file_watchers:FileWatchers.watch",
        "vibes_lsp.lsp.features.diagnostics:_risks",
        "vibes_lsp.lsp.state.debouncer:Debouncer._start",
        "vibes_lsp.lsp.state.background_flush:_flush",
        "vibes_lsp.lsp.state.background_flush:BackgroundFlush.flush_document",
        "vibes_lsp.lsp.protocol.open_documents:Documents.change",
    ],
)
def test_what_fails_in_the_background_is_one_line_and_hovers_go_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, place: str
) -> None:
    wire, project, uri = started(tmp_path, place, monkeypatch)
    with wire:
        wire.initialize(project.root)
        text = (project.root / "a.py").read_text(encoding="utf-8")
        wire.notify(
            "textDocument/didOpen",
            {"textDocument": {"uri": uri, "languageId": "x", "version": 1, "text": text}},
        )
        document = {"uri": uri, "version": 2}
        wire.notify(
            "textDocument/didChange", {"textDocument": document, "contentChanges": [{"text": text}]}
        )
        wire.notify("textDocument/didSave", {"textDocument": {"uri": uri}})
        method, params = REQUESTS["record"][1](uri)
        assert "result" in wire.request(method, params)
        while "internal error" not in wire.logged():
            assert wire.request("textDocument/hover", hover_at(uri, 4))["result"] is not None
        wire.notify("textDocument/didClose", {"textDocument": {"uri": uri}})
        assert wire.request("textDocument/hover", hover_at(uri, 4))["result"] is not None
        assert wire.request("shutdown", None)["result"] is None
        wire.notify("exit", None)
        assert wire.end() == 0
        shown = [each for each in wire.notifications if each["method"] == "window/showMessage"]
        assert shown == [], "nobody is interrupted by a message box"
        assert "Traceback" not in wire.logged()
        assert FAULT_TEXT not in wire.logged()


def test_a_message_that_cannot_be_handled_is_answered(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    wire, project, uri = started(
        tmp_path, "vibes_lsp.lsp.protocol.pygls_protocol:Protocol.lifecycle_error", monkeypatch
    )
    with wire:
        for _ in range(2):
            error = wire.request("textDocument/hover", hover_at(uri, 4))["error"]
            assert MESSAGE.fullmatch(error["message"])
        assert project.root.is_dir()
        assert FAULT_TEXT not in wire.logged()


def test_an_answer_that_cannot_be_written_is_an_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    wire, project, uri = started(
        tmp_path, "vibes_lsp.lsp.protocol.pygls_protocol:Protocol._serialize_message", monkeypatch
    )
    with wire:
        error = wire.request("textDocument/hover", hover_at(uri, 4))["error"]
        assert MESSAGE.fullmatch(error["message"])
        assert error["data"] == {"code": "internal-error"}
        assert project.root.is_dir()
        wire.notify("exit", None)
        wire.drain()
        assert wire.process.wait() == 1
        assert "Traceback" not in wire.logged()


def test_the_details_are_there_on_demand(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("VIBES_DEBUG", "1")
    wire, project, uri = started(
        tmp_path, "vibes_lsp.lsp.state.projects:Projects.snapshot", monkeypatch
    )
    with wire:
        wire.initialize(project.root)
        assert "error" in wire.request("textDocument/hover", hover_at(uri, 4))
        wire.end()
        assert "Traceback" in wire.logged()
