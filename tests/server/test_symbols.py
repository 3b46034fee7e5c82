"""The search for symbols of a workspace: the words of prompts."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from tests.server.wire import Wire, hover_at

if TYPE_CHECKING:
    from pathlib import Path

    from tests.server.project import Project


def test_a_search_for_symbols_in_many_prompts_keeps_nobody_waiting(
    tmp_path: Path, project: Project
) -> None:
    entries = {
        f"{number:064x}": {
            "type": "prompt",
            "prompt_text": f"Prompt {number} ä",
            "prompt_type": "other",
        }
        for number in range(20_000)
    }
    frame = {"standard": "VIBES", "version": "1.0", "entries": entries}
    (project.root / ".ai-audit/manifest.json").write_text(json.dumps(frame), encoding="utf-8")
    uri = project.annotated().as_uri()
    with Wire(tmp_path / "server.log") as wire:
        wire.initialize(project.root)
        wire.request("textDocument/hover", hover_at(uri, 4))
        search = {"method": "workspace/symbol", "params": {"query": "no such text"}}
        hover = {"method": "textDocument/hover", "params": hover_at(uri, 4)}
        wire.send_together({"id": "search", **search}, {"id": "hover", **hover})
        assert wire.receive_answer()["id"] == "hover"
        assert wire.answer("search")["result"] == []
        cancel = {"method": "$/cancelRequest", "params": {"id": "again"}}
        wire.send_together({"id": "again", **search}, cancel)
        assert wire.answer("again")["error"]["code"] == -32800
        assert wire.request("workspace/symbol", {"query": "prompt 19999"})["result"][0][
            "name"
        ].endswith("Prompt 19999 ä")
