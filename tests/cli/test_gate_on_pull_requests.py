"""`vibes gate` for people who review a pull request: Markdown, and what hosts show at the lines."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
from markdown_it import MarkdownIt

from tests.cli.gate_project import BO, GateProject

if TYPE_CHECKING:
    from pathlib import Path

    from tests.cli.run_vibes import RunVibes

LINKS = "https://example.org/o/r/blob/abc"
HOSTILE = [
    "a | b \\| c \\\\| d",
    "`| <img src=x>",
    "@ada [x](https://evil.example) ![y](z)",
    "\n\n| a | b |\n|---|---|\n",
    "</details><script>",
    "\\",
    "``` | ```",
]


@pytest.fixture
def project(tmp_path: Path) -> GateProject:
    return GateProject(tmp_path / "project")


def markdown(project: GateProject, run_vibes: RunVibes, *arguments: str) -> str:
    done = run_vibes("gate", "--markdown", *arguments, cwd=project.root)
    assert done.err == ""
    return done.out


def test_it_begins_with_how_much_an_ai_wrote_and_what_blocks(
    project: GateProject, run_vibes: RunVibes
) -> None:
    project.write(prompt=project.prompt("Hash a payload."))
    project.write("calm.py", risky=False)
    project.commit()
    shown = markdown(project, run_vibes, "--base", project.base, "--links", LINKS)
    lines = shown.splitlines()
    assert lines[:4] == [
        "### VIBES gate: FAIL",
        "",
        "**32% of 25 changed lines are an AI's; 1 range blocks.**",
        "",
    ]
    (row,) = [line for line in lines if line.startswith("| **block**")]
    assert row.startswith(f"| **block** | [`a.py:4-7`]({LINKS}/a.py#L4-L7) |")
    assert "rule `temperature > 0.8`" in row
    assert row.endswith("| `Hash a payload.` |")
    assert "**To pass:** another person than the author of the code approves" in shown
    flagged = shown.partition("<details>")[2]
    assert "calm.py:4-7" in flagged or "calm.py" not in shown


def test_a_share_that_only_rounds_to_none_is_not_none(
    project: GateProject, run_vibes: RunVibes
) -> None:
    project.write(risky=False)
    project.file("long.py", "".join(f"line_{number} = {number}\n" for number in range(2_000)))
    project.commit()
    shown = markdown(project, run_vibes, "--base", project.base)
    assert "less than 1% of 2,0" in shown.splitlines()[2]


def test_a_gate_that_passes_says_so_first(project: GateProject, run_vibes: RunVibes) -> None:
    identifier = project.write()
    project.commit()
    project.review(identifier, reviewer=BO[0])
    project.commit("Review", by=BO)
    shown = markdown(project, run_vibes, "--base", project.base)
    assert shown.startswith("### VIBES gate: PASS\n")
    assert "; nothing blocks.**" in shown
    assert "To pass" not in shown
    assert "<details><summary>1 range that passes: flagged or approved</summary>" in shown


@pytest.mark.parametrize("text", HOSTILE)
def test_text_of_the_project_stays_in_its_cell(
    project: GateProject, run_vibes: RunVibes, text: str
) -> None:
    project.risky = project.environment(model=text, parameters={"temperature": 0.9})
    project.write(prompt=project.prompt(text))
    shown = markdown(project, run_vibes, "--links", LINKS)
    tokens = MarkdownIt("gfm-like", {"html": True}).parse(shown)
    cells = [token for token in tokens if token.type in {"th_open", "td_open"}]
    assert len(cells) == 14
    children = [child for token in tokens for child in token.children or ()]
    targets = {str(each.attrs["href"]) for each in children if each.type == "link_open"}
    assert targets == {f"{LINKS}/a.py#L4-L7"}
    html = {each.content for each in (*tokens, *children) if each.type.startswith("html")}
    assert html <= {"<br>"}
    assert "image" not in {each.type for each in children}


def test_findings_for_hosts(project: GateProject, run_vibes: RunVibes) -> None:
    path = "odd,name: 100%.py"
    project.write(path)
    done = run_vibes("gate", "--github", cwd=project.root)
    assert done.code == 1
    place = "file=odd%2Cname%3A 100%25.py,line=4,endLine=7"
    assert f"::error {place},title=VIBES gate-block::block: lines by claude-" in done.out
    done = run_vibes("gate", "--gitlab", cwd=project.root)
    (issue,) = [each for each in json.loads(done.out) if each["check_name"] == "gate-block"]
    assert issue["location"] == {"path": path, "lines": {"begin": 4, "end": 7}}
    assert issue["severity"] == "critical"
    again = json.loads(run_vibes("gate", "--gitlab", cwd=project.root).out)
    assert issue in again, "the fingerprint identifies the issue in the next run"


@pytest.mark.parametrize("address", ["javascript:alert(1)", "https://a b", "https://a/) [x](", ""])
def test_an_address_that_is_none_is_refused(
    project: GateProject, run_vibes: RunVibes, address: str
) -> None:
    done = run_vibes("gate", "--markdown", "--links", address, cwd=project.root)
    assert (done.code, done.out) == (2, "")
    assert "for --links" in done.err


def test_a_long_table_is_cut(project: GateProject, run_vibes: RunVibes) -> None:
    session = project.session_start(environment=project.risky)
    for number in range(150):
        project.write(f"file{number}.py", prompt=project.prompt("x" * 300), session=session)
    shown = markdown(project, run_vibes, "--links", LINKS)
    assert len(shown) < 60_000
    assert "… and " in shown
