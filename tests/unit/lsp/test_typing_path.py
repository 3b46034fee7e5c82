"""Typing touches no file and starts no process; the pause after it publishes once."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import count
from pathlib import Path
from types import BuiltinFunctionType, FrameType
from typing import Any, Final

import pytest
from lsprotocol import types

from tests.server.knowledge_base import KnowledgeFiles
from tests.server.project import STORY, Project
from tests.unit.lsp.test_memory import close_indexes, drained, started, tell
from tests.waiting import TIMEOUT
from vibes_lsp.lsp import text_sync
from vibes_lsp.lsp.protocol.extensions import ProvenanceParams
from vibes_lsp.lsp.state import updates
from vibes_lsp.lsp.state.debouncer import Debouncer

_OF_THE_SYSTEM: Final = frozenset(
    {"posix", "nt", "io", "_io", "_winapi", "_posixsubprocess", "mmap", "fcntl"}
)
_HARMLESS: Final = frozenset({"fspath", "getpid", "urandom", "StringIO", "BytesIO"})


@contextmanager
def system_calls(*also: str) -> Iterator[list[str]]:
    """Collect the calls of this thread that touch files or start processes.

    Args:
        also: Other modules whose calls are collected.
    """
    found: list[str] = []

    def watch(_frame: FrameType, event: str, argument: Any) -> None:
        if event != "c_call" or not isinstance(argument, BuiltinFunctionType | type):
            return
        owner = (
            getattr(argument, "__module__", None)
            or type(getattr(argument, "__self__", None)).__module__
        )
        if owner in {*_OF_THE_SYSTEM, *also} and argument.__name__ not in _HARMLESS:
            found.append(f"{owner}.{argument.__name__}")

    sys.setprofile(watch)
    try:
        yield found
    finally:
        sys.setprofile(None)


class Typist:
    """A user who types in the only open document of a server.

    Attributes:
        debouncer: What waits for the pause.
    """

    debouncer: Debouncer[str]

    def __init__(self, file: Path) -> None:
        self.server, self.sink = started()
        self.uri = file.as_uri()
        self._versions, self._numbers = count(2), count(2)
        item = types.TextDocumentItem(self.uri, "python", 1, file.read_text())
        tell(self.server, types.TEXT_DOCUMENT_DID_OPEN, types.DidOpenTextDocumentParams(item))

    def type(self, line: int = 4, text: str = "x") -> None:
        place = types.Range(types.Position(line, 4), types.Position(line, 4))
        document = types.VersionedTextDocumentIdentifier(next(self._versions), self.uri)
        changes = [types.TextDocumentContentChangePartial(place, text)]
        tell(
            self.server,
            types.TEXT_DOCUMENT_DID_CHANGE,
            types.DidChangeTextDocumentParams(document, changes),
        )

    def ask_everything(self) -> None:
        """Send the requests that editors send while the user types."""
        document, place = (
            types.TextDocumentIdentifier(self.uri),
            types.Range(types.Position(4, 0), types.Position(4, 0)),
        )
        context = types.CodeActionContext([], trigger_kind=types.CodeActionTriggerKind.Automatic)
        for method, params in (
            (types.TEXT_DOCUMENT_HOVER, types.HoverParams(document, place.start)),
            (types.TEXT_DOCUMENT_CODE_LENS, types.CodeLensParams(document)),
            (types.TEXT_DOCUMENT_CODE_ACTION, types.CodeActionParams(document, place, context)),
            ("vibes/provenance", ProvenanceParams(document, runs=True)),
            (types.TEXT_DOCUMENT_COMPLETION, types.CompletionParams(document, place.start)),
        ):
            tell(self.server, method, params, id=next(self._numbers))

    @property
    def published(self) -> int:
        return sum(b"publishDiagnostics" in message for message in self.sink.messages)


def test_the_watch_sees_what_is_asked_of_the_system(tmp_path: Path) -> None:
    file = tmp_path / "a"
    with system_calls() as found:
        file.write_text("x")
        file.exists()
        list(tmp_path.iterdir())
    assert {"posix.stat", "posix.listdir"} <= set(found) or sys.platform == "win32"
    assert any("open" in each.lower() for each in found)


@pytest.fixture(params=["trail", "trail and knowledge base"])
async def typist(
    tmp_path: Path, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch
) -> Any:
    # A busy machine takes longer than the pause between two keys.
    monkeypatch.setattr(text_sync, "TYPING_PAUSE", 60)
    monkeypatch.setattr(updates, "POLLING_INTERVAL", 60)
    debouncers: list[Debouncer[str]] = []

    def collected(*arguments: Any) -> Debouncer[str]:
        debouncers.append(Debouncer(*arguments))
        return debouncers[-1]

    monkeypatch.setattr(text_sync, "Debouncer", collected)
    project = Project(tmp_path)
    if "knowledge" in request.param:
        KnowledgeFiles(tmp_path).cited("a.py", STORY, "L4-L7")
    project.config(risk_scoring={"enabled": True})
    project.environment()
    project.line("a.py", 10, 13, text=STORY, prompt=project.prompt("Compare."))
    typist = Typist(project.annotated(prompt=project.prompt("Digest.")))
    [typist.debouncer] = debouncers
    await drained()
    yield typist
    tell(typist.server, types.SHUTDOWN, None, id="shutdown")
    await drained()
    typist.server.shutdown()  # type: ignore[no-untyped-call]  # of pygls
    close_indexes(typist.server)


async def test_a_change_touches_no_file(typist: Typist) -> None:
    with system_calls("sqlite3") as found:  # nor the index
        for line in (1, 4, 11):
            typist.type(line)
            typist.type(line, "\n")
        await drained()
    assert found == []


async def test_answers_while_typing_touch_no_file(typist: Typist) -> None:
    typist.ask_everything()
    await drained()
    with system_calls() as found:
        for _ in range(3):
            typist.type()
            typist.ask_everything()
        await drained()
    assert found == []
    assert not any(b'"error"' in message for message in typist.sink.messages)


@pytest.mark.parametrize("typist", ["trail and knowledge base"], indirect=True)
async def test_claims_follow_what_is_typed(typist: Typist) -> None:
    typist.type(0, "\n")
    typist.type(6, "x")
    with system_calls() as calls:
        knowledge = await typist.server.knowledge.about(typist.uri)
    assert knowledge is not None
    (placed,) = knowledge.placed
    assert (placed.located.start, placed.located.end, placed.located.state) == (5, 8, "edited")
    assert calls == []


async def test_many_keys_are_published_once_in_the_pause(typist: Typist) -> None:
    before = typist.published
    for _ in range(20):
        typist.type()
        await drained()
    assert typist.published == before
    typist.debouncer._pause = 0
    typist.type()
    async with asyncio.timeout(TIMEOUT):
        while typist.published == before:
            typist.sink.more.clear()
            await typist.sink.more.wait()
    await drained()
    assert typist.published == before + 1
