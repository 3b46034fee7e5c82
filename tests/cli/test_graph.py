"""`vibes graph`: the same graph as a Mermaid flowchart and as JSON."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from tests.cli.review_project import ReviewProject
from tests.cli.run_vibes import vibes

if TYPE_CHECKING:
    from pathlib import Path

    from tests.cli.run_vibes import RunVibes
    from tests.trails import CompleteTrail
    from tests.unit.checks.projects import Project


def test_mermaid_and_json_have_the_same_nodes_and_links(valid_trail: CompleteTrail) -> None:
    wanted = ("show", "--graph", valid_trail.created[:10])
    drawn = vibes(*wanted, cwd=valid_trail.root)
    graph = vibes(*wanted, "--json", cwd=valid_trail.root).json
    assert (drawn.code, drawn.err, drawn.lines[0]) == (0, "", "flowchart TD")
    assert graph["root"] == valid_trail.created
    assert len(graph["nodes"]) == sum(bool(re.match(r"  n\d+\W", each)) for each in drawn.lines) - (
        len(graph["edges"])
    )
    assert len(graph["edges"]) == sum("-->" in each for each in drawn.lines)
    names = {node["id"]: f"n{number}" for number, node in enumerate(graph["nodes"])}
    prompt, edit = names[str(valid_trail.prompt)], names[valid_trail.created]
    assert f'  {prompt} -- "caused" --> {edit}' in drawn.lines
    assert any(
        each.startswith(f'  {prompt}(["prompt ') and "Create a sign-up check" in each
        for each in drawn.lines
    )


def test_edits_have_the_lines_where_they_are_now(
    project: Project, valid_trail: CompleteTrail
) -> None:
    source = project.root / "src/auth.py"
    source.write_bytes(b"# one\n# two\n" + source.read_bytes())
    wanted = ("show", "--graph", valid_trail.created)
    graph = vibes(*wanted, "--json", cwd=project.root).json
    root = graph["nodes"][0]
    assert root["lineStart"] == root["recordedLineStart"] + 2
    assert root["state"] == "moved"
    label = f"create src/auth.py#58;{root['lineStart']}-{root['lineEnd']}”"
    assert label in vibes(*wanted, cwd=project.root).lines[1]
    source.write_text("nothing\n")
    lost = vibes(*wanted, "--json", cwd=project.root).json["nodes"][0]
    assert (lost["state"], lost["lineStart"]) == ("lost", None)
    source.unlink()
    assert "state" not in vibes(*wanted, "--json", cwd=project.root).json["nodes"][0]


def test_a_file_that_was_renamed_and_a_review(project: Project, valid_trail: CompleteTrail) -> None:
    repository = project.repository
    repository.git("mv", "src/auth.py", "src/accounts.py")
    repository.commit("Rename a file")
    graph = vibes("show", "--graph", valid_trail.created, "--json", cwd=project.root).json
    assert graph["nodes"][0]["state"] in {"exact", "moved"}
    assert graph["nodes"][0]["text"].startswith("create src/accounts.py:")
    (review,) = [each for each in graph["edges"] if each["type"] == "reviewed_by"]
    assert review["verdict"] == "approved"
    assert any(
        '-- "approved by" -->' in each
        for each in vibes("show", "--graph", valid_trail.created, cwd=project.root).lines
    )


def test_depth_bounds_it(valid_trail: CompleteTrail) -> None:
    wanted = ("show", "--graph", valid_trail.session, "--json")
    near = vibes(*wanted, "--depth", "1", cwd=valid_trail.root).json
    far = vibes(*wanted, cwd=valid_trail.root).json
    assert len(near["nodes"]) < len(far["nodes"])
    assert vibes(*wanted, "--depth", "0", cwd=valid_trail.root).code == 2


def test_an_unknown_id_is_an_error(valid_trail: CompleteTrail) -> None:
    done = vibes("show", "--graph", "ffffffffff", cwd=valid_trail.root)
    assert done.code == 2
    assert "no record, context entry or session" in done.err


def test_a_line_stands_for_the_edit_that_owns_it(project: Project, run_vibes: RunVibes) -> None:
    shown = run_vibes("show", "src/auth.py:1", "--json", cwd=project.root).json
    (owner,) = [each["annotationId"] for each in shown["placements"]]
    by_line, by_id = (
        run_vibes("show", "--graph", each, cwd=project.root) for each in ("src/auth.py:1", owner)
    )
    assert (by_line.code, by_line.err) == (0, "")
    assert by_line.out == by_id.out


def test_lines_without_an_edit_or_with_several_are_refused(
    tmp_path: Path, run_vibes: RunVibes
) -> None:
    story = ReviewProject(tmp_path / "story")
    with (story.root / "a.py").open("a") as file:
        file.write("\n\nlast = 1\n")
    count = len((story.root / "a.py").read_text().splitlines())
    for place, message in (
        (f"a.py:{count}", f"no AI edit is recorded for line {count} of a.py"),
        (f"a.py:1-{count}", f"lines 1-{count} of a.py are from several AI edits: "),
        ("a.py:99999999999999999999", f"a.py has {count} lines, not 99,999,999,999,999,999,999"),
        ("a.py", "a.py is a file; name a line of it"),
    ):
        done = run_vibes("show", "--graph", place, cwd=story.root)
        assert (done.code, done.out) == (2, "")
        assert done.err.startswith(f"vibes: {message}")
