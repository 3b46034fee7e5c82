"""The protocol to the byte: order, framing, errors, cancelling, exit."""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING, Any, Final

import pytest

from tests.server.project import AS_RECORDED, STORY, Project
from tests.server.wire import Wire, hover_at, still_answers

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.trails import CompleteTrail


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory, trail: CompleteTrail) -> Iterator[Wire]:
    """One session for all tests that leave it in order."""
    with Wire(tmp_path_factory.mktemp("log") / "server.log") as wire:
        wire.initialize(trail.root)
        yield wire
        assert wire.process.poll() is None, "the server went away"
        wire.request("shutdown", None)
        wire.notify("exit", None)
        assert wire.end() == 0
        assert "Traceback" not in wire.logged()


@pytest.fixture
def wire(tmp_path: Path) -> Iterator[Wire]:
    """A server that nobody has spoken with."""
    with Wire(tmp_path / "server.log") as wire:
        yield wire


class TestEnds:
    def test_exit_without_shutdown_ends_with_one(self, wire: Wire, tmp_path: Path) -> None:
        wire.initialize(tmp_path)
        wire.notify("exit", None)
        wire.drain()
        assert wire.process.wait() == 1

    def test_exit_before_initialize_ends_with_one(self, wire: Wire) -> None:
        wire.notify("exit", None)
        wire.drain()
        assert wire.process.wait() == 1

    def test_the_end_of_input_ends_it(self, wire: Wire, tmp_path: Path) -> None:
        wire.initialize(tmp_path)
        wire.end()
        assert "Traceback" not in wire.logged()

    def test_the_end_of_input_within_a_message_ends_it(self, wire: Wire, tmp_path: Path) -> None:
        wire.initialize(tmp_path)
        wire.write(b'Content-Length: 500\r\n\r\n{"jsonrpc":')
        wire.end()

    def test_the_end_of_input_while_the_client_is_asked_is_no_error(
        self, wire: Wire, tmp_path: Path
    ) -> None:
        wire.initialize(tmp_path, {"workspace": {"configuration": True}})
        assert wire.receive()["method"] == "workspace/configuration"
        wire.end()
        assert wire.logged() == ""

    def test_exit_while_a_request_waits_is_no_error(self, tmp_path: Path) -> None:
        with Wire(tmp_path / "server.log", command=[sys.executable, "-c", WAITS]) as wire:
            wire.initialize(tmp_path)
            wire.ask("tests/wait", {})
            wire.notify("exit", None)
            wire.drain()
            assert wire.process.wait() == 1
            assert wire.logged() == ""


class TestOrder:
    def test_a_request_before_initialize_is_refused(self, wire: Wire, trail: CompleteTrail) -> None:
        uri = (trail.root / "src/auth.py").as_uri()
        error = wire.request("textDocument/hover", hover_at(uri, 3))["error"]
        assert (error["code"], error["message"]) == (-32002, "send initialize first")
        wire.notify(
            "textDocument/didOpen",
            {"textDocument": {"uri": uri, "languageId": "x", "version": 1, "text": ""}},
        )
        wire.initialize(trail.root)
        assert still_answers(wire, trail), "what was opened too early does not count"

    def test_a_second_initialize_is_refused(self, shared: Wire, trail: CompleteTrail) -> None:
        again = shared.request(
            "initialize",
            {
                "processId": None,
                "rootUri": None,
                "capabilities": {"textDocument": {"diagnostic": {}}},
            },
        )
        assert again["error"]["code"] == -32600
        assert still_answers(shared, trail)

    def test_a_request_after_shutdown_is_refused(self, wire: Wire, trail: CompleteTrail) -> None:
        wire.initialize(trail.root)
        wire.request("shutdown", None)
        assert (
            wire.request("textDocument/hover", hover_at("untitled:x", 1))["error"]["code"] == -32600
        )
        wire.notify("exit", None)
        wire.drain()
        assert wire.process.wait() == 0

    def test_a_change_of_what_was_never_opened_changes_nothing(
        self, shared: Wire, trail: CompleteTrail
    ) -> None:
        document = {"uri": (trail.root / "src/auth.py").as_uri(), "version": 7}
        shared.notify(
            "textDocument/didChange",
            {"textDocument": document, "contentChanges": [{"text": "nothing"}]},
        )
        shared.notify("textDocument/didSave", {"textDocument": document})
        shared.notify("textDocument/didClose", {"textDocument": document})
        assert still_answers(shared, trail)

    def test_a_document_opened_twice_has_its_later_text(self, shared: Wire, tmp_path: Path) -> None:
        project = Project(tmp_path / "own")
        project.environment()
        uri = project.annotated().as_uri()
        for text in ("nothing", STORY):
            shared.notify(
                "textDocument/didOpen",
                {"textDocument": {"uri": uri, "languageId": "x", "version": 1, "text": text}},
            )
        assert (
            shared.request("textDocument/hover", hover_at(uri, 4))["result"]["range"]["start"][
                "line"
            ]
            == 3
        )
        shared.notify("textDocument/didClose", {"textDocument": {"uri": uri}})


class TestMalformed:
    @pytest.mark.parametrize(
        "body",
        [
            b"",
            b"{",
            b"[]",
            b"null",
            b"7",
            b'"text"',
            b"{}",
            b'{"jsonrpc":"2.0"}',
            b'{"jsonrpc":"1.0","id":1,"method":"shutdown"}',
            b'{"jsonrpc":"2.0","method":7}',
            b'{"jsonrpc":"2.0","method":"textDocument/didOpen","params":{}}',
            b'{"jsonrpc":"2.0","method":"textDocument/didOpen"}',
            b'{"jsonrpc":"2.0","method":"textDocument/didChange","params":{"textDocument":{"uri":"untitled:x"}}}',
            b'{"jsonrpc":"2.0","method":"nothing/known","params":{}}',
            b'{"jsonrpc":"2.0","method":"$/unknown","params":{}}',
            b'{"jsonrpc":"2.0","id":"never asked","result":{}}',
            b'{"jsonrpc":"2.0","id":"never asked","error":{"code":1,"message":"x"}}',
            b'{"jsonrpc":"2.0","id":null,"error":{"code":1,"message":"x"}}',
            b'[{"jsonrpc":"2.0","id":1,"method":"shutdown"}]',
            b"\xff\xfe",
            b'{"jsonrpc":"2.0","method":"x","params":' + b"[" * 3000 + b"]" * 3000 + b"}",
            b"[" * 100_000,
        ],
        ids=lambda body: body[:60].decode("utf-8", "replace"),
    )
    def test_a_body_that_makes_no_sense_is_passed_over(
        self, shared: Wire, trail: CompleteTrail, body: bytes
    ) -> None:
        shared.write_body(body)
        assert still_answers(shared, trail)

    def test_headers_that_make_no_sense_are_passed_over(
        self, shared: Wire, trail: CompleteTrail
    ) -> None:
        for head in (
            b"\r\n",
            b"Content-Type: x\r\n\r\n",
            b"Content-Length: many\r\n\r\n",
            b"nonsense\r\n\r\n",
            b"\xff\xfe\r\n\r\n",
        ):
            shared.write(head)
        assert still_answers(shared, trail)

    def test_an_unknown_method_is_answered(self, shared: Wire) -> None:
        error = shared.request("textDocument/unknown", {})["error"]
        assert error["code"] == -32601
        assert "textDocument/unknown" in error["message"]

    def test_no_line_of_the_log_is_long(self, shared: Wire) -> None:
        shared.request("long" * 1000, {})
        shared.request("textDocument/unknown", {})
        lines = shared.logged().splitlines()
        assert [line for line in lines if "longlong" in line]
        assert max(map(len, lines)) == 1000

    @pytest.mark.parametrize(
        ("method", "params", "message"),
        [
            (
                "textDocument/hover",
                {"textDocument": {"uri": "untitled:x"}},
                "params.position is missing",
            ),
            ("textDocument/hover", {}, "is missing"),
            ("textDocument/hover", None, ""),
            ("textDocument/hover", [], ""),
            (
                "textDocument/hover",
                {
                    "textDocument": {"uri": "untitled:x"},
                    "position": {"line": "one", "character": 0},
                },
                "line",
            ),
            (
                "textDocument/hover",
                {"textDocument": {"uri": "untitled:x"}, "position": {"line": -1, "character": 0}},
                "line",
            ),
            ("textDocument/codeLens", {"textDocument": {}}, "params.textDocument.uri is missing"),
            ("vibes/provenance", {}, "params.textDocument is missing"),
            ("vibes/provenance", {"textDocument": {"uri": None}}, ""),
            (
                "workspace/executeCommand",
                {"command": "vibes.unknown", "arguments": []},
                "'vibes.unknown' is not defined",
            ),
            (
                "workspace/executeCommand",
                {"command": "vibes.lookup"},
                "vibes.lookup: uri is missing",
            ),
            (
                "workspace/executeCommand",
                {"command": "vibes.lookup", "arguments": [{"uri": "x", "range": {}}]},
                "range.start is missing",
            ),
            (
                "workspace/executeCommand",
                {"command": "vibes.lookup", "arguments": [5]},
                "vibes.lookup: ",
            ),
            (
                "workspace/executeCommand",
                {"command": "vibes.show", "arguments": [{"id": "abcd"}, {"id": "abcd"}]},
                "Expected 1 arguments, got 2",
            ),
        ],
    )
    def test_wrong_parameters_are_answered_with_what_is_wrong(
        self, shared: Wire, method: str, params: object, message: str
    ) -> None:
        error = shared.request(method, params)["error"]
        assert message in error["message"]
        assert error["code"] in (-32602, -32603, -32001)
        assert (error.get("data") or {}).keys() <= {"code"}
        assert "Traceback" not in json.dumps(error)
        assert ".py" not in json.dumps(error)

    def test_a_method_that_is_no_text_is_answered_without_a_traceback(self, shared: Wire) -> None:
        shared.send(id="seven", method=7, params={})
        error = shared.answer("seven")["error"]
        assert error["code"] == -32603
        assert "data" not in error

    def test_a_uri_that_makes_no_sense_is_no_file(self, shared: Wire, trail: CompleteTrail) -> None:
        root = trail.root.as_uri()
        for uri in (
            "",
            "x",
            "file:",
            "file://",
            "http://[::1",
            "file://[",
            "file:///%00/a.py",
            f"{root}/%00.py",
            f"{root}/{'x' * 5000}.py",
            f"{root}/a/{'y' * 300}/b.py",
            "file:///" + "z/" * 3000,
        ):
            shared.notify(
                "textDocument/didOpen",
                {"textDocument": {"uri": uri, "languageId": "x", "version": 1, "text": "text"}},
            )
            assert shared.request("textDocument/hover", hover_at(uri, 1)).get("result") is None
            assert (
                shared.request("textDocument/codeLens", {"textDocument": {"uri": uri}})["result"]
                == []
            )
            shared.notify("textDocument/didClose", {"textDocument": {"uri": uri}})
            assert "error" not in shared.request("textDocument/hover", hover_at(uri, 1))
        assert still_answers(shared, trail)


class TestCancelling:
    def test_each_request_is_answered_once_cancelled_or_not(
        self, shared: Wire, trail: CompleteTrail
    ) -> None:
        uri = (trail.root / "src/auth.py").as_uri()
        for method, params in (
            ("textDocument/hover", hover_at(uri, 3)),
            ("workspace/executeCommand", {"command": "vibes.check", "arguments": [{}]}),
            ("vibes/provenance", {"textDocument": {"uri": uri}}),
        ):
            number = shared.ask(method, params)
            shared.notify("$/cancelRequest", {"id": number})
            answer = shared.answer(number)
            assert "result" in answer or answer["error"]["code"] == -32800
        before = len(shared.notifications)
        assert still_answers(shared, trail)
        assert [each for each in shared.notifications[before:] if "method" not in each] == []

    def test_a_check_in_a_thread_can_be_cancelled(self, wire: Wire, trail: CompleteTrail) -> None:
        wire.initialize(
            trail.root,
            {
                "workspace": {"diagnostics": {"refreshSupport": True}},
                "textDocument": {"diagnostic": {}},
            },
        )
        uri = (trail.root / ".ai-audit/annotations.jsonl").as_uri()
        number = wire.ask("textDocument/diagnostic", {"textDocument": {"uri": uri}})
        wire.notify("$/cancelRequest", {"id": number})
        answer = wire.answer(number)
        assert answer.get("error", {}).get("code") == -32800 or answer["result"]["items"] == []
        assert still_answers(wire, trail)

    def test_cancelling_what_was_never_asked_is_passed_over(
        self, shared: Wire, trail: CompleteTrail
    ) -> None:
        for number in ("never", 99_999, None):
            shared.notify("$/cancelRequest", {"id": number})
        assert still_answers(shared, trail)


class TestClients:
    """What a client says it can do and then does not."""

    def test_one_that_refuses_whatever_it_is_asked(self, wire: Wire, tmp_path: Path) -> None:
        project = Project(tmp_path / "own")
        project.environment()
        file = project.annotated()
        asks = {"configuration": True, "didChangeWatchedFiles": {"dynamicRegistration": True}}
        wire.initialize(
            project.root, {"workspace": asks}, initializationOptions={"codeLens": {"enable": False}}
        )
        refused: set[str] = set()
        while len(refused) < 2:
            message = wire.receive()
            refused.add(message["method"])
            wire.send(id=message["id"], error={"code": -32601, "message": "Method not found"})
        assert refused == {"workspace/configuration", "client/registerCapability"}
        assert wire.request("textDocument/hover", hover_at(file.as_uri(), 4))["result"] is not None
        assert (
            wire.request("textDocument/codeLens", {"textDocument": {"uri": file.as_uri()}})[
                "result"
            ]
            == []
        )
        assert "Traceback" not in wire.logged()

    def test_one_that_can_be_limited_to_some_files_is_asked_nothing_for_each_key_in_code(
        self, wire: Wire, trail: CompleteTrail
    ) -> None:
        can = {"dynamicRegistration": True}
        abilities = wire.initialize(
            trail.root,
            {
                "textDocument": {
                    "completion": can,
                    "inlayHint": can,
                    "callHierarchy": can,
                    "foldingRange": can,
                },
                "experimental": {"vibes": {"lineText": True}},
            },
        )
        each_key = {"completionProvider", "inlayHintProvider", "documentHighlightProvider"}
        assert not {*each_key, "callHierarchyProvider", "foldingRangeProvider"} & abilities.keys()

        def registered(method: str) -> Any:
            while True:
                message = wire.receive()
                if message.get("method") != "client/registerCapability":
                    continue
                wire.send(id=message["id"], result=None)
                for each in message["params"]["registrations"]:
                    if each["method"] == method:
                        return each["registerOptions"]

        options = registered("textDocument/completion")
        assert {"pattern": "**/.vouch/**"} in options["documentSelector"]
        options = registered("textDocument/completion")
        assert options["documentSelector"] == [{"pattern": "**/.ai-audit/config.json"}]
        settings = {"vibes": {"inlayHints": {"enable": True}}}
        wire.notify("workspace/didChangeConfiguration", {"settings": settings})
        assert registered("textDocument/inlayHint")["resolveProvider"] is True

    def test_one_that_knows_no_folders_but_a_root(self, wire: Wire, trail: CompleteTrail) -> None:
        wire.initialize(trail.root)
        report = wire.request(
            "workspace/executeCommand", {"command": "vibes.check", "arguments": [{}]}
        )["result"]
        assert report["project"] == trail.writer.project

    def test_one_that_tells_nonsense(self, wire: Wire, trail: CompleteTrail) -> None:
        wire.initialize(
            trail.root, {"workspace": {"configuration": True}}, initializationOptions=[{"vibes": 5}]
        )
        answers: list[object] = [
            [],
            None,
            [None],
            [7],
            ["text"],
            [[]],
            [{"diagnostics": {"minimumBand": []}}],
            {},
            [{"hover": 7}],
        ]
        for answer in answers:
            message = wire.receive()
            assert message["method"] == "workspace/configuration"
            wire.send(id=message["id"], result=answer)
            assert still_answers(wire, trail)
            wire.notify("workspace/didChangeConfiguration", {"settings": answer})

    def test_settings_that_come_late_hold_for_what_was_told_before(
        self, wire: Wire, tmp_path: Path
    ) -> None:
        project = Project(tmp_path / "own")
        project.config(risk_scoring=AS_RECORDED)
        project.environment()
        uri = project.annotated(risk_score=0.9).as_uri()
        wire.initialize(project.root, {"workspace": {"configuration": True}})
        asked = wire.receive()
        wire.notify(
            "textDocument/didOpen",
            {"textDocument": {"uri": uri, "languageId": "x", "version": 1, "text": STORY}},
        )
        pushed = wire.receive()
        assert [each["code"] for each in pushed["params"]["diagnostics"]] == ["risk-critical"]
        wire.send(id=asked["id"], result=[{"diagnostics": {"enable": False}}])
        while (message := wire.receive()).get(
            "method"
        ) != "textDocument/publishDiagnostics" or message["params"]["diagnostics"]:
            pass
        assert message["params"]["uri"] == uri


WAITS: Final = """
import asyncio, sys
from vibes_lsp.lsp.lifecycle import create_server
from vibes_lsp.lsp.main import standard_output
from vibes_lsp.lsp.transport import serve
server = create_server()
@server.feature("tests/wait")
async def wait(*_):
    await asyncio.Event().wait()
serve(server, sys.stdin.buffer, standard_output())
sys.exit(server.exit_code)
"""
