"""`vibes blame`, `find` and `stats --by file`: owners and kinds of lines, and their current places."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import pytest

from tests.cli.run_vibes import vibes
from tests.server.project import STORY, Project
from tests.trails import Repository

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from tests.cli.run_vibes import RunVibes


@pytest.fixture
def story(tmp_path: Path) -> Project:
    """Two files: one with two AI functions, the second approved; one without AI lines."""
    project = Project(tmp_path / "story")
    project.config(
        tracked_extensions=[".py"], risk_scoring={"enabled": True, "algorithm": "our-own"}
    )
    project.environment(model="older-model", tool="Old Tool")
    project.line(
        "a.py",
        4,
        7,
        text=STORY,
        prompt=project.prompt("Write a digest."),
        risk_score=0.7,
        session="first-session",
    )
    project.environment(model="newer-model")
    project.review(
        project.line(
            "a.py", 10, 13, text=STORY, prompt=project.prompt("Compare."), commit="c0ffee" * 6
        )
    )
    project.file("a.py")
    project.file("b.py")
    return project


def ids(project: Project) -> list[str]:
    return [
        str(record["annotation_id"])
        for record in project.files.records()
        if record["type"] == "line"
    ]


def shown_states(run_vibes: RunVibes, story: Project, *arguments: str) -> list[tuple[int, str]]:
    """Return number and state of each line that an annotation owns."""
    done = run_vibes("blame", "a.py", "--json", *arguments, cwd=story.root)
    assert (done.code, done.err) == (0, "")
    return states_in(done.json)


def states_in(blame: Mapping[str, Any]) -> list[tuple[int, str]]:
    """Return number and state of each line that an annotation owns, of what `blame` prints."""
    return sorted(
        (number, placement["state"])
        for placement in blame["placements"]
        for owned in placement["ownedRanges"]
        for number in range(owned["start"]["line"] + 1, owned["end"]["line"] + 1)
    )


def test_blame_names_an_annotation_at_the_first_of_its_lines(
    story: Project, run_vibes: RunVibes
) -> None:
    done = run_vibes("blame", "a.py", cwd=story.root)
    assert (done.code, done.err) == (0, "")
    digest, same = ids(story)
    lines = STORY.splitlines()
    labels = {4: [digest[:8], "older-model", "high"], 10: [same[:8], "newer-model", "✓"]}
    assert len(done.lines) == len(lines)
    for number, (line, text) in enumerate(zip(done.lines, lines, strict=True), 1):
        label, _, shown = f"{line} ".partition(f"{number:>2} ")
        mark = ["+"] if number in {*range(4, 8), *range(10, 14)} else []
        words = label.split()
        if number in labels:
            assert re.fullmatch(r"now|\d+(y|mo|d|h|m)", words.pop(2))
        assert (words, shown.rstrip()) == (labels.get(number, []) + mark, text.rstrip())


def test_blame_follows_what_was_inserted_above(story: Project, run_vibes: RunVibes) -> None:
    story.file("a.py", "# one\n" + STORY)
    moved = [(line, "moved") for line in (5, 6, 7, 8, 11, 12, 13, 14)]
    assert shown_states(run_vibes, story) == moved


def test_find_prints_no_control_characters(story: Project, run_vibes: RunVibes) -> None:
    story.file("b\x1b[2J.py", STORY)
    story.line("b\x1b[2J.py", 4, 7, text=STORY)
    assert "b\\u001b[2J.py:4-7" in run_vibes("find", cwd=story.root).out


def test_find_shows_paths_whole_on_a_narrow_terminal(story: Project) -> None:
    path = f"{'deep/' * 12}code.py"
    story.file(path, STORY)
    story.line(path, 4, 7, text=STORY)
    narrow = {"COLUMNS": "40", "FORCE_COLOR": "1", "NO_COLOR": "1"}
    done = vibes("find", "--file", path, cwd=story.root, **narrow)
    *_, line = done.lines
    assert f"{path}:4-7" in line
    assert len(done.lines) == 3, "a heading, a rule and one row"


def test_blame_shows_tabs_as_stops_of_the_code(story: Project, run_vibes: RunVibes) -> None:
    story.file("a.go", "func a() {\n\tif b {\n\t\tc()\t// d\n\t}\n}\n")
    done = run_vibes("blame", "a.go", cwd=story.root)
    assert [line[2:] for line in done.lines] == [
        "func a() {",
        "    if b {",
        "        c() // d",
        "    }",
        "}",
    ]


def test_blame_reads_unsaved_text(story: Project) -> None:
    done = vibes(
        *("blame", "a.py", "--contents", "-", "--json"),
        cwd=story.root,
        given=f"# one\n# two\n{STORY}",
    )
    assert done.code == 0, done.err
    moved = [(line, "moved") for line in (6, 7, 8, 9, 12, 13, 14, 15)]
    assert states_in(done.json) == moved


def test_blame_lists_lost_annotations_below_the_text(story: Project, run_vibes: RunVibes) -> None:
    story.file("a.py", "import os\n\nprint(os.name)\n")
    done = run_vibes("blame", "a.py", cwd=story.root)
    assert len(done.lines) == 5
    assert {line[:8] for line in done.lines[3:]} == {identifier[:8] for identifier in ids(story)}
    assert all("could not be found" in line for line in done.lines[3:])


def test_blame_in_json_has_the_shape_of_the_server(story: Project, run_vibes: RunVibes) -> None:
    found = run_vibes("blame", "a.py", "--json", cwd=story.root).json
    assert set(found) == {"filePath", "placements", "lines", "committed"}
    digest, same = ids(story)
    assert found["filePath"] == "a.py"
    assert [each["annotationId"] for each in found["placements"]] == [digest, same]
    assert [
        (each["lineStart"], each["lineEnd"], each["state"]) for each in found["placements"]
    ] == [(4, 7, "exact"), (10, 13, "exact")]
    assert [(each["line"], each["annotationId"], each["kind"]) for each in found["lines"]] == [
        *((line, digest, "ai") for line in range(4, 8)),
        *((line, same, "ai") for line in range(10, 14)),
    ]


def test_blame_of_a_file_that_no_ai_touched(story: Project, run_vibes: RunVibes) -> None:
    done = run_vibes("blame", "b.py", cwd=story.root)
    assert done.code == 0
    assert [line.split(maxsplit=1)[0] for line in done.lines] == [
        str(number) for number in range(1, 14)
    ]


def test_blame_of_a_path_that_is_not_a_project_file(
    story: Project, run_vibes: RunVibes, tmp_path: Path
) -> None:
    (tmp_path / "outside.py").write_text("x = 1\n")
    for path in ("gone.py", "../outside.py"):
        done = run_vibes("blame", path, cwd=story.root)
        assert (done.code, done.out, done.err.count("\n")) == (2, "", 1), path
        assert done.err.startswith("vibes: ")


@pytest.mark.parametrize("folder", [".", "folder", "..", "../.."])
def test_blame_of_a_folder_suggests_find(story: Project, run_vibes: RunVibes, folder: str) -> None:
    (story.root / "sub" / "folder").mkdir(parents=True)
    done = run_vibes("blame", folder, cwd=story.root / "sub")
    expected = f"vibes: {folder} is a folder: expected a file; for a folder, use `vibes find --file {folder}`\n"
    assert (done.code, done.out, done.err) == (2, "", expected)


@pytest.mark.parametrize("named", [[], ["--audit-dir", "../.ai-audit"], ["--audit-dir", ".."]])
def test_a_file_may_be_named_from_a_folder_beside_it(
    story: Project, run_vibes: RunVibes, named: list[str]
) -> None:
    (story.root / "sub").mkdir()
    for command in (["blame"], ["find", "--file"]):
        there = run_vibes(*command, "a.py", cwd=story.root)
        here = run_vibes(*command, "../a.py", *named, cwd=story.root / "sub")
        assert (here.code, here.out, here.err) == (0, there.out, "")


@pytest.mark.parametrize(
    ("question", "found"),
    [
        ("", [4, 10]),
        ("--model OLDER", [4]),
        ("--tool old", [4]),
        ("--tool claude", [10]),
        ("--prompt digest", [4]),
        ("--session first", [4]),
        ("--commit c0ffee", [10]),
        ("--since 2026-02-03", [4, 10]),
        ("--since 2026-02-03T10:00:01Z", [10]),
        ("--since 2027-01-01", []),
        ("--since 1m", []),
        ("--since 90y", [4, 10]),
        ("--band high", [4]),
        ("--state exact", [4, 10]),
        ("--state lost", []),
        ("--unreviewed", [4]),
        ("--unreviewed --model newer", []),
        ("--file a.py", [4, 10]),
        ("--file b.py", []),
    ],
)
def test_find_applies_each_filter(
    story: Project, run_vibes: RunVibes, question: str, found: list[int]
) -> None:
    answer = run_vibes("find", *question.split(), "--json", cwd=story.root)
    assert answer.code == 0
    assert [each["lineStart"] for each in answer.json["placements"]] == found
    shown = run_vibes("find", *question.split(), cwd=story.root)
    assert [f"a.py:{start}-{start + 3}" in shown.out for start in (4, 10)] == [
        start in found for start in (4, 10)
    ]
    assert ("no annotations found" in shown.out) == (not found)


def test_find_shows_reviews(story: Project, run_vibes: RunVibes) -> None:
    digest, same = ids(story)

    def unreviewed() -> list[str]:
        return [
            each["annotationId"]
            for each in run_vibes("find", "--unreviewed", "--json", cwd=story.root).json[
                "placements"
            ]
        ]

    def told() -> list[bool]:
        rows = [line for line in run_vibes("find", cwd=story.root).lines if "a.py" in line]
        return [words in row for row, words in zip(rows, ("approved by AI", "stale"), strict=True)]

    def marked() -> str:
        return "".join(re.findall("[✓✗]", run_vibes("blame", "a.py", cwd=story.root).out))

    story.review(digest, kind="ai", reviewer="Critic")
    assert unreviewed() == [digest], "an AI's review is none"
    assert told() == [True, False]
    assert marked() == "✓"
    story.file("a.py", STORY.replace("left == right", "left is right"))
    assert unreviewed() == [digest, same], "nor is one of other lines"
    assert told() == [True, True]
    assert not marked()
    story.review(digest, verdict="rejected")
    assert unreviewed() == [same]
    assert marked() == "✗"


def test_find_shows_current_places(story: Project, run_vibes: RunVibes) -> None:
    story.file("a.py", "# one\n" + STORY)
    assert "a.py:5-8" in run_vibes("find", "--model", "older", cwd=story.root).out


def test_find_refuses_an_invalid_date(story: Project, run_vibes: RunVibes) -> None:
    done = run_vibes("find", "--since", "yesterday", cwd=story.root)
    assert (done.code, done.out) == (2, "")
    assert done.err == (
        "vibes: invalid date 'yesterday' for --since: expected a date such as 2026-02-03, a time"
        " such as 2026-02-03T10:00Z, or an age such as '2 days ago' or 2d\n"
    )


def test_coverage_counts_lines_of_tracked_files(story: Project, run_vibes: RunVibes) -> None:
    Repository(story.root).commit("All")
    found = run_vibes("stats", "--by", "file", "--json", cwd=story.root).json
    by_path = {
        each["filePath"]: (each["verifiedLines"], each["lines"], each["share"])
        for each in found["files"]
    }
    assert by_path == {"a.py": (8, 13, 0.6154), "b.py": (0, 13, 0.0)}
    assert {
        "lines": 26,
        "verifiedLines": 8,
        "claimedLines": 0,
        "editedLines": 0,
        "share": 0.3077,
    }.items() <= found["total"].items()
    listed, everything = (
        run_vibes("stats", "--by", "file", *flags, cwd=story.root).out for flags in ((), ("--all",))
    )
    assert "a.py" in listed
    assert ("b.py" in listed, "b.py" in everything) == (False, True)
    assert listed.rstrip().endswith("total of 2 files")


def test_verified_claimed_and_edited_lines_are_distinguished(
    story: Project, run_vibes: RunVibes
) -> None:
    story.line("a.py", 1, 2)
    repository = Repository(story.root, start="2026-02-03T11:00:00+00:00")
    repository.commit("All")
    story.file("a.py", STORY.replace("left = digest(one)", "left = digest(one or b'')"))
    (file,) = [
        each
        for each in run_vibes("stats", "--by", "file", "--json", cwd=story.root).json["files"]
        if each["filePath"] == "a.py"
    ]
    assert file == {
        "filePath": "a.py",
        "lines": 13,
        "verifiedLines": 7,
        "claimedLines": 2,
        "editedLines": 0,
        "share": 0.5385,
    }
    shown = run_vibes("stats", "--by", "file", cwd=story.root).lines
    assert shown[0].split() == ["share", "verified", "claimed", "edited", "lines", "file"]
    assert ["54%", "7", "2", "0", "13", "a.py"] in [line.split() for line in shown]

    lines = run_vibes("blame", "a.py", cwd=story.root).lines[:13]
    marks = [
        "".join(each for each in f"{line} ".split(f"{number:>2} ")[0][-2:].strip())
        for number, line in enumerate(lines, 1)
    ]
    assert marks == ["?", "?", "", "+", "+", "+", "+", "", "", "+", "", "+", "+"]


def test_diff_marks_claimed_lines(story: Project, run_vibes: RunVibes) -> None:
    repository = Repository(story.root, start="2026-02-03T11:00:00+00:00")
    repository.commit("All")
    story.line("c.py", 1, 2, action="create")
    story.file("c.py", "one = 1\ntwo = 2\n")
    lines = run_vibes("diff", cwd=story.root).lines
    assert lines[0] == "c.py  0 verified, 2 claimed of 2 changed lines"
    assert [line for line in lines if " ? " in line] == ["  1 ? one = 1", "  2 ? two = 2"]
    counts = "AI lines: 0 verified, 2 claimed of 2 changed lines (0% verified)"
    assert lines[-1] == f"{counts}, in 1 of 1 changed files; 2 unreviewed"


def test_coverage_reports_annotated_files_that_git_does_not_track(
    story: Project, run_vibes: RunVibes
) -> None:
    repository = Repository(story.root)
    before = run_vibes("stats", "--by", "file", cwd=story.root)
    assert before.lines[-1] == "1 annotated file is not counted: not tracked by git; use `git add`"
    repository.commit("all")
    assert "git" not in run_vibes("stats", "--by", "file", cwd=story.root).out


def test_coverage_counts_no_lines_of_files_elsewhere(story: Project, run_vibes: RunVibes) -> None:
    (story.root.parent / "elsewhere.py").write_text(STORY, encoding="utf-8")
    (story.root / "c.py").symlink_to("../elsewhere.py")
    Repository(story.root).commit("All")
    found = run_vibes("stats", "--by", "file", "--json", cwd=story.root).json
    assert [each["filePath"] for each in found["files"]] == ["a.py", "b.py"]


def test_coverage_without_files_says_which_files_count(tmp_path: Path, run_vibes: RunVibes) -> None:
    project = Project(tmp_path / "empty")
    project.config()
    assert "no files to count" in run_vibes("stats", "--by", "file", cwd=project.root).lines[-1]


def test_bands_are_those_of_the_current_score(tmp_path: Path, run_vibes: RunVibes) -> None:
    project = Project(tmp_path / "scored")
    project.config(risk_scoring={"enabled": True, "weights": {"human_review_present": 100}})
    project.environment()
    approved = project.line("a.py", 4, 7, text=STORY, risk_score=0.9)
    other = project.line("a.py", 10, 13, text=STORY, risk_score=0.1)
    project.review(approved)
    project.file("a.py")
    found = {
        band: run_vibes("find", "--band", band, "--json", cwd=project.root).json["placements"]
        for band in ("low", "critical")
    }
    assert {
        band: [each["annotationId"] for each in placements] for band, placements in found.items()
    } == {
        "low": [approved],
        "critical": [other],
    }
    (placement,) = found["low"]
    assert (placement["score"] < 0.01, placement["storedScore"]) == (True, 0.9)
    assert " critical " in run_vibes("blame", "a.py", cwd=project.root).lines[9]
