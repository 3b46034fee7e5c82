"""The knowledge base at the line: propose a claim, decide on it, read it, and keep its evidence true."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Final

from tests.demo.workspace import build
from tests.editors.vscode.conftest import Open
from tests.editors.vscode.knowledge import run_kb
from tests.editors.vscode.window import Window
from tests.server.knowledge_base import KnowledgeFiles
from tests.server.project import STORY

TEXT: Final = "Passwords are stored as salted SHA-256"
HOSTILE: Final = (
    "[run](command:workbench.action.closeAllEditors) <img src=x> $(zap) \u202eevil\n# big"
)
STATE: Final = "Evidence: lines "


def _select(code: Window, first: int, last: int) -> None:
    """Select whole lines."""
    code.go_to(first)
    for _ in range(last - first + 1):
        code.page.keyboard.press("Shift+ArrowDown")
    code.wait_for(".statusbar-item", "selected)")


def _rows(code: Window) -> list[str]:
    """Return the rows of the view that are proposals, without their age."""
    return [row for row in code.view("Review") if "proposed by" in row]


def _claims(root: Path) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads(run_kb(root, "list", "claims", "--json"))["claims"]
    return found


def test_a_claim_is_proposed_approved_read_and_re_anchored(
    open_window: Open, tmp_path: Path
) -> None:
    shop = build(tmp_path / "shop")
    run_kb(shop.root, "init")
    code = open_window(shop.root, vibes__reviewer="Ada Example")
    code.open_file("src/auth.py")
    code.lens("critical risk", at=23)

    _select(code, 23, 27)
    code.command("Vouch: Propose Claim…")
    code.answer(TEXT, "Propose a claim about lines 23 to 27")
    code.answer("fact", "Type of the claim")
    code.answer("High", "Confidence in the claim")
    code.lens("1 pending", at=23)

    code.command("VIBES: Focus on Review View")
    (row,) = code.until(lambda: _rows(code), "the proposal in the view")
    assert row.startswith(
        f"{TEXT}, claim, fact, confidence 90%, proposed by Ada Example, lines 23-27 of src/auth.py"
    )
    code.wait_for(".tree-explorer-viewlet-tree-view .message", "6 to review: ")
    code.wait_for(".activitybar .badge-content", "6")
    code.go_to(1)
    code.click_row(TEXT)
    code.wait_for(".statusbar-item", "Ln 23, Col 1")
    code.press_button_in_row(TEXT, "Approve Proposal")
    code.until(lambda: not _rows(code), "the proposal to leave the view")
    code.wait_for(".activitybar .badge-content", "5")
    (claim,) = _claims(shop.root)
    assert (claim["text"], claim["approved_by"]) == (TEXT, "Ada Example")
    assert (claim["type"], claim["confidence"]) == ("fact", 0.9)

    code.lens("1 claim", at=23)
    hover = code.hover(24, 8, TEXT)
    assert f"{STATE}as quoted" in hover
    assert "Claim: Confirm · Supersede · Archive" in hover
    assert "claude-opus-4-5" in hover, "who wrote the lines is beside what is said about them"

    code.go_to(25)
    code.type("    # twice\n")
    hover = code.hover(24, 8, "edited since")
    assert "Claim: Confirm · Re-anchor · Supersede · Archive" in hover
    assert code.until(lambda: [each for each in code.problems() if TEXT in each], "a problem")
    code.go_to(24)
    code.command("Vouch: Re-anchor Evidence")
    code.hover(24, 8, f"{STATE}as quoted")
    code.until(lambda: not [each for each in code.problems() if TEXT in each], "no problem")
    (claim,) = _claims(shop.root)
    assert len(claim["evidence"]) == 2
    assert code.blocked == [], "something looked outwards"


def _known(root: Path) -> KnowledgeFiles:
    """A knowledge base without a trail: two claims and two proposals about the same lines."""
    files = KnowledgeFiles(root)
    (root / "a.py").write_text(STORY, encoding="utf-8")
    evidence = files.evidence("ev-1", files.source("a.py", STORY), "L4-L7")
    files.claim("short-digests", "Digests are short", evidence)
    files.claim("cut-digests", "Digests are cut to eight characters", evidence)
    files.proposal("20260521-100000-00000001", HOSTILE, evidence)
    files.proposal("20260521-100000-00000002", "Digests are unique", evidence)
    return files


def test_lost_evidence_is_re_anchored_on_the_selected_lines(
    open_window: Open, tmp_path: Path
) -> None:
    files = KnowledgeFiles(tmp_path / "known")
    (files.project / "a.py").write_text(STORY, encoding="utf-8")
    files.cited("a.py", STORY, "L4-L7")
    code = open_window(files.project, vibes__reviewer="Ada Example")
    code.open_file("a.py")
    code.lens("1 claim", at=4)

    _select(code, 4, 7)
    code.page.keyboard.press("Delete")
    problem = "“Claim c.”"
    code.until(lambda: [each for each in code.problems() if problem in each], "a problem")
    code.until(lambda: not code.lenses(), "the lens to go")
    code.go_to(1)
    code.command("Vouch: Re-anchor Evidence")
    code.message("its lines are gone: select the lines that show it now")

    _select(code, 6, 7)
    code.command("Vouch: Re-anchor Evidence")
    code.lens("1 claim", at=6)
    code.until(lambda: not [each for each in code.problems() if problem in each], "no problem")
    assert f"{STATE}as quoted" in code.hover(6, 3, "Claim c.")
    (claim,) = _claims(files.project)
    assert len(claim["evidence"]) == 2
    (added,) = [path for path in (files.path / "evidence").glob("*.yaml") if path.stem != "ev-c"]
    assert "replaces: ev-c" in added.read_text(encoding="utf-8")
    assert "locator: L6-L7" in added.read_text(encoding="utf-8")


def test_claims_of_a_lens_are_listed_and_each_can_be_changed(
    open_window: Open, tmp_path: Path
) -> None:
    files = _known(tmp_path / "known")
    code = open_window(files.project, vibes__reviewer="Ada Example")
    code.open_file("a.py")
    code.lens("2 claims, 2 pending", at=4)
    code.click_lens("2 claims", ".quick-input-widget")
    code.answer("Digests are unique", "Claims about these lines")
    code.answer("Reject", "Digests are unique")
    code.answer("Eight characters collide.", "Reject “Digests are unique”: the reason")
    code.lens("2 claims, 1 pending", at=4)
    decided = (files.path / "decided/20260521-100000-00000002.yaml").read_text(encoding="utf-8")
    assert "Eight characters collide." in decided
    assert "decided_by: Ada Example" in decided

    code.go_to(5)
    code.command("Vouch: Contradict Claim…")
    code.answer("Digests are short", "Contradict which claim?")
    code.answer("Digests are cut", "Which claim contradicts “Digests are short”?")
    contested = {"cut-digests": "contested", "short-digests": "contested"}
    code.until(
        lambda: {each["id"]: each["status"] for each in _claims(files.project)} == contested,
        "both claims to be contested",
    )

    code.go_to(5)
    code.command("Vouch: Supersede Claim…")
    code.answer("Digests are short", "Supersede which claim?")
    code.answer("Digests are cut", "Which claim replaces “Digests are short”?")
    code.lens("1 claim, 1 pending", at=4)
    claims = {each["id"]: each for each in _claims(files.project)}
    assert claims["short-digests"]["superseded_by"] == "cut-digests"

    code.go_to(5)
    code.command("Vouch: Confirm Claim")
    hover = code.hover(5, 8, "confirmed just now")
    assert "Act on 1 claim, 1 proposal" in hover

    code.command("VIBES: Focus on Review View")
    (row,) = code.until(lambda: _rows(code), "the proposal in the view")
    assert row.startswith("[run](command:workbench.action.closeAllEditors) <img src=x> $ (zap)")
    assert "\\u202eevil" in row
    lists = code.page.locator(".part.sidebar .monaco-list")
    assert lists.locator("img, h1, .codicon-zap").count() == 0
    code.press_in_row("[run]", "Reject Proposal")
    code.answer("No claim.", "Reject “[run]")
    code.until(lambda: not _rows(code), "the proposal to leave the view")

    code.go_to(5)
    code.command("Vouch: Archive Claim…")
    code.answer("The function goes.", "Archive “Digests are cut to eight characters”: the reason")
    code.until(lambda: not code.lenses(), "the lens to go")
    assert "The function goes." in "".join(files.events())
    assert code.blocked == [], "something looked outwards"


def test_an_untrusted_folder_shows_claims_and_its_texts_run_nothing(
    open_window: Open, tmp_path: Path
) -> None:
    files = _known(tmp_path / "known")
    code = open_window(files.project, trusted=False)
    code.open_file("a.py")
    code.lens("2 claims, 2 pending", at=4)
    hover = code.hover(5, 8, "closeAllEditors")
    assert "[run](command:workbench.action.closeAllEditors)" in hover
    shown = code.page.locator(".monaco-hover:not(.hidden) .monaco-hover-content")
    assert shown.locator("img, h1").count() == 0
    links = shown.locator("a").evaluate_all("links => links.map(link => link.dataset.href ?? '')")
    assert [each.partition("?")[0] for each in links] == ["command:vibes.ui.kbShow"]
    assert code.blocked == [], "something planted was fetched"


def test_a_project_without_a_knowledge_base_has_none_of_its_commands(
    open_window: Open, tmp_path: Path
) -> None:
    shop = build(tmp_path / "shop")
    code = open_window(shop.root)
    code.open_file("src/auth.py")
    code.lens("critical risk")
    assert code.found_in_palette("VIBES: Show") != []
    assert code.found_in_palette("Vouch:") == []

    run_kb(shop.root, "init")
    code.until(lambda: "Vouch: Propose Claim…" in code.found_in_palette("Vouch:"), "its commands")
