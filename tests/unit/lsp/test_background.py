"""Work in threads: one piece at a time, no more than is wanted, and the last word is the newest."""

from __future__ import annotations

import asyncio
import json
import sqlite3
import threading
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any, TypeVar

import pytest
from lsprotocol import types

from tests.trails import CompleteTrail, complete
from tests.unit.lsp.test_memory import Sink, close_indexes, drained, settled, started, tell
from tests.waiting import TIMEOUT
from vibes_lsp.lsp.state import indexing, projects, trail_checks
from vibes_lsp.lsp.state.history_lookup import HistoryLookup, LookupRequest
from vibes_lsp.lsp.state.server import Server
from vibes_lsp.lsp.state.snapshots import HistorySnapshot, LookedUpFile
from vibes_lsp.trail.index_writer import TRAIL_DATABASE
from vibes_lsp.trail.log_index import LogIndex

_T = TypeVar("_T")


class Slow:
    """A function that waits to be let go, and gives what is true at its end."""

    def __init__(self) -> None:
        self.calls = 0
        self.begun, self.go = threading.Event(), threading.Event()

    def __call__(self, answer: Callable[[], _T]) -> _T:
        self.calls += 1
        self.begun.set()
        assert self.go.wait(TIMEOUT)
        return answer()


@pytest.fixture
def trail(tmp_path: Path) -> CompleteTrail:
    return complete(tmp_path, "high")


@pytest.fixture
async def running() -> AsyncIterator[tuple[Server, Sink]]:
    server, sink = started()
    yield server, sink
    tell(server, types.SHUTDOWN, None, id="shutdown")
    await settled(server)
    close_indexes(server)


def opened(server: Server, file: Path) -> str:
    """Open a file, or open it again."""
    item = types.TextDocumentItem(file.as_uri(), "plaintext", 1, "")
    tell(server, types.TEXT_DOCUMENT_DID_OPEN, types.DidOpenTextDocumentParams(item))
    return item.uri


async def once(event: threading.Event) -> None:
    """Wait for something that happens in a thread."""
    assert await asyncio.to_thread(event.wait, TIMEOUT)


async def test_changes_during_a_lookup_are_covered_by_one_more(
    running: tuple[Server, Sink], trail: CompleteTrail, monkeypatch: pytest.MonkeyPatch
) -> None:
    server, _ = running
    slow = Slow()
    files = [{"src/auth.py": LookedUpFile(subjects={"c0ffee": name})} for name in "ab"]

    def look(_: HistoryLookup, request: LookupRequest) -> HistorySnapshot:
        found = files[min(slow.calls, 1)]
        if request.of_all_files:
            return HistorySnapshot(is_done=True, files=found)
        return slow(lambda: HistorySnapshot(is_done=True, files=found))

    monkeypatch.setattr(HistoryLookup, "look_up", look)
    uri = opened(server, trail.root / "src/auth.py")
    await once(slow.begun)
    for _ in range(5):
        tell(
            server,
            types.TEXT_DOCUMENT_DID_SAVE,
            types.DidSaveTextDocumentParams(types.TextDocumentIdentifier(uri)),
        )
    await asyncio.sleep(0)
    found = server.projects.owner(uri)
    assert found is not None
    project, _ = found
    opened_in = server.projects.opened_in(project)
    assert project.coverage.request(opened_in, {}, use_git=True) is not None, "they have asked"
    slow.go.set()
    await settled(server)
    assert slow.calls == 2
    assert project.snapshot.history.files == files[1]


async def test_an_outdated_check_is_skipped(
    running: tuple[Server, Sink], trail: CompleteTrail, monkeypatch: pytest.MonkeyPatch
) -> None:
    server, sink = running
    slow = Slow()
    monkeypatch.setattr(HistoryLookup, "look_up", lambda *_, **__: HistorySnapshot(is_done=True))
    monkeypatch.setattr(trail_checks, "check", lambda *_: slow(lambda: {"findings": []}))
    uri = opened(server, trail.root / ".ai-audit/annotations.jsonl")
    await once(slow.begun)
    for version in range(2, 12):
        document = types.VersionedTextDocumentIdentifier(version, uri)
        change = types.TextDocumentContentChangeWholeDocument("x")
        tell(
            server,
            types.TEXT_DOCUMENT_DID_CHANGE,
            types.DidChangeTextDocumentParams(document, [change]),
        )
    slow.go.set()
    tell(
        server,
        types.TEXT_DOCUMENT_DID_SAVE,
        types.DidSaveTextDocumentParams(types.TextDocumentIdentifier(uri)),
    )
    await drained()
    tell(server, types.SHUTDOWN, None, id="shutdown")  # what waits for the pause is not begun
    await settled(server)
    because = "the first, the last, those of the commits and of the files that were looked at"
    assert slow.calls <= 4, because
    published = [message for message in sink.messages if b"publishDiagnostics" in message]
    assert b'"version":11' in published[-1].replace(b" ", b"")


async def test_a_large_trail_is_read_by_one_thread_for_all_folders(
    running: tuple[Server, Sink], trail: CompleteTrail, monkeypatch: pytest.MonkeyPatch
) -> None:
    server, _ = running
    slow, refresh = Slow(), LogIndex.refresh
    loop = threading.get_ident()
    for module in (projects, indexing):
        monkeypatch.setattr(module, "MAX_READ", 0)

    def read(log: LogIndex, **how: Any) -> bool:
        if threading.get_ident() == loop:
            return refresh(log, **how)
        return slow(lambda: refresh(log, **how))

    monkeypatch.setattr(LogIndex, "refresh", read)
    add(server, trail.root)
    await once(slow.begun)
    add(server, trail.root, trail.root / "src")
    slow.go.set()
    await settled(server)
    assert slow.calls == 1
    add(server, trail.root)
    await asyncio.sleep(0)
    found = server.projects.owner((trail.root / "src/auth.py").as_uri())
    assert found is not None
    assert not found[0].is_indexing, "it is known, and not read again"


def add(server: Server, *folders: Path) -> None:
    """Add folders to the workspace."""
    added = [types.WorkspaceFolder(folder.as_uri(), folder.name) for folder in folders]
    event = types.WorkspaceFoldersChangeEvent(added, [])
    tell(
        server,
        types.WORKSPACE_DID_CHANGE_WORKSPACE_FOLDERS,
        types.DidChangeWorkspaceFoldersParams(event),
    )


async def test_requests_are_answered_while_a_trail_is_checked(
    running: tuple[Server, Sink], trail: CompleteTrail, monkeypatch: pytest.MonkeyPatch
) -> None:
    server, sink = running
    slow, check = Slow(), trail_checks.check
    monkeypatch.setattr(trail_checks, "check", lambda *given: slow(lambda: check(*given)))
    for number in ("check", "another"):
        asked = types.ExecuteCommandParams("vibes.check", arguments=[{"uri": trail.root.as_uri()}])
        tell(server, types.WORKSPACE_EXECUTE_COMMAND, asked, id=number)
    await once(slow.begun)
    await hovered(server, sink, trail.root / "src/auth.py")
    assert (slow.calls, answers(sink)) == (1, ["hover"]), "checks wait for one another"
    slow.go.set()
    await settled(server)
    assert answers(sink) == ["hover", "check", "another"]


async def test_requests_are_answered_while_a_log_is_searched(
    running: tuple[Server, Sink], trail: CompleteTrail, monkeypatch: pytest.MonkeyPatch
) -> None:
    server, sink = running
    slow = Slow()
    search = LogIndex.with_prefix
    monkeypatch.setattr(
        LogIndex, "with_prefix", lambda log, prefix: slow(lambda: search(log, prefix))
    )
    for number, identifier in (
        ("unknown", "ffff"),
        ("whole", trail.created),
        ("prefix", trail.created[:12]),
    ):
        asked = types.ExecuteCommandParams(
            "vibes.show", arguments=[{"id": identifier, "uri": trail.root.as_uri()}]
        )
        tell(server, types.WORKSPACE_EXECUTE_COMMAND, asked, id=number)
    await once(slow.begun)
    await hovered(server, sink, trail.root / "src/auth.py")
    await answered(sink, "whole")
    assert sorted(answers(sink)) == ["hover", "whole"]
    slow.go.set()
    await settled(server)
    assert sorted(answers(sink)) == ["hover", "prefix", "unknown", "whole"]


async def test_a_server_that_has_answered_lets_others_empty_the_write_ahead_log(
    running: tuple[Server, Sink], trail: CompleteTrail
) -> None:
    server, sink = running
    file = trail.root / "src/auth.py"
    opened(server, file)
    await hovered(server, sink, file)
    await drained()
    [project] = server.projects.all()
    trail.writer.line("src/auth.py", 1, 1, text=None)
    other = LogIndex(project.directory.log, uses_saved=True)
    other.refresh()
    other.close()
    database = sqlite3.connect(str(TRAIL_DATABASE.path(project.directory.log)))
    [(is_busy, *_)] = database.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
    database.close()
    assert not is_busy
    project.close()
    assert not project.trail.log.is_open


async def hovered(server: Server, sink: Sink, file: Path) -> None:
    """Hover over a file, and wait for the answer."""
    place = types.HoverParams(types.TextDocumentIdentifier(file.as_uri()), types.Position(2, 0))
    tell(server, types.TEXT_DOCUMENT_HOVER, place, id="hover")
    await answered(sink, "hover")


async def answered(sink: Sink, request: str) -> None:
    """Wait for the answer to a request."""
    while request not in answers(sink):
        sink.more.clear()
        await asyncio.wait_for(sink.more.wait(), TIMEOUT)


def answers(sink: Sink) -> list[str]:
    """Return what was answered so far, in order, by the ids that these tests give."""
    found = [json.loads(message.partition(b"\r\n\r\n")[2]) for message in sink.messages]
    return [
        each["id"] for each in found if "method" not in each and isinstance(each.get("id"), str)
    ]
