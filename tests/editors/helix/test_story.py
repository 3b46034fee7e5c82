"""The story of a reviewer in Helix, as far as plain LSP goes: hover, problems, a code action that leaves its edge on disk."""

from __future__ import annotations

from pathlib import Path

from tests.demo.workspace import build
from tests.editors.helix.conftest import Open
from tests.editors.recorded import newest
from tests.trails.repository import Repository


def test_a_reviewer_sees_who_wrote_the_line_and_answers_for_it(
    open_helix: Open, tmp_path: Path
) -> None:
    workspace = build(tmp_path / "shop")
    Repository(workspace.root).git("config", "user.name", "Nobody Example")
    (
        workspace.root / "src/pyproject.toml"
    ).touch()  # what Helix takes for the root is neither the trail's folder, nor above it
    terminal = open_helix(tmp_path, "shop/src/auth.py")
    terminal.shows("def hash_password")
    terminal.text("23gg")
    terminal.shows("risk 0.84 critical")  # of the line under the cursor

    terminal.text("gg")
    terminal.text("O# one")
    terminal.keys("Escape")
    terminal.shows("▍# one", "24  def hash_password")
    terminal.text("24gg")
    terminal.shows("risk 0.84 critical")

    terminal.text("fh")  # onto the name, which the problem underlines
    terminal.text(" k")
    terminal.shows("claude-opus-4-5", "Store passwords safely", "0.84 critical")
    terminal.keys("Escape")
    terminal.until(lambda: "Store passwords safely" not in terminal.screen(), "the hover to close")

    terminal.text(" d")
    terminal.shows("risk-critical")
    terminal.keys("Escape")
    terminal.until(lambda: "risk-critical" not in terminal.screen(), "the list to close")
    terminal.text(" a")
    terminal.shows("Mark reviewed", "Show prompt")
    terminal.keys("Enter")  # the first of them
    terminal.until(
        lambda: newest(workspace.audit, "reviewed_by")["source_ref"] == workspace.hashing,
        "the review",
    )
    terminal.until(lambda: "risk 0.84" not in terminal.screen(), "the problem to go")
    edge = newest(workspace.audit, "reviewed_by")
    assert edge["metadata"]["verdict"] == "approved"
    assert edge["metadata"]["reviewer"] == "Ada Example"  # as the settings say
