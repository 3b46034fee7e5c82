"""What a server that has run for long says of a saved text is what one says that has just begun."""

from __future__ import annotations

import asyncio
import json
import tempfile
from collections.abc import Sequence
from itertools import count
from pathlib import Path
from typing import Any, Final, TypeAlias

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from lsprotocol import types

from tests.server.project import Project, let_records_wait
from tests.trails import Repository, file_hash
from tests.unit.lsp.test_memory import drained, started, tell
from tests.waiting import TIMEOUT
from vibes_lsp.lsp import text_sync
from vibes_lsp.lsp.protocol.extensions import ProvenanceParams
from vibes_lsp.lsp.state import background_flush
from vibes_lsp.store.audit_dir import AuditDir
from vibes_lsp.store.kept_texts import keep_text

FUNCTIONS: Final = "".join(
    f"def function_{n}(value: int) -> int:\n    step_{n} = value + {n}\n    other_{n} = step_{n} * {n + 2}\n    return other_{n} - {n}\n\n\n"
    for n in range(5)
)
KINDS: Final = ("anchored", "hashed", "waiting", "unanchored", "function", "delete", "review")
"""What is recorded; `waiting` has line hashes too, but no commit has it."""
Step: TypeAlias = tuple[str, int, int]


class Client:
    """An editor with one document open, in a server of its own; all in this process."""

    def __init__(self, uri: str, text: str) -> None:
        self._server, self._sink = started()
        self._numbers = count(2)
        self._versions = count(2)
        self._document = types.TextDocumentIdentifier(uri)
        tell(
            self._server,
            types.TEXT_DOCUMENT_DID_OPEN,
            types.DidOpenTextDocumentParams(types.TextDocumentItem(uri, "python", 1, text)),
        )

    def replace(self, line: int, removed: int, text: str) -> None:
        """Replace whole lines from a 0-based one on."""
        place = types.Range(types.Position(line, 0), types.Position(line + removed, 0))
        document = types.VersionedTextDocumentIdentifier(next(self._versions), self._document.uri)
        changes = [types.TextDocumentContentChangePartial(place, text)]
        tell(
            self._server,
            types.TEXT_DOCUMENT_DID_CHANGE,
            types.DidChangeTextDocumentParams(document, changes),
        )

    def save(self) -> None:
        """Say that the document was saved."""
        tell(
            self._server,
            types.TEXT_DOCUMENT_DID_SAVE,
            types.DidSaveTextDocumentParams(self._document),
        )

    async def once(self) -> dict[str, Any]:
        """Return what is said of the document now."""
        number = next(self._numbers)
        params = ProvenanceParams(self._document, lines=True)
        tell(self._server, "vibes/provenance", params, id=number)
        await drained()
        messages = (
            json.loads(message.partition(b"\r\n\r\n")[2])
            for message in reversed(self._sink.messages)
        )
        answer: dict[str, Any] = next(
            each for each in messages if each.get("id") == number and "method" not in each
        )
        return {name: value for name, value in answer["result"].items() if name != "version"}

    async def said(self) -> dict[str, Any]:
        """Return the final answer: a notification follows each provisional one."""
        while True:
            told = self._told
            answer = await self.once()
            if "provisional" not in answer:
                return answer
            async with asyncio.timeout(TIMEOUT):
                while self._told == told:
                    self._sink.more.clear()
                    await self._sink.more.wait()

    @property
    def _told(self) -> int:
        return sum(b"vibes/provenanceChanged" in message for message in self._sink.messages)

    async def leave(self) -> None:
        """End the session."""
        tell(self._server, types.SHUTDOWN, None, id=next(self._numbers))
        await drained()
        self._server.shutdown()  # type: ignore[no-untyped-call]  # of pygls
        for project in self._server.projects.all():  # a program that ends closes its files
            project.trail.close()


class Work:
    """A project in which a user types, saves, records and commits."""

    def __init__(self, root: Path) -> None:
        self.text = FUNCTIONS
        self._file = root / "a.py"
        self._file.write_text(self.text)
        self._directory = AuditDir(root / ".ai-audit")
        self._repository, self._writer = Repository(root), Project(root)
        self._waiting = let_records_wait(self._repository)
        self._writer.config()
        self._writer.environment()
        self._writer.hashed("a.py", 1, 4, text=self.text)
        self.client = self.opened()

    def opened(self) -> Client:
        """Open the file in a server that has just begun."""
        return Client(self._file.as_uri(), self.text)

    async def take(self, step: Step) -> None:
        lines = self.text.splitlines(keepends=True)
        match step:
            case "ask", _, _:
                await self.client.once()
            case "pause", _, _:
                await asyncio.sleep(0.002)
                await drained()
            case "record", at, length:
                self._record(KINDS[(at + length) % len(KINDS)], 1 + at % max(1, len(lines)), length)
            case "commit", _, _:
                self._repository.commit("More")
            case "branch", at, _:
                self._repository.git("checkout", "--quiet", "--force", "-B", f"branch-{at}")
            case kind, at, length:
                start = at % (len(lines) + 1)
                old = lines[start : start + length]
                new = {
                    "insert": f"# typed {length}\n" * length,
                    "change": "".join(f"{line.rstrip()}  # changed\n" for line in old),
                    "cut": "",
                    "copy": "".join([*lines[at // 2 : at // 2 + length], *old]),
                }[kind]
                self.client.replace(start, len(old), new)
                self.text = "".join([*lines[:start], new, *lines[start + len(old) :]])

    def save(self) -> None:
        self._file.write_text(self.text)
        self.client.save()

    def _record(self, kind: str, start: int, length: int) -> None:
        end = min(start + length, len(self.text.splitlines()))
        if end < start:
            return
        self._writer.files.waiting = self._waiting if kind == "waiting" else None
        if kind in {"hashed", "waiting"}:
            keep_text(self._directory, file_hash(self.text), self.text.encode())
            self._writer.hashed("a.py", start, end, text=self.text)
        elif kind == "function":
            self._writer.function(
                "a.py", f"function_{start % 5}", text=self.text, lines=(start, end)
            )
        else:
            action = kind if kind in {"delete", "review"} else "create"
            self._writer.line(
                "a.py", start, end, action=action, text=None if kind == "unanchored" else self.text
            )


steps = st.lists(
    st.tuples(
        st.sampled_from(
            (
                "insert",
                "change",
                "change",
                "cut",
                "copy",
                "ask",
                "pause",
                "record",
                "commit",
                "branch",
            )
        ),
        st.integers(0, 30),
        st.integers(1, 6),
    ),
    max_size=5,
)


@pytest.fixture(autouse=True, scope="module")
def short_pauses() -> Any:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(text_sync, "TYPING_PAUSE", 0.001)
        patch.setattr(background_flush, "REFRESH_PAUSE", 0.001)
        yield


@settings(max_examples=25)
@example([[("change", 2, 1), ("ask", 0, 1), ("pause", 0, 1)]])
@example([[("ask", 0, 1), ("change", 2, 1), ("cut", 0, 2)], [("insert", 0, 3)]])
@example([[], [("commit", 0, 1)]])
@example([[("commit", 0, 1)], [("record", 0, 3), ("insert", 0, 2)], [("record", 0, 2)]])
@example([[("record", 0, 1)], [("insert", 0, 2), ("cut", 4, 1), ("commit", 0, 1)]])
@example([[("record", 0, 2)], [("insert", 1, 2), ("ask", 0, 1), ("commit", 0, 1)]])
@given(st.lists(steps, min_size=1, max_size=4))
def test_after_every_save_a_server_that_ran_says_what_a_fresh_one_says(
    rounds: Sequence[Sequence[Step]],
) -> None:
    asyncio.run(_story(rounds))


async def _story(rounds: Sequence[Sequence[Step]]) -> None:
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        work = Work(Path(folder))
        await work.client.said()
        for some in rounds:
            for step in some:
                await work.take(step)
            work.save()
            fresh = work.opened()
            assert await work.client.said() == await fresh.said()
            await fresh.leave()
        await work.client.leave()
