"""Types of edges that a log does not have are known without a search, and new ones at once."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.properties.logs import IDS
from vibes_lsp.model.vocabulary import EdgeType
from vibes_lsp.trail.log_index import LogIndex

if TYPE_CHECKING:
    from pathlib import Path


def edge(kind: str) -> str:
    return (
        f'{{"type":"edge","edge_type":"{kind}","source_ref":"{IDS[0]}","target_ref":"{IDS[1]}"}}\n'
    )


def test_an_edge_of_a_new_type_is_found(tmp_path: Path) -> None:
    path = tmp_path / "annotations.jsonl"
    path.write_text(edge("caused_by"), encoding="utf-8")
    index = LogIndex(path)
    index.refresh()
    assert index.edges(source=IDS[0], edge_type=EdgeType.REVIEWED_BY) == []
    for kind in ("informed_by", "reviewed_by"):
        with path.open("a", encoding="utf-8") as log:
            log.write(edge(kind))
        index.refresh()
        (found,) = index.edges(source=IDS[0], edge_type=EdgeType(kind))
        assert found.target == IDS[1]
