"""The story of a reviewer: see who wrote the line, what is risky about it; edit above; answer for it; let another tool complete a line."""

from __future__ import annotations

import re
from pathlib import Path

from tests.demo.workspace import build
from tests.editors.recorded import newest
from tests.editors.vscode.conftest import Open


def test_a_reviewer_sees_who_wrote_the_line_and_answers_for_it(
    open_window: Open, tmp_path: Path
) -> None:
    workspace = build(tmp_path / "shop")
    code = open_window(workspace.root, vibes__reviewer="Ada Example")
    code.open_file("src/auth.py")

    hover = code.hover(24, 8, "0.84 critical")
    assert "claude-opus-4-5" in hover
    assert "Store passwords safely" in hover
    _, lens = code.lens("critical risk", at=23)
    assert re.fullmatch(r"AI edit · \d+ \w+ ago · critical risk · not reviewed", lens)
    marks = code.marks_on([*range(13, 21), 23, 24, 25, 27])
    assert marks[23] != marks[13], "critical risk looks as low risk does"
    assert code.until(
        lambda: "Store passwords safely" in code.painted(24), "text at the end of the cursor's line"
    )
    assert code.until(
        lambda: "AI 44% · 1 to review" in code.status_bar(), "the AI's share in the status bar"
    )
    problem = code.until(
        lambda: problems[0] if len(problems := code.problems()) == 1 else None, "one problem"
    )
    assert "critical" in problem
    assert "line 23" in problem

    code.go_to(1)
    code.type("# one\n# two\n")
    code.lens("critical risk", at=25)
    assert code.marks_on([*range(15, 23), 25, 26, 27, 29])[25] == marks[23]
    code.save()

    code.go_to(26)
    code.command("VIBES: Mark Reviewed…")
    code.answer("Argon2 is on its way.", "Mark reviewed")
    assert code.until(lambda: not code.problems(), "the problem to go")
    code.lens("critical risk · approved", at=25)
    edge = newest(workspace.audit, "reviewed_by")
    assert edge["source_ref"] == workspace.hashing
    assert edge["metadata"]["verdict"] == "approved"
    assert edge["metadata"]["reviewer"] == "Ada Example"
    assert edge["metadata"]["note"] == "Argon2 is on its way."

    assert code.blocked == [], "something looked outwards"
