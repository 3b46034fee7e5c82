"""Hovers that are built ahead and kept as bytes say what the handler would, and are bounded."""

from __future__ import annotations

import asyncio
import json
import random
import tempfile
from collections.abc import Sequence
from itertools import count
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from lsprotocol import types

from tests.trails import TrailWriter
from tests.unit.lsp.test_memory import drained, started, tell
from vibes_lsp.lsp.excerpts import _Excerpt
from vibes_lsp.lsp.extensions import ProvenanceParams
from vibes_lsp.lsp.features import hover as feature
from vibes_lsp.model.members import Members

LINES = 12


class Opened:
    """An editor with one annotated document open, in a server of its own; all in this process."""

    def __init__(self, root: Path, lines: int = LINES) -> None:
        self.text = "".join(f"value_{number} = {number}\n" for number in range(lines))
        self._file = root / "a.py"
        self._file.write_text(self.text)
        self.trail = TrailWriter(root)
        self.trail.config()
        self.trail.environment()
        self.server, self._sink = started()
        self._numbers = count(2)

    def open(self, text: str) -> None:
        """Open the file with a text that may not be saved."""
        item = types.TextDocumentItem(self._file.as_uri(), "python", 1, text)
        tell(
            self.server,
            types.TEXT_DOCUMENT_DID_OPEN,
            types.DidOpenTextDocumentParams(item),
        )

    def type_line(self, number: int, line: str) -> str:
        """Replace a line, 1-based, as a user does who then pauses; return the text."""
        uri = self._file.as_uri()
        place = types.Range(types.Position(number - 1, 0), types.Position(number, 0))
        document = types.VersionedTextDocumentIdentifier(2, uri)
        changes = [types.TextDocumentContentChangePartial(place, line)]
        tell(
            self.server,
            types.TEXT_DOCUMENT_DID_CHANGE,
            types.DidChangeTextDocumentParams(document, changes),
        )
        opened = self.server.documents.get(uri)
        assert opened is not None
        opened.is_typing = False
        return opened.content

    def ask(self, line: int) -> Any:
        """Return the direct answer about a line, 0-based."""
        number = next(self._numbers)
        params: Members = {
            "textDocument": {"uri": self._file.as_uri()},
            "position": {"line": line, "character": 0},
        }
        assert self.server.protocol.answer_directly(
            {"jsonrpc": "2.0", "id": number, "method": "textDocument/hover", "params": params}
        )
        return self._answer(number)

    def built_now(self, line: int) -> Members | None:
        """Return the hover at a line, 0-based, of which nothing was built before."""
        snapshot = self.server.projects.snapshot(self._file.as_uri())
        assert snapshot is not None
        found = feature._hover_at(self.server, snapshot, line + 1, shows_notes=True)
        return None if found is None else feature._as_json(found)

    async def ask_handler(self, line: int) -> Any:
        """Return the handler's answer about a line, 0-based."""
        number = next(self._numbers)
        document = types.TextDocumentIdentifier(self._file.as_uri())
        params = types.HoverParams(document, types.Position(line, 0))
        tell(self.server, types.TEXT_DOCUMENT_HOVER, params, id=number)
        await drained()
        return self._answer(number)

    async def ask_provenance(self, _line: int) -> Any:
        """Return the answer about all placements."""
        number = next(self._numbers)
        params = ProvenanceParams(types.TextDocumentIdentifier(self._file.as_uri()))
        tell(self.server, "vibes/provenance", params, id=number)
        await drained()
        return self._answer(number)

    def _answer(self, number: int) -> Any:
        messages = (
            json.loads(message.partition(b"\r\n\r\n")[2])
            for message in reversed(self._sink.messages)
        )
        answer = next(
            each for each in messages if each.get("id") == number and "method" not in each
        )
        return answer["result"]

    async def leave(self) -> None:
        """End the session."""
        tell(self.server, types.SHUTDOWN, None, id=next(self._numbers))
        await drained()
        self.server.shutdown()  # type: ignore[no-untyped-call]  # of pygls


recorded_edits = st.lists(
    st.tuples(
        st.integers(1, LINES),
        st.integers(0, 6),
        st.sampled_from(("create", "modify", "review", "delete")),
    ),
    max_size=8,
)


@settings(max_examples=30)
@example([(2, 6, "create"), (4, 1, "modify")], 5, 1)
@example([(1, 5, "create")] * 7, 2, 2)
@given(recorded_edits, st.integers(0, LINES), st.integers(0, 2))
def test_each_line_has_the_hover_of_the_handler(
    recorded: Sequence[tuple[int, int, str]], insert_at: int, inserted: int
) -> None:
    asyncio.run(_compare(recorded, insert_at, inserted))


async def _compare(recorded: Sequence[tuple[int, int, str]], insert_at: int, inserted: int) -> None:
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        opened = Opened(Path(folder))
        for start, length, action in recorded:
            end = min(start + length, LINES)
            opened.trail.line("a.py", start, end, action=action, text=opened.text)
        lines = opened.text.splitlines(keepends=True)
        lines[insert_at:insert_at] = ["# a person's line\n"] * inserted
        opened.open("".join(lines))
        await drained()
        order = list(range(LINES + inserted + 1))
        random.Random(insert_at).shuffle(order)
        direct = {line: opened.ask(line) for line in order}
        again = {line: opened.ask(line) for line in order}
        assert direct == again == {line: await opened.ask_handler(line) for line in order}
        await opened.leave()


@pytest.fixture
def built(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The lines of which texts were built."""
    lines: list[int] = []
    build = feature._hover

    def noted(description: Any, contents: Any) -> Any:
        lines.append(contents.line)
        return build(description, contents)

    monkeypatch.setattr(feature, "_hover", noted)
    return lines


async def _until_built(built: list[int], number: int) -> None:
    async with asyncio.timeout(300):
        while len(built) < number:  # noqa: ASYNC110  # a list has no event
            await asyncio.sleep(0)


async def _let_it_build() -> None:
    """Wait for as long as some texts take."""
    loop = asyncio.get_running_loop()
    is_past = loop.create_future()
    loop.call_later(2 * feature._REST + 20 * feature._PAUSE, is_past.set_result, None)
    await is_past


async def test_a_text_is_built_once_for_its_range_and_ahead_for_the_others(
    tmp_path: Path, built: list[int]
) -> None:
    opened = Opened(tmp_path)
    for start in (1, 5, 9):
        opened.trail.line("a.py", start, start + 2, text=opened.text)
    opened.open(opened.text)
    await drained()
    assert opened.ask(5)["range"]["start"]["line"] == 4
    await _until_built(built, 3)
    assert built == [6, 9, 1]  # the one that was asked for, then the nearest
    for line in (0, 1, 2, 4, 6, 8, 9, 10):
        assert opened.ask(line)["range"]["start"]["line"] == line // 4 * 4
    assert len(built) == 3
    await opened.leave()


async def test_a_record_appended_after_texts_were_built_ahead_is_in_the_next_hover(
    tmp_path: Path, built: list[int]
) -> None:
    opened = Opened(tmp_path)
    for start in (1, 5):
        opened.trail.line("a.py", start, start + 2, text=opened.text)
    opened.open(opened.text)
    await drained()
    opened.ask(0)
    await _until_built(built, 2)
    assert opened.ask(9) is None
    other = opened.trail.environment(model_name="gpt-9")
    opened.trail.line("a.py", 9, 11, text=opened.text, environment=other)
    assert "gpt-9" in opened.ask(9)["contents"]["value"]
    await opened.leave()


async def test_nothing_is_built_ahead_for_a_text_that_was_changed_or_closed(
    tmp_path: Path, built: list[int]
) -> None:
    opened = Opened(tmp_path)
    for start in (1, 5, 9):
        opened.trail.line("a.py", start, start + 2, text=opened.text)
    opened.open(opened.text)
    await drained()
    opened.ask(0)
    uri = (tmp_path / "a.py").as_uri()
    document = opened.server.documents.get(uri)
    assert document is not None
    place = types.Range(types.Position(0, 0), types.Position(0, 0))
    tell(
        opened.server,
        types.TEXT_DOCUMENT_DID_CHANGE,
        types.DidChangeTextDocumentParams(
            types.VersionedTextDocumentIdentifier(2, uri),
            [types.TextDocumentContentChangePartial(place, "# new\n")],
        ),
    )
    await _let_it_build()
    assert built == [1]
    await opened.leave()


async def test_nothing_is_built_ahead_while_hovers_are_asked_for(
    tmp_path: Path, built: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    now = 1_000.0
    monkeypatch.setattr(feature, "monotonic", lambda: now)
    opened = Opened(tmp_path)
    for start in (1, 5, 9):
        opened.trail.line("a.py", start, start + 2, text=opened.text)
    opened.open(opened.text)
    await drained()
    opened.ask(0)
    await _let_it_build()
    assert built == [1]
    now += 2 * feature._REST
    await _until_built(built, 3)
    assert built == [1, 5, 9]
    await opened.leave()


async def test_a_trail_that_was_read_while_an_excerpt_was_made_is_answered_from(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened = Opened(tmp_path)
    opened.trail.line("a.py", 1, 3, text=opened.text)
    opened.open(opened.text)
    await drained()
    project = opened.server.projects.all()[0]

    async def read(*_: object) -> _Excerpt:
        project.end_loading()
        return _Excerpt(project.snapshot)

    monkeypatch.setattr(opened.server.excerpts, "_read", read)
    for ask in (opened.ask_handler, opened.ask_provenance):
        assert project.begin_loading()
        answer = await ask(0)
        assert "claude-opus-4-5" in json.dumps(answer)
        assert "reading" not in json.dumps(answer)
        opened.server.excerpts.discard(project)
    await opened.leave()


async def test_so_many_texts_and_lines_are_kept(
    tmp_path: Path, built: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(feature, "_MAX_TEXTS", 3)
    monkeypatch.setattr(feature, "_MAX_LINES", 4)
    opened = Opened(tmp_path, lines=20)
    for line in range(1, 21):
        opened.trail.line("a.py", line, line, text=opened.text)
    opened.open(opened.text)
    await drained()
    for _ in range(2):
        for line in range(20):
            assert opened.ask(line)["range"]["start"]["line"] == line
    kept = [line for line in range(1, 21) if built.count(line) == 1]
    assert len(kept) == 4
    await opened.leave()


changes = st.lists(
    st.tuples(
        st.sampled_from(("edit", "edit", "cover", "review", "elsewhere", "entry", "config")),
        st.integers(1, LINES),
        st.integers(0, 3),
    ),
    min_size=1,
    max_size=6,
)


@settings(max_examples=30)
@example([("edit", 6, 1), ("edit", 9, 0), ("review", 1, 0), ("cover", 1, 2)], 6)
@example([("edit", 1, 1), ("edit", 2, 0)], 2)
@example([("elsewhere", 1, 0), ("entry", 1, 0), ("config", 1, 0), ("edit", 2, 3)], 2)
@given(changes, st.integers(1, LINES))
def test_texts_that_are_kept_after_a_record_are_those_of_a_new_hover(
    changes: Sequence[tuple[str, int, int]], edited: int
) -> None:
    asyncio.run(_compare_after_each(changes, edited))


async def _compare_after_each(changes: Sequence[tuple[str, int, int]], edited: int) -> None:
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        opened = Opened(Path(folder))
        trail = opened.trail
        prism = {"prism": {"enabled": True}}
        trail.config(**prism)
        prompt: dict[str, object] = {"type": "prompt", "prompt_text": "Asked."}
        ids = [
            trail.line("a.py", 1, 4, text=opened.text, prompt="f" * 64, session="one"),
            trail.line("a.py", 5, 9, text=opened.text, session="two"),
        ]
        opened.open(opened.text)
        await drained()
        opened.ask(0)
        text = opened.type_line(edited, f"value_{edited} = 'by a person'\n")
        for what, at, length in changes:
            for line in range(LINES):
                opened.ask(line)
            end = min(at + length, LINES)
            match what:
                case "edit" | "cover":
                    trail.environment(model=f"model-{len(ids)}")
                    ids.append(trail.line("a.py", at, end, text=text, session="one"))
                    if what == "cover":
                        older = ids[at % (len(ids) - 1)]
                        trail.edge(
                            "supersedes",
                            ids[-1],
                            older,
                            target_type="annotation",
                            metadata={"reason": "covers"},
                        )
                case "review":
                    trail.review(ids[at % len(ids)])
                case "elsewhere":
                    trail.line(f"other_{length}.py", at, end, text=text, session="one")
                case "entry":
                    trail.entry(prompt, key="f" * 64)
                case _:
                    prism = {"prism": {"enabled": not prism["prism"]["enabled"]}}
                    trail.config(**prism)
            direct = [opened.ask(line) for line in range(LINES)]
            assert direct == [opened.built_now(line) for line in range(LINES)], what
        await opened.leave()
