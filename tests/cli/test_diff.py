"""`vibes diff`: only the AI lines of a change, between two commits or in the work tree."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import pytest

from tests.cli.run_vibes import vibes
from tests.server.project import STORY, Project
from tests.trails import Repository

if TYPE_CHECKING:
    from pathlib import Path

    from tests.cli.run_vibes import RunVibes

BEFORE = "import hashlib\n"
VERIFIED = {"verifiedLines": 8, "claimedLines": 0, "editedLines": 0}
PERSON = "\n\ndef mine() -> int:\n    return 1\n"


class Story(Project):
    """A repository with two commits: one without AI, one with two AI functions and a human one."""

    def __init__(self, root: Path) -> None:
        super().__init__(root)
        self.repository = Repository(root, start="2026-02-05T09:00:00+00:00")
        self.config(tracked_extensions=[".py"])
        self.environment()
        self.file("a.py", BEFORE)
        self.file("notes.txt", "nothing\n")
        self.base = self.repository.commit("Begin")
        self.digest = self.line(
            "a.py", 4, 7, text=STORY, prompt=self.prompt("Write a digest."), risk_score=0.7
        )
        self.same = self.line("a.py", 10, 13, text=STORY)
        self.review(self.same)
        self.file("a.py", STORY + PERSON)
        self.file("notes.txt", "nothing\nmore\n")
        self.head = self.repository.commit("Go on")


@pytest.fixture
def story(tmp_path: Path) -> Story:
    return Story(tmp_path / "story")


def told(run_vibes: RunVibes, story: Story, *arguments: str) -> Any:
    done = run_vibes("diff", *arguments, "--json", cwd=story.root)
    assert (done.code, done.err) == (0, "")
    return done.json


def ranges(found: Any) -> list[tuple[str, int, int]]:
    return [
        (file["filePath"], each["lineStart"], each["lineEnd"])
        for file in found["files"]
        for each in file["ranges"]
    ]


def test_it_shows_code_first_then_its_annotations(story: Story) -> None:
    done = vibes("diff", f"{story.base}..{story.head}", cwd=story.root)
    assert (done.code, done.err) == (0, "")
    text = (STORY + PERSON).splitlines()
    marks = dict.fromkeys((*range(4, 8), *range(10, 14)), "+")
    digest, risk, prompt, same, end, total = done.lines[17:]
    assert done.lines[:17] == [
        "a.py  8 verified of 16 changed lines",
        *(f"  {n:>2} {marks.get(n, ' ')} {text[n - 1]}".rstrip() for n in range(1, 17)),
    ]
    age = r"(just now|\d+ \w+ ago)"
    assert re.fullmatch(
        f"  {story.digest[:8]} claude-opus-4-5 · create · unchanged since · {age} · not reviewed",
        digest,
    )
    assert (risk, prompt) == ("  risk: 0.70 high (as recorded)", "  prompt: Write a digest.")
    assert re.fullmatch(
        f"  {story.same[:8]} claude-opus-4-5 · create · unchanged since · {age} · approved by Ada",
        same,
    )
    assert (end, total) == (
        "",
        (
            "AI lines: 8 verified of 16 changed lines (50% verified), in 1 of 1 changed files;"
            " 4 unreviewed"
        ),
    )


def test_replaced_lines_stand_before_those_that_replace_them(
    story: Story, run_vibes: RunVibes
) -> None:
    new = STORY.replace("left == right", "left is right")
    story.line("a.py", 13, 13, text=new, action="modify")
    story.file("a.py", new + PERSON)
    lines = run_vibes("diff", cwd=story.root).lines
    at = lines.index("  13 +     return left is right")
    assert lines[at - 1] == "     -     return left == right"
    assert lines[at - 2] == "  12       right = digest(other)"


def test_json_has_the_placements_and_the_lines(story: Story, run_vibes: RunVibes) -> None:
    found = told(run_vibes, story, f"{story.base}..HEAD")
    assert (found["base"], found["head"], found["unread"]) == (story.base, story.head, [])
    assert found["total"] == {
        "files": 1,
        "changedLines": 16,
        **VERIFIED,
        "unreviewedLines": 4,
        "share": 0.5,
    }
    (file,) = found["files"]
    assert (file["filePath"], file["changedLines"]) == ("a.py", 16)
    assert VERIFIED.items() <= file.items()
    assert [each["annotationId"] for each in file["ranges"]] == [story.digest, story.same]
    assert file["ranges"][0]["lines"][0] == {
        "line": 4,
        "kind": "ai",
        "text": "def digest(payload: bytes) -> str:",
    }
    digest, same = file["placements"]
    assert (digest["annotationId"], digest["prompt"], digest["band"], digest["review"]) == (
        story.digest,
        "Write a digest.",
        "high",
        None,
    )
    assert same["review"]["verdict"] == "approved"


def test_staged_lines_are_those_of_the_next_commit(story: Story, run_vibes: RunVibes) -> None:
    assert told(run_vibes, story, "--staged")["files"] == []
    new = STORY.replace("left == right", "left is right")
    story.line("a.py", 13, 13, text=new, action="modify")
    story.file("a.py", new + PERSON)
    story.repository.git("add", "a.py")
    story.file("a.py", "nothing = 1\n")
    found = told(run_vibes, story, "--staged")
    assert (ranges(found), found["head"]) == ([("a.py", 13, 13)], None)
    assert found["total"]["unreviewedLines"] == 1
    assert ranges(told(run_vibes, story)) == []
    since = told(run_vibes, story, story.base, "--staged")
    assert ranges(since) == [("a.py", 4, 7), ("a.py", 10, 12), ("a.py", 13, 13)]
    refused = run_vibes("diff", "--staged", f"{story.base}..HEAD", cwd=story.root)
    assert refused.code == 2
    assert "name one commit" in refused.err


def test_unchanged_lines_are_not_shown(story: Story, run_vibes: RunVibes) -> None:
    story.file(
        "a.py",
        "# one\n" + STORY.replace("left = digest(one)", "left = digest(one or b'')") + PERSON,
    )
    story.repository.commit("Change one line")
    found = told(run_vibes, story, "HEAD~1..HEAD")
    assert ranges(found) == [], "the line is a person's, and the others are unchanged"
    assert found["total"]["changedLines"] == 2


def test_staged_new_and_unstaged_files_of_the_work_tree_count(
    story: Story, run_vibes: RunVibes
) -> None:
    assert ranges(told(run_vibes, story)) == []
    assert run_vibes("diff", cwd=story.root).out == "AI lines: 0 verified of 0 changed lines\n"
    story.annotated("new.py")
    story.annotated("staged.py")
    story.repository.git("add", "staged.py")
    story.file("a.py", STORY + PERSON + "x = 1\n")
    assert ranges(told(run_vibes, story)) == [("new.py", 4, 7), ("staged.py", 4, 7)]
    assert ranges(told(run_vibes, story, story.base)) == [
        ("a.py", 4, 7),
        ("a.py", 10, 13),
        ("new.py", 4, 7),
        ("staged.py", 4, 7),
    ]
    assert told(run_vibes, story)["head"] is None


def test_a_range_compares_commits_not_the_work_tree(story: Story, run_vibes: RunVibes) -> None:
    newer = story.line(
        "a.py", 1, 3, text="one\ntwo\nthree\n", action="modify", timestamp="2026-02-06T10:00:00Z"
    )
    story.edge(
        "supersedes", newer, story.digest, target_type="annotation", metadata={"reason": "covers"}
    )
    story.file("a.py", "one\ntwo\nthree\n")
    assert ranges(told(run_vibes, story, f"{story.base}..{story.head}")) == [
        ("a.py", 4, 7),
        ("a.py", 10, 13),
    ]
    assert ranges(told(run_vibes, story)) == [("a.py", 1, 3)]


def test_three_dots_compare_with_the_merge_base(story: Story, run_vibes: RunVibes) -> None:
    story.repository.switch("side", create=True)
    story.annotated("side.py")
    story.repository.commit("On the side")
    story.repository.switch("main")
    story.file("main.py", "x = 1\n")
    story.repository.commit("On main")
    done = run_vibes("diff", "main...side", "--json", cwd=story.root)
    assert done.json["base"] == story.head
    assert "not an ancestor of HEAD" in done.err
    story.repository.git("checkout", "--quiet", "side")
    assert ranges(told(run_vibes, story, "main...side")) == [("side.py", 4, 7)]
    assert ranges(told(run_vibes, story, "main...")) == [("side.py", 4, 7)]


def test_a_renamed_file_is_compared_with_its_old_path(story: Story, run_vibes: RunVibes) -> None:
    story.repository.git("mv", "a.py", "b.py")
    assert ranges(told(run_vibes, story)) == []
    story.repository.commit("Rename")
    story.file(
        "b.py", (STORY + PERSON).replace("right = digest(other)", "right = digest(other[:])")
    )
    story.repository.commit("Change")
    (file,) = told(run_vibes, story, "HEAD~2..HEAD")["files"]
    assert (file["filePath"], file["formerPath"], file["changedLines"]) == ("b.py", "a.py", 1)


def test_binary_deleted_and_linked_files_have_no_lines(story: Story, run_vibes: RunVibes) -> None:
    story.annotated("blob.py", text=STORY + "\0")
    (story.root / "link.py").symlink_to("a.py")
    (story.root / "a.py").unlink()
    assert ranges(told(run_vibes, story)) == []
    story.repository.commit("All")
    assert ranges(told(run_vibes, story, "HEAD~1..HEAD")) == []


def test_a_project_in_a_folder_of_the_repository(tmp_path: Path, run_vibes: RunVibes) -> None:
    repository = Repository(tmp_path / "top", start="2026-02-05T09:00:00+00:00")
    repository.write("elsewhere.py", "x = 1\n")
    repository.commit("Begin")
    project = Project(tmp_path / "top" / "inner")
    project.config()
    project.environment()
    project.annotated("a.py")
    repository.write("elsewhere.py", "x = 2\n")
    assert ranges(run_vibes("diff", "--json", cwd=project.root).json) == [("a.py", 4, 7)]
    repository.commit("More")
    found = run_vibes("diff", "HEAD~1..HEAD", "--json", cwd=project.root).json
    assert (ranges(found), found["total"]["files"]) == ([("a.py", 4, 7)], 1)


def test_line_ends_are_ignored(story: Story, run_vibes: RunVibes) -> None:
    story.file("a.py", (STORY + PERSON).replace("\n", "\r\n"))
    assert told(run_vibes, story)["total"]["changedLines"] == 0


def test_hostile_text_is_inert(story: Story, run_vibes: RunVibes) -> None:
    text = 'x = "\x1b]0;owned\x07\u202e"\n' * 3
    story.line("evil.py", 1, 3, text=text, prompt=story.prompt("\x1b[2Jgone\nand more"))
    story.file("evil.py", text)
    out = run_vibes("diff", cwd=story.root).out
    assert not {"\x1b", "\x07", "\u202e"} & set(out)
    assert "\\u001b]0;owned\\u0007\\u202e" in out


@pytest.mark.parametrize(
    ("span", "said"),
    [("nowhere..HEAD", "'nowhere' names no commit here"), ("--output=x..HEAD", "no such option")],
)
def test_an_unknown_revision_is_refused(
    story: Story, run_vibes: RunVibes, span: str, said: str
) -> None:
    done = run_vibes("diff", span, cwd=story.root)
    assert (done.code, done.out, done.err.count("\n")) == (2, "", 1)
    assert said in done.err


def test_without_git_it_is_an_error(tmp_path: Path, run_vibes: RunVibes) -> None:
    project = Project(tmp_path / "own")
    project.config()
    project.environment()
    project.annotated()
    done = run_vibes("diff", cwd=project.root)
    assert (done.code, done.out, done.err.count("\n")) == (2, "", 1)
    assert "not in a git repository" in done.err


def test_no_program_that_the_repository_names_is_run(story: Story, run_vibes: RunVibes) -> None:
    story.repository.configure_programs()
    story.file("a.py", STORY + PERSON + "x = 1\n")
    told(run_vibes, story)
    told(run_vibes, story, f"{story.base}..HEAD")
    assert not story.repository.programs_run()
