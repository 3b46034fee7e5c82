"""`vibes review` at a terminal: a person sees an annotation and gives a verdict with one key."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Final

import pytest

from tests.cli.review_project import ReviewProject, queue
from tests.cli.terminal import Terminal, terminal
from tests.server.project import STORY
from tests.trails import Repository

if TYPE_CHECKING:
    from pathlib import Path

    from tests.cli.run_vibes import RunVibes

pytestmark = [
    pytest.mark.skipif(
        sys.platform == "win32", reason="Windows has no pseudo-terminal that a test could hold"
    ),
]
QUESTION: Final = "[?] "


@pytest.fixture
def story(tmp_path: Path) -> ReviewProject:
    return ReviewProject(tmp_path / "story")


def answer(shown: Terminal, *keys: str) -> str:
    """Answer questions one by one; return the last output."""
    text = ""
    for key in keys:
        text = shown.wait_for(QUESTION)
        shown.press(key)
    return text


def test_each_annotation_is_shown_with_its_code_first(story: ReviewProject) -> None:
    Repository(story.root, start="2026-02-05T09:00:00+00:00").commit("All")
    story.file(
        "a.py",
        STORY.replace("    seen = hashlib.sha256(payload)\n", "    seen = hashlib.sha1(payload)\n"),
    )
    story.review(story.digest, note="Not yet.", verdict="rejected", text_hash="0" * 64)
    with terminal("review", cwd=story.root) as shown:
        text = shown.wait_for(QUESTION)
        shown.press("?")
        details = shown.wait_for(QUESTION)
        shown.press("q")
        assert shown.wait_for_exit() == 0
    parts = (
        "3 to review as Ada Example",
        "1 of 3  a.py:4-7\n",
        "\n 1   import hashlib\n",
        "\n 4 + def digest(payload: bytes) -> str:\n",
        "\n 6       seen = hashlib.sha1(payload)\n",
        "\n10   def same(",
        "claude-opus-4-5 · Claude Code · create · edited since: 3 of 4 lines\n  unchanged",
        "risk: 0.90 critical (as recorded)",
        "prompt: Store it.",
        "review: rejected by Ada, but the lines have changed since",
    )
    assert [text.index(part) for part in parts] == sorted(text.index(part) for part in parts)
    for part in (
        "decision: Which digest",
        "  chosen: SHA-256",
        "  not chosen: BLAKE2",
        "  because: It was asked for.",
        "review: rejected by Ada 2026-",
        ", stale: Not yet.",
        "a  approve these lines",
    ):
        assert part in details
        assert part not in text


@pytest.mark.parametrize("is_committed", [True, False])
def test_the_lines_that_the_edit_replaced_are_shown(tmp_path: Path, *, is_committed: bool) -> None:
    root = tmp_path / "story"
    repository = Repository(root, start="2026-02-01T09:00:00+00:00")
    before = STORY.replace("hashlib.sha256(payload)\n", "0\n    seen = hashlib.md5(payload)\n")
    (root / "a.py").write_text(before.replace("left == right", "True"), encoding="utf-8")
    repository.commit("Before")
    story = ReviewProject(root)
    if is_committed:
        repository.commit("All")
        story.file("a.py", STORY.replace("import hashlib\n", "import hashlib  # standard\n"))
    with terminal("review", "--file", "a.py", cwd=story.root) as shown:
        text = shown.wait_for(QUESTION)
        shown.press("q")
        assert shown.wait_for_exit() == 0
    replaced = (
        "\n   -     seen = 0\n   -     seen = hashlib.md5(payload)\n"
        " 6 +     seen = hashlib.sha256(payload)\n"
    )
    assert replaced in text
    assert "return True" not in text, "another annotation replaced it"


@pytest.mark.parametrize("program", ["vim", "other"])
def test_a_key_opens_the_editor(story: ReviewProject, tmp_path: Path, program: str) -> None:
    editor = tmp_path / program
    editor.write_text(
        "#!/bin/sh\n"
        'printf "%s," "$@" > opened\n'
        'for file in "$@"; do :; done\n'
        'sed -i.bak s/sha256/sha512/ "$file"\n'
    )
    editor.chmod(0o755)
    with terminal("review", cwd=story.root, EDITOR=str(editor)) as shown:
        answer(shown, "e")
        assert "6 ?     seen = hashlib.sha512(payload)" in answer(shown, "q")
        assert shown.wait_for_exit() == 0
    line = "+4," if program == "vim" else ""
    assert (story.root / "opened").read_text() == f"{line}{story.root / 'a.py'},"


@pytest.mark.parametrize(
    ("editor", "problem"),
    [
        ("", "no editor: set the environment variable EDITOR"),
        ("no-such-program", "Editing failed"),
        ("vim 'open", "invalid EDITOR"),
    ],
)
def test_an_editor_that_does_not_start_leaves_the_question(
    story: ReviewProject, editor: str, problem: str
) -> None:
    with terminal("review", cwd=story.root, EDITOR=editor, VISUAL="") as shown:
        answer(shown, "e")
        assert problem in answer(shown, "q")
        assert shown.wait_for_exit() == 0


def test_a_key_for_each_verdict(story: ReviewProject) -> None:
    with terminal("review", cwd=story.root) as shown:
        assert "a.py:4-7" in answer(shown, "a")
        assert "b/c.py:4-7" in answer(shown, "r")
        shown.wait_for("note (Enter: none, Ctrl-D: back): ")
        shown.press("No tests, no salt.\n")
        assert "a.py:10-13" in answer(shown, "s")
        shown.wait_for("1 approved, 1 rejected, 1 left")
        assert shown.wait_for_exit() == 0
        assert shown.echoes
    assert story.verdicts() == [
        (story.digest, "approved", None),
        (story.other, "rejected", "No tests, no salt."),
    ]


def test_a_review_is_recorded_for_whom_it_names(story: ReviewProject, run_vibes: RunVibes) -> None:
    with terminal("review", "--reviewer", "Grace", "--file", "b", cwd=story.root) as shown:
        answer(shown, "a")
        shown.wait_for("1 approved, 0 rejected, 0 left")
        assert shown.wait_for_exit() == 0
    (found,) = run_vibes("find", "--file", "b/c.py", "--json", cwd=story.root).json["placements"]
    assert (found["review"]["by"], found["review"]["kind"], found["review"]["stale"]) == (
        "Grace",
        "human",
        False,
    )
    assert run_vibes("check", cwd=story.root).code == 0


def test_going_back_gives_another_verdict(story: ReviewProject, run_vibes: RunVibes) -> None:
    with terminal("review", cwd=story.root) as shown:
        answer(shown, "a", "b")
        assert "approved by Ada Example" in answer(shown, "r")
        shown.wait_for("note (Enter: none, Ctrl-D: back): ")
        shown.press("\n")
        answer(shown, "q")
        shown.wait_for("0 approved, 1 rejected, 2 left")
        assert shown.wait_for_exit() == 0
    assert story.verdicts() == [(story.digest, "approved", None), (story.digest, "rejected", None)]
    assert queue(run_vibes, story) == [("b/c.py", 4), ("a.py", 10), ("a.py", 4)]


def test_a_rejection_can_be_cancelled(story: ReviewProject) -> None:
    with terminal("review", cwd=story.root) as shown:
        answer(shown, "r")
        shown.wait_for("note (Enter: none, Ctrl-D: back): ")
        shown.press("\x04")
        answer(shown, "q")
        assert shown.wait_for_exit() == 0
    assert story.verdicts() == []


def test_a_verdict_on_lines_that_changed_meanwhile_is_not_recorded(story: ReviewProject) -> None:
    with terminal("review", cwd=story.root) as shown:
        shown.wait_for(QUESTION)
        story.file("a.py", STORY.replace("sha256(payload)", "md5(payload)"))
        shown.press("a")
        text = shown.wait_for(QUESTION)
        assert "not recorded: a.py: the lines of" in text
        assert "\n 6 ?     seen = hashlib.md5(payload)" in text
        assert story.verdicts() == []
        shown.press("a")
        answer(shown, "q")
        assert shown.wait_for_exit() == 0
    assert story.verdicts() == [(story.digest, "approved", None)]


def test_an_annotation_is_shown_as_it_is_when_its_question_comes(story: ReviewProject) -> None:
    with terminal("review", cwd=story.root) as shown:
        shown.wait_for(QUESTION)
        (story.root / "b" / "c.py").unlink()
        story.review(story.same)
        shown.press("s")
        text = shown.wait_for("0 approved, 0 rejected, 3 left")
        assert "b/c.py: " in text
        assert "not found any more" in text
        assert "a.py:10" not in text
        assert shown.wait_for_exit() == 0


@pytest.mark.parametrize(("key", "code"), [("\x03", 130), ("\x04", 0), ("q", 0)])
def test_quitting_loses_no_verdict(story: ReviewProject, key: str, code: int) -> None:
    with terminal("review", cwd=story.root) as shown:
        answer(shown, "a", key)
        shown.wait_for("1 approved, 0 rejected, 2 left")
        assert shown.wait_for_exit() == code
        assert shown.echoes
        assert "Traceback" not in shown.whole
    assert story.verdicts() == [(story.digest, "approved", None)]


def test_closing_the_terminal_loses_no_verdict(story: ReviewProject) -> None:
    with terminal("review", cwd=story.root) as shown:
        answer(shown, "a")
        shown.wait_for("2 of 3")
    assert story.verdicts() == [(story.digest, "approved", None)]


def test_a_window_of_another_size_changes_nothing(story: ReviewProject) -> None:
    with terminal("review", cwd=story.root, COLUMNS="") as shown:
        shown.wait_for(QUESTION)
        shown.resize(10, 30)
        shown.press("a")
        answer(shown, "q")
        shown.wait_for("1 approved")
        assert shown.wait_for_exit() == 0


def test_a_resumed_program_reads_keys_again(story: ReviewProject) -> None:
    with terminal("review", cwd=story.root) as shown:
        shown.wait_for(QUESTION)
        shown.suspend_and_resume()
        shown.press("a")
        answer(shown, "q")
        shown.wait_for("1 approved")
        assert shown.wait_for_exit() == 0
        assert shown.echoes
    assert story.verdicts() == [(story.digest, "approved", None)]


def test_only_a_single_key_is_a_verdict(story: ReviewProject) -> None:
    with terminal("review", cwd=story.root) as shown:
        answer(shown, "\x1b[A", "aaa", "?")
        assert "a  approve these lines" in answer(shown, "q")
        assert shown.wait_for_exit() == 0
    assert story.verdicts() == []


def test_a_long_range_is_approved_only_after_all_lines_were_shown(
    story: ReviewProject,
) -> None:
    long = "".join(f"value_{number} = {number}\n" for number in range(400))
    story.line("long.py", 1, 400, text=long, risk_score=0.95)
    story.file("long.py", long)
    with terminal("review", "--file", "long.py", cwd=story.root) as shown:
        text = answer(shown, "a")
        assert "100 of 400 lines not shown" in text
        assert "value_300 " not in text
        assert "not all lines were shown" in answer(shown, "v")
        assert "value_399 = 399" in answer(shown, "a")
        shown.wait_for("1 approved")
        assert shown.wait_for_exit() == 0


def test_a_long_line_is_shown_to_its_end(story: ReviewProject) -> None:
    long = f"value = '{'-' * 1000}', hidden()\n"
    story.line("long.py", 1, 1, text=long, risk_score=0.95)
    story.file("long.py", long)
    with terminal("review", "--file", "long.py", cwd=story.root) as shown:
        assert "-', hidden()" in answer(shown, "q")
        assert shown.wait_for_exit() == 0


def test_hostile_text_is_inert(story: ReviewProject) -> None:
    text = 'x = "\x1b]0;owned\x07\u202e"\n' * 3
    evil = story.line(
        "evil.py", 1, 3, text=text, prompt=story.prompt("\x1b[2Jgone\nand more"), risk_score=1.0
    )
    story.review(evil, kind="ai", reviewer="\x1b[31mCritic", note="\x07")
    story.file("evil.py", text)
    with terminal(
        "review",
        "--file",
        "evil.py",
        "--reviewer",
        "\x1b[5mEve",
        cwd=story.root,
        NO_COLOR="1",
        TERM="dumb",
    ) as shown:
        answer(shown, "q")
        assert shown.wait_for_exit() == 0
        assert not {"\x1b", "\x07", "\u202e"} & set(shown.whole)
        assert "\\u001b]0;owned\\u0007\\u202e" in shown.whole


def test_without_a_reviewer_name_nothing_is_asked(story: ReviewProject) -> None:
    Repository(story.root).git("config", "--unset", "user.name")
    with terminal(
        "review", cwd=story.root, GIT_CONFIG_GLOBAL="/dev/null", GIT_CONFIG_SYSTEM="/dev/null"
    ) as shown:
        assert shown.wait_for_exit() == 2
        assert "reviewer: is required" in shown.whole


def test_an_empty_queue(story: ReviewProject) -> None:
    with terminal("review", "--band", "low", cwd=story.root) as shown:
        shown.wait_for("nothing to review")
        assert shown.wait_for_exit() == 0


def test_a_trail_that_cannot_be_written_ends_the_dialogue(story: ReviewProject) -> None:
    manifest = story.root / ".ai-audit" / "manifest.json"
    with terminal("review", cwd=story.root) as shown:
        shown.wait_for(QUESTION)
        manifest.write_text('{"standard": "VIBES", "version": "9.0", "entries": {}}')
        shown.press("a")
        assert shown.wait_for_exit() == 2
        assert "vibes: " in shown.whole
        assert "Traceback" not in shown.whole
        assert shown.echoes
    assert story.verdicts() == []
