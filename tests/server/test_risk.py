"""Live risk on every surface, lower after a review of the current text."""

from __future__ import annotations

from typing import Any, Final

import pytest
from lsprotocol import types

from tests.server.editor import Editor
from tests.server.project import Project
from vibes_lsp.model.vocabulary import Signal

HALVES: Final[dict[str, Any]] = {
    "enabled": True,
    "weights": {**dict.fromkeys(Signal, 0), "action_type": 1, "human_review_present": 1},
}
"""Half what was done, half whether it was reviewed: (0.6 + 1) / 2 for what an AI created, (0.6 + 0) / 2 once a person approved it."""
CONFIG: Final = ".ai-audit/config.json"


async def told(editor: Editor, uri: str) -> str:
    """Return the line of a hover that tells the score."""
    lines = (await editor.hover(uri, 4)).replace("*", "").splitlines()
    found = next((line.strip() for line in lines if line.startswith("Risk ")), "")
    return found.removeprefix("Risk ").partition(": ")[0]


def lines(first: int, last: int) -> dict[str, Any]:
    return {"start": {"line": first - 1, "character": 0}, "end": {"line": last, "character": 0}}


async def test_a_risk_rises_falls_and_comes_back(editor: Editor, project: Project) -> None:
    project.config(risk_scoring=HALVES)
    uri = await editor.open_known(project.annotated())
    assert await told(editor, uri) == "0.80 critical"
    assert await editor.lenses(uri) == [(4, "AI edit · AGE · critical risk · not reviewed")]
    (found,) = await editor.diagnostics(uri)
    assert (found.code, found.message) == (
        "risk-critical",
        "risk 0.80 critical, not reviewed: newly written code",
    )

    await editor.run(
        "vibes.review",
        {"uri": uri, "range": lines(5, 5), "verdict": "approved", "reviewer": "Ada Example"},
    )
    assert await told(editor, uri) == "0.30 medium"
    assert await editor.lenses(uri) == []
    assert await editor.diagnostics(uri) == []

    editor.insert(uri, 5, "    # another hand\n")
    assert await told(editor, uri) == "0.80 critical"
    (found,) = await editor.diagnostics(uri)
    assert found.message == "risk 0.80 critical, approved, but changed since: newly written code"


async def test_the_stored_score_stands_beside_a_live_one_that_is_another(
    editor: Editor, project: Project
) -> None:
    project.config(risk_scoring=HALVES)
    uri = editor.open(project.file("a.py"))
    given = {
        "uri": uri,
        "range": lines(4, 7),
        "action": "create",
        "tool": {"name": "t", "version": "1"},
        "model": {"name": "m", "version": "1"},
    }
    answer = await editor.run("vibes.recordAnnotation", given)
    assert answer["record"]["risk_score"] == 0.8
    assert await told(editor, uri) == "0.80 critical"
    await editor.run(
        "vibes.review",
        {
            "uri": uri,
            "annotationIds": [answer["annotationId"]],
            "verdict": "approved",
            "reviewer": "Ada Example",
        },
    )
    assert await told(editor, uri) == "0.30 medium (0.80 as recorded)"
    (placement,) = (await editor.provenance(uri))["placements"]
    assert (placement["score"], placement["storedScore"], placement["band"]) == (0.3, 0.8, "medium")
    assert {each["signal"]: each["value"] for each in placement["factors"] if each["weight"]} == {
        "action_type": 0.6,
        "human_review_present": 0,
    }


async def test_the_hover_says_what_a_score_is_made_of(editor: Editor, project: Project) -> None:
    project.config(risk_scoring={"enabled": True})
    uri = editor.open(project.annotated())
    assert "**Risk** 0.55 medium: newly written code; recorded at medium assurance".replace(
        "**", "**" if editor.marks else ""
    ) in await editor.hover(uri, 4)
    (found,) = (await editor.provenance(uri))["placements"]
    given = {"uri": uri, "annotationId": found["annotationId"], "show": False}
    history = (await editor.run("vibes.showHistory", given))["text"].replace("`", "")
    assert "scope_lines 0.307692 x 0.15: 4 of 13 lines (31%)" in history


@pytest.mark.parametrize("scoring", [None, {"enabled": False}])
async def test_a_preview_shows_scores_where_prism_is_off_and_reports_nothing(
    editor: Editor, project: Project, scoring: object
) -> None:
    project.config(risk_scoring=scoring)
    uri = editor.open(project.annotated())
    assert await told(editor, uri) == ""
    await editor.set(risk={"preview": True}, diagnostics={"minimumBand": "low"})
    assert await told(editor, uri) == "0.55 medium"
    assert await editor.diagnostics(uri) == []
    await editor.set()
    assert await told(editor, uri) == ""


async def test_a_policy_that_changes_changes_the_score(editor: Editor, project: Project) -> None:
    project.config(risk_scoring=HALVES)
    uri = await editor.open_known(project.annotated())
    assert await told(editor, uri) == "0.80 critical"
    project.config(risk_scoring={**HALVES, "thresholds": {"critical": 0.81}})
    assert await told(editor, uri) == "0.80 high"
    project.config(risk_scoring={**HALVES, "algorithm": "ours"})
    assert await told(editor, uri) == ""


async def test_a_broken_rule_is_marked_at_its_word(editor: Editor, project: Project) -> None:
    project.config(
        risk_scoring={
            "enabled": True,
            "review_rules": [{"condition": "scope_lines > 1 AND bogus > 2", "action": "flag"}],
        }
    )
    project.annotated()
    file = project.root / CONFIG
    found = [
        each for each in await editor.diagnostics(editor.open(file)) if each.code == "config-field"
    ]
    source = file.read_text(encoding="utf-8").split("\n")
    (marked,) = found
    start, end = marked.range.start, marked.range.end
    assert (start.line, source[start.line][start.character : end.character]) == (end.line, "bogus")
    assert marked.severity == types.DiagnosticSeverity.Error
