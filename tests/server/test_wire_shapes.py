"""`docs/protocol.md` has the members that answers have, no more and no fewer."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from tests.docs.code_blocks import code_blocks
from tests.requirements import REPOSITORY
from tests.server.knowledge_base import KnowledgeFiles
from tests.server.project import STORY
from tools.docs.wire_shapes import CLAIM, FILE, PLACEMENT, PROPOSAL, Shape

if TYPE_CHECKING:
    from pathlib import Path

    from tests.server.editor import Editor
    from tests.server.project import Project
    from tests.trails import CompleteTrail


def assert_fits(found: Iterable[Mapping[str, Any]], shape: Shape) -> set[str]:
    """Compare objects with a shape; return the members that they have."""
    items = list(found)
    assert items
    for each in items:
        assert each.keys() <= shape.members.keys()
        assert shape.members.keys() - shape.optional <= each.keys()
    return set().union(*items)


async def test_placements_and_files(editor: Editor, trail: CompleteTrail, project: Project) -> None:
    paths = ("src/auth.py", "src/limits.py", "src/middleware.py")
    uris = [editor.open(trail.root / path) for path in paths]
    placements = [
        each for uri in uris for each in (await editor.provenance(uri, runs=True))["placements"]
    ]
    seen = assert_fits(placements, PLACEMENT)
    queue = await editor.run("vibes.queue", {"uri": trail.root.as_uri()})
    seen |= assert_fits(queue["placements"], PLACEMENT)
    project.function("a.py", "digest", text=STORY, lines=(4, 7), risk_score=0.5)
    uri = editor.open(project.file("a.py"))
    seen |= assert_fits((await editor.provenance(uri))["placements"], PLACEMENT)
    rare = {"movedFrom", "pending", "captured", "comparedFiles", "importedFrom", "inGitSince"}
    assert PLACEMENT.members.keys() - seen <= rare | {"replacedBy", "commitSubject", "factors"}
    files = await editor.run("vibes.files", {"uris": uris})
    assert_fits(files["files"], FILE)


async def test_the_example_is_what_the_server_answers(editor: Editor, trail: CompleteTrail) -> None:
    page = (REPOSITORY / "docs/protocol.md").read_text(encoding="utf-8")
    request, answer = map(json.loads, code_blocks(page, "json"))
    path = answer["uri"].removeprefix("file:///shop/")
    members = {name: value for name, value in request["params"].items() if name != "textDocument"}
    found = await editor.provenance(editor.open(trail.root / path), **members)
    [shown] = answer["placements"]
    assert {name: found["placements"][0][name] for name in shown} == shown


async def test_claims_and_proposals(editor: Editor, tmp_path: Path) -> None:
    kb = KnowledgeFiles(tmp_path / "known")
    (kb.project / "a.py").write_text(STORY)
    kb.cited("a.py", STORY, "L4-L7", claim="digest")
    kb.proposal("waits", "It waits.", "ev-digest")
    kb.proposal("elsewhere", "It cites nothing.")
    uri = editor.open(kb.project / "a.py")
    found = await editor.run("vibes.kbAt", {"uri": uri})
    assert_fits(found["claims"], CLAIM)
    assert_fits(found["pending"], PROPOSAL)
    pending = await editor.run("vibes.kbPending", {"uri": uri})
    assert assert_fits(pending["pending"], PROPOSAL) == PROPOSAL.members.keys()
