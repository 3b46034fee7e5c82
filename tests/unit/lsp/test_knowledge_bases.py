"""When a knowledge base in memory is that on disk, as far as times show."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

from vibes_lsp.knowledge.knowledge_base import create_knowledge_base
from vibes_lsp.lsp.knowledge_bases import KnowledgeBaseState

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
