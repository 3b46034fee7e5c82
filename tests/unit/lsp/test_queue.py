"""The review queue is whole where the index of the trail changes while it is sent."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from lsprotocol import types

from tests.server.project import Project
from tests.unit.lsp.test_memory import close_indexes, settled, started, tell
from vibes_lsp.errors import OutdatedIndex
from vibes_lsp.lsp.features import queue
from vibes_lsp.placing.live_risk import Scorer
from vibes_lsp.placing.project_locator import ProjectLocator
from vibes_lsp.reports.review_queue import ReviewProgress, review_progress


async def test_an_index_that_changes_while_rows_are_sent_makes_the_answer_whole(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    project = Project(tmp_path)
    project.config()
    project.environment()
    for number in range(3):
        project.annotated(f"m{number}.py")
    sent: list[ReviewProgress] = []

    def search(locator: ProjectLocator, scorer: Scorer, report: Any) -> ReviewProgress:
        def report_one(progress: ReviewProgress) -> None:
            is_first = not sent
            sent.append(progress)
            report(progress)
            if is_first:
                raise OutdatedIndex("annotations.jsonl was rewritten")

        return review_progress(locator, scorer, report_one)

    monkeypatch.setattr(queue, "review_progress", search)
    server, sink = started()
    arguments = {"uri": project.root.as_uri(), "partialResultToken": "rows"}
    params = types.ExecuteCommandParams("vibes.queue", [arguments])
    tell(server, types.WORKSPACE_EXECUTE_COMMAND, params, id=7)
    await settled(server)
    close_indexes(server)
    messages = [json.loads(message.partition(b"\r\n\r\n")[2]) for message in sink.messages]
    assert any(each.get("method") == types.PROGRESS for each in messages)
    [answer] = [each["result"] for each in messages if each.get("id") == 7]
    assert answer["isWhole"]
    assert [row["filePath"] for row in answer["placements"]] == ["m0.py", "m1.py", "m2.py"]
