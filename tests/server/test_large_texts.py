"""A huge log is opened by mistake: the server keeps nothing of it, says so once, and goes on."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.server.conftest import SERVER
from tests.server.wire import Wire, still_answers

if TYPE_CHECKING:
    from tests.trails import CompleteTrail

RECORD = json.dumps({"type": "line", "file_path": "src/auth.py", "x": "y" * 900}) + "\n"
TOO_LARGE = "VIBES shows nothing in annotations.jsonl: it is too large"
NOT_READ = "a message of more than 134,217,728 bytes is not read"


@pytest.fixture
def wire(tmp_path: Path, trail: CompleteTrail) -> Iterator[Wire]:
    with Wire(tmp_path / "server.log") as wire:
        wire.initialize(trail.root)
        yield wire
        assert "Traceback" not in wire.logged()


def messages(wire: Wire) -> list[str]:
    """Return what the user was told."""
    told = (each for each in wire.notifications if each.get("method") == "window/showMessage")
    return [each["params"]["message"] for each in told]


def open_large(wire: Wire, uri: str, size: int) -> None:
    """Open a text of a size, piece by piece."""
    item = {"uri": uri, "languageId": "jsonl", "version": 1, "text": "TEXT"}
    message = {"jsonrpc": "2.0", "method": "textDocument/didOpen", "params": {"textDocument": item}}
    head, _, tail = json.dumps(message).partition("TEXT")
    piece = json.dumps(RECORD * 1000)[1:-1].encode()
    count = size // len(piece) + 1
    length = len(head) + count * len(piece) + len(tail)
    wire.write(b"Content-Length: %d\r\n\r\n" % length + head.encode())
    for _ in range(count):
        wire.write(piece)
    wire.write(tail.encode())


def ask_all(wire: Wire, uri: str) -> None:
    document, place = {"uri": uri}, {"line": 3, "character": 5}
    at = {"textDocument": document, "position": place}
    for method in ("hover", "definition", "completion"):
        assert not wire.request(f"textDocument/{method}", at)["result"]
    for method in ("codeLens", "documentLink", "foldingRange"):
        assert not wire.request(f"textDocument/{method}", {"textDocument": document})["result"]


@pytest.mark.parametrize(("size", "said"), [(40 << 20, TOO_LARGE), (150 << 20, NOT_READ)])
def test_a_huge_log_is_refused_with_one_message(
    wire: Wire, trail: CompleteTrail, size: int, said: str
) -> None:
    uri = (trail.root / ".ai-audit/annotations.jsonl").as_uri()
    open_large(wire, uri, size)
    assert still_answers(wire, trail)
    ask_all(wire, uri)
    change = {"range": {"start": {"line": 0, "character": 0}, "end": {"line": 0, "character": 1}}}
    wire.notify(
        "textDocument/didChange",
        {"textDocument": {"uri": uri, "version": 2}, "contentChanges": [{**change, "text": "x"}]},
    )
    wire.notify("textDocument/didSave", {"textDocument": {"uri": uri}})
    assert still_answers(wire, trail)
    assert messages(wire) == [said]
    wire.notify("textDocument/didClose", {"textDocument": {"uri": uri}})
    text = Path(trail.root / ".ai-audit/annotations.jsonl").read_text()
    item = {"uri": uri, "languageId": "jsonl", "version": 3, "text": text}
    wire.notify("textDocument/didOpen", {"textDocument": item})
    lenses = wire.request("textDocument/codeLens", {"textDocument": {"uri": uri}})["result"]
    assert lenses
    assert messages(wire) == [said]


def test_a_huge_log_takes_no_memory(tmp_path: Path, trail: CompleteTrail) -> None:
    with Wire(tmp_path / "server.log", command=SERVER) as wire:
        wire.initialize(trail.root)
        _takes_no_memory(wire, trail)


def _takes_no_memory(wire: Wire, trail: CompleteTrail) -> None:
    status = Path(f"/proc/{wire.process.pid}/status")
    if not status.exists():
        pytest.skip("the system does not say how much memory a process took")
    assert still_answers(wire, trail)

    def peak() -> int:
        found = re.search(r"VmHWM:\s+(\d+) kB", status.read_text())
        assert found is not None
        return int(found[1]) << 10

    before = peak()
    open_large(wire, (trail.root / ".ai-audit/annotations.jsonl").as_uri(), 300 << 20)
    assert still_answers(wire, trail)
    assert peak() - before < 32 << 20
