"""When a knowledge base in memory is that on disk, as far as times show."""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

import pytest

from tests.server.knowledge_base import KnowledgeFiles
from tests.server.project import STORY
from tests.waiting import TIMEOUT
from vibes_lsp.knowledge.knowledge_base import create_knowledge_base
from vibes_lsp.lsp.protocol.open_documents import Documents
from vibes_lsp.lsp.state.knowledge_bases import KnowledgeBases, KnowledgeBaseState

_T = TypeVar("_T")


async def run(work: Callable[[], _T]) -> _T:
    return work()


async def test_a_folder_of_the_future_is_current_until_it_changes(tmp_path: Path) -> None:
    folder = create_knowledge_base(tmp_path).path
    for path in folder.iterdir():
        os.utime(path, (1e9, 1e9))
    tomorrow = time.time() + 86_400
    os.utime(folder / "claims", (tomorrow, tomorrow))
    state = KnowledgeBaseState(folder, run)
    await state.refresh()
    assert state.is_current
    (folder / "claims/new.yaml").write_text("id: new\ntext: A claim\n")
    assert not state.is_current


async def test_what_an_answer_did_not_wait_for_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    files = KnowledgeFiles(tmp_path / "known")
    for name in ("a.py", "b.py"):
        (files.project / name).write_text(STORY, encoding="utf-8")
    files.cited("b.py", STORY, "L4-L7")
    may_run = asyncio.Event()
    may_run.set()

    async def run_when_allowed(work: Callable[[], _T]) -> _T:
        await may_run.wait()
        return work()

    documents, told = Documents(), asyncio.Event()
    knowledge = KnowledgeBases(documents, run_when_allowed)
    first, second = ((files.project / name).as_uri() for name in ("a.py", "b.py"))
    documents.open(first, 1, STORY)
    assert await knowledge.about(first) is not None
    knowledge.on_change = lambda _: told.set()

    monkeypatch.setenv("VIBES_PATIENCE", "0")
    may_run.clear()
    documents.open(second, 1, STORY)
    assert await knowledge.about(second) is None
    may_run.set()
    async with asyncio.timeout(TIMEOUT):
        await told.wait()
    found = await knowledge.about(second)
    assert found is not None
    assert found.placed


async def test_a_knowledge_base_that_appears_nearer_takes_over(tmp_path: Path) -> None:
    files = KnowledgeFiles(tmp_path / "known")
    (files.project / "inner").mkdir()
    file = files.project / "inner/b.py"
    file.write_text(STORY, encoding="utf-8")
    files.cited("inner/b.py", STORY, "L4-L7")
    documents = Documents()
    knowledge, uri = KnowledgeBases(documents, run), file.as_uri()
    documents.open(uri, 1, STORY)
    outer = await knowledge.about(uri, is_patient=True)
    assert outer is not None
    assert (outer.project, len(outer.placed)) == (files.project, 1)
    create_knowledge_base(file.parent)
    inner = await knowledge.about(uri, is_patient=True)
    assert inner is not None
    assert (inner.project, inner.placed) == (file.parent, ())
