"""Wrong attribution that users of other tools reported publicly: each report is a session here.

Expected answers show each line after the mark of `vibes blame`: `+` verified as an agent wrote it,
`~` edited since, `?` claimed without proof, none for a line of no annotation.
"""

from __future__ import annotations

import subprocess
from textwrap import dedent
from typing import TYPE_CHECKING

import pytest

from tests.stories.scripted_agents import AgentProject, ClaudeCode, Codex, CopilotCli, GeminiCli
from vibes_lsp.store.audit_dir import AuditDir
from vibes_lsp.trail.trail import Trail

if TYPE_CHECKING:
    from pathlib import Path


APP = "import sys\n\n\ndef main():\n    return 0\n"


@pytest.fixture
def project(tmp_path: Path) -> AgentProject:
    """A project with one committed file, written by a person."""
    made = AgentProject(tmp_path / "project")
    made.write("app.py", APP)
    made.commit()
    return made


def unmarked(text: str) -> str:
    """Return what blame shows of a file without annotations."""
    return "\n".join(f"  {line}".rstrip() for line in text.splitlines())


def shown(marked: str) -> str:
    return dedent(marked).strip("\n")


def lines_with(mark: str, blame: str) -> list[str]:
    return [line[2:] for line in blame.splitlines() if line.startswith(mark)]


def test_a_review_without_a_change_claims_no_line(project: AgentProject) -> None:
    """Unchanged lines changed their author after an agent reviewed the file.

    https://github.com/git-ai-project/git-ai/issues/355
    """
    claude = ClaudeCode(project)
    claude.prompt("Review app.py. Do not change it.")
    claude.read("app.py")
    claude.stop()
    project.commit()
    assert project.blame("app.py") == unmarked(APP)


def test_what_a_person_fixes_after_a_review_is_not_the_agents(project: AgentProject) -> None:
    """A person's fixes were shown as Codex's, which had only reviewed the staged code.

    https://github.com/git-ai-project/git-ai/issues/761
    """
    codex = Codex(project)
    project.write("app.py", APP.replace("return 0", "return -0"))
    project.git("add", "app.py")
    codex.prompt("Review the staged code. Do not change it.")
    codex.run("git diff --cached && cat app.py")
    mended = APP.replace("return 0", "sys.exit(0)")
    project.write("app.py", mended)
    project.commit()
    assert project.blame("app.py") == unmarked(mended)


def test_a_line_that_a_person_adds_after_the_agents_is_not_the_agents(
    project: AgentProject,
) -> None:
    """A person's lines were the agent's when no event came between its edit and the commit.

    https://github.com/git-ai-project/git-ai/issues/2067
    """
    claude = ClaudeCode(project)
    claude.edit("app.py", "    return 0\n", "    run()\n    return 0\n")
    project.record()
    project.write("app.py", project.text("app.py") + "\n\nmain()\n")
    claude.run("cat app.py")
    project.commit()
    expected = shown(
        """
          import sys


          def main():
        +     run()
              return 0


          main()
        """
    )
    assert project.blame("app.py") == expected
    claude.edit("app.py", "import sys\n", "import os\nimport sys\n")
    project.commit()
    assert project.blame("app.py") == f"+ import os\n{expected}"


def test_a_formatter_does_not_make_an_agents_code_a_persons(project: AgentProject) -> None:
    """Code that an agent wrote was a person's after the editor had formatted it.

    https://github.com/git-ai-project/git-ai/issues/1658
    """
    ClaudeCode(project).write("A.java", "public abstract class AbstractClass {}\n")
    project.write("A.java", "    public abstract class AbstractClass {\n}\n")
    project.commit()
    assert project.blame("A.java") == "~     public abstract class AbstractClass {\n~ }"


def test_a_persons_edit_of_a_file_does_not_lose_the_agents_lines(project: AgentProject) -> None:
    """All attribution of a file was lost after a person had edited it before the commit.

    https://github.com/git-ai-project/git-ai/issues/1444
    """
    claude = ClaudeCode(project)
    claude.write("parse.py", "def parse(text):\n    parts = text.split()\n    return parts\n")
    project.write(
        "parse.py",
        '"""Parses."""\n\n\ndef parse(text):\n    parts = text.split(",")\n    return parts\n',
    )
    project.commit()
    assert project.blame("parse.py") == shown(
        '''
          """Parses."""


        + def parse(text):
        ~     parts = text.split(",")
        +     return parts
        '''
    )


def test_one_edited_line_does_not_change_its_neighbours(project: AgentProject) -> None:
    """One or two edited lines in an agent's list made ten lines a person's.

    https://github.com/git-ai-project/git-ai/issues/589
    """
    items = [f"- **Step {number}**: run `make step-{number}` and wait.\n" for number in range(50)]
    ClaudeCode(project).write("README.md", "".join(items))
    project.commit()
    items[20] = items[20].replace("wait", "look")
    items[21] = items[21].replace("run", "start")
    project.write("README.md", "".join(items))
    project.commit()
    blame = project.blame("README.md")
    assert len(lines_with("+", blame)) == 48
    assert len(blame.splitlines()) == 50


def test_empty_lines_that_an_agent_wrote_are_the_agents(project: AgentProject) -> None:
    """Empty lines of a file that an agent wrote were a person's, and so were some lines after them.

    https://github.com/git-ai-project/git-ai/issues/619
    """
    gemini = GeminiCli(project)
    lines = ("import os", "", "", "def set_up_project():", "", "    return status_of(1)")
    gemini.write("setup.py", "\n".join((*lines, "", "", "set_up_project(1)", "")))
    sync = "    os.sync_everything()\n\n    return status_of(2)\n"
    gemini.edit("setup.py", "    return status_of(1)\n", sync)
    project.commit()
    blame = project.blame("setup.py").splitlines()
    assert len(blame) == 11
    assert {line[0] for line in blame} == {"+"}


def test_an_agent_that_deletes_its_own_line_claims_no_line_of_a_person(
    project: AgentProject,
) -> None:
    """A person's new lines were the agent's after it had deleted one of its own in the same commit.

    https://github.com/git-ai-project/git-ai/issues/193
    """
    project.write("data.txt", "base one\nbase two\nbase three\n")
    project.commit()
    claude = ClaudeCode(project)
    claude.edit("data.txt", "base three\n", "agent one\nagent two\nagent three\nbase three\n")
    project.commit()
    project.write(
        "data.txt", project.text("data.txt").replace("base three\n", "mine\nmine too\nbase three\n")
    )
    claude.edit("data.txt", "agent two\n", "")
    claude.edit("data.txt", "base one\n", "base one\nagent four\n")
    project.commit()
    assert project.blame("data.txt") == shown(
        """
          base one
        + agent four
          base two
        + agent one
        + agent three
          mine
          mine too
          base three
        """
    )


def test_a_line_that_a_person_rewrites_is_not_the_agents_any_more(project: AgentProject) -> None:
    """A rewritten line stayed the agent's when the commit came from a plain editor.

    https://github.com/git-ai-project/git-ai/issues/2344
    """
    Codex(project).edit("app.py", "    return 0\n", "    code = run()\n    return code\n")
    project.commit()
    project.write(
        "app.py", project.text("app.py").replace("code = run()", "code = start(sys.argv)")
    )
    project.commit()
    assert project.blame("app.py").splitlines()[-2:] == [
        "      code = start(sys.argv)",
        "+     return code",
    ]


def test_a_file_that_a_person_writes_again_is_not_the_agents(project: AgentProject) -> None:
    """A file that a person had emptied and written again was 100 % the agent's.

    https://github.com/git-ai-project/git-ai/issues/727
    """
    ClaudeCode(project).write("parse.py", "def parse(text):\n    return text.split()\n")
    project.commit()
    own = "class Reader:\n    def __init__(self, file):\n        self.file = file\n"
    project.write("parse.py", "")
    project.write("parse.py", own)
    project.commit()
    assert lines_with("+", project.blame("parse.py")) == []
    assert lines_with("?", project.blame("parse.py")) == []


def test_a_method_that_resembles_its_neighbours_is_the_agents_as_a_whole(
    project: AgentProject,
) -> None:
    """One line of a new method was lost because the methods around it have the same line.

    https://github.com/git-ai-project/git-ai/issues/1138
    """
    method = "    /**\n     * Returns {0}.\n     */\n    int {0}() {{\n        return 1;\n    }}\n"
    one, two, three = (method.format(name) for name in ("one", "two", "three"))
    project.write("A.java", f"class A {{\n{one}\n{three}}}\n")
    project.commit()
    ClaudeCode(project).edit(
        "A.java", "    /**\n     * Returns three.", f"{two}\n    /**\n     * Returns three."
    )
    project.commit()
    blame = project.blame("A.java")
    assert len(lines_with("+", blame)) == 7
    added = [number for number, line in enumerate(blame.splitlines()) if line.startswith("+")]
    assert added == list(range(added[0], added[0] + 7))
    assert blame.splitlines()[added[0] : added[0] + 7].count("+      * Returns two.") == 1


def test_a_squash_by_the_host_keeps_the_agents_lines(project: AgentProject) -> None:
    """After a host's squash, attribution was on other commits than the squashed one.

    https://github.com/git-ai-project/git-ai/issues/1473
    """
    project.git("switch", "--quiet", "--create", "topic")
    claude = ClaudeCode(project)
    claude.write("one.py", "one = 1\n")
    project.commit()
    claude.edit("app.py", "    return 0\n", "    return one\n")
    project.commit()
    project.git("switch", "--quiet", "main")
    project.write("other.py", "other = 1\n")
    project.commit()
    without_hooks = ("-c", "core.hooksPath=/nowhere")
    project.git("merge", "--quiet", "--squash", "topic")
    project.git(*without_hooks, "commit", "--quiet", "--message", "One (#1)")
    squashed = project.repository.head()
    project.git("branch", "--quiet", "-D", "topic")
    assert project.blame("one.py") == "+ one = 1"
    assert project.blame("app.py").splitlines()[-1] == "+     return one"
    assert project.blame("other.py") == "  other = 1"
    [owner] = project.placements("one.py")["placements"]
    assert owner["commitHash"] == squashed


def test_a_rebase_keeps_the_agents_lines(project: AgentProject) -> None:
    """After a rebase an agent's lines were the committer's.

    https://github.com/git-ai-project/git-ai/issues/97
    """
    project.git("switch", "--quiet", "--create", "topic")
    Codex(project).create("a.txt", "written by the agent\n")
    project.commit()
    project.git("switch", "--quiet", "main")
    project.write("b.txt", "written by a person\n")
    project.commit()
    project.git("switch", "--quiet", "topic")
    project.git("rebase", "--quiet", "main")
    assert project.blame("a.txt") == "+ written by the agent"
    assert project.blame("b.txt") == "  written by a person"
    [owner] = project.placements("a.txt")["placements"]
    assert owner["commitHash"] == project.repository.head()


def test_an_agent_in_another_repository_claims_no_line_here(
    project: AgentProject, tmp_path: Path
) -> None:
    """Lines typed by a person were of an agent whose session was in another repository.

    https://github.com/git-ai-project/git-ai/issues/2362
    """
    other = AgentProject(tmp_path / "other")
    claude = ClaudeCode(other)
    claude.write("app.py", APP + "\n\nmain()\n")
    project.write("app.py", APP + "\n\nmain()\n")
    project.commit()
    assert project.blame("app.py") == unmarked(APP + "\n\nmain()\n")
    assert lines_with("+", other.blame("app.py"))[-1] == "main()"


def test_each_of_two_agents_in_one_file_has_its_own_lines(project: AgentProject) -> None:
    """An edit of Codex was recorded as Claude Code's, whose session was open at the same time.

    https://github.com/git-ai-project/git-ai/issues/1204
    """
    claude, codex = ClaudeCode(project), Codex(project, "01a20261")
    claude.prompt("Stop with 1.")
    codex.prompt("Import os.")
    codex.edit("app.py", "import sys\n", "import os\nimport sys\n")
    claude.read("app.py")
    claude.edit("app.py", "    return 0\n", "    return 1\n")
    project.commit()
    assert project.tools("app.py") == {1: "Codex", 6: "Claude Code"}


def test_an_agent_that_changes_the_line_ends_claims_only_what_it_changed(
    project: AgentProject,
) -> None:
    """Every line of a file was the agent's when it saved one changed line with other line ends.

    https://github.com/git-ai-project/git-ai/pull/1368
    """
    changed = APP.replace("return 0", "return 1")
    ClaudeCode(project).write("app.py", changed.replace("\n", "\r\n"))
    project.commit()
    assert lines_with("+", project.blame("app.py")) == ["    return 1"]
    assert lines_with(" ", project.blame("app.py"))[-1] == "def main():"


def test_a_file_with_a_name_outside_ascii_keeps_its_lines(project: AgentProject) -> None:
    """Attribution was lost for files with Chinese names.

    https://github.com/git-ai-project/git-ai/pull/452
    """
    name = "文档/naïve 🙂.txt"
    Codex(project).create(name, "第一行 变更记录\n第二行 naïve 🙂\n")
    project.commit()
    project.write(name, "标题\n" + project.text(name))
    project.commit()
    assert project.blame(name) == "  标题\n+ 第一行 变更记录\n+ 第二行 naïve 🙂"


def test_files_that_are_committed_later_keep_the_agents_lines(project: AgentProject) -> None:
    """An agent's files lost their attribution when they were committed in two commits.

    https://github.com/git-ai-project/git-ai/issues/356
    """
    copilot = CopilotCli(project)
    for name in ("a.py", "b.py", "c.py"):
        copilot.create(name, f"name_of_file = {name!r}\n")
    project.commit("a.py")
    project.commit("b.py")
    project.write("c.py", "# a note\n" + project.text("c.py"))
    project.commit()
    assert project.blame("a.py") == "+ name_of_file = 'a.py'"
    assert project.blame("b.py") == "+ name_of_file = 'b.py'"
    assert project.blame("c.py") == "  # a note\n+ name_of_file = 'c.py'"


def test_context_around_an_edit_is_not_the_agents(project: AgentProject) -> None:
    """Unchanged lines in the old and the new text of an edit were the agent's.

    https://github.com/cursor/agent-trace/pull/7
    """
    CopilotCli(project).edit(
        "app.py",
        "import sys\n\n\ndef main():\n    return 0\n",
        "import sys\n\n\ndef main():\n    print(1)\n    return 0\n",
    )
    project.commit()
    assert lines_with("+", project.blame("app.py")) == ["    print(1)"]


def test_a_line_that_a_person_edits_in_part_is_not_shown_as_the_agents(
    project: AgentProject,
) -> None:
    """A line that a person had edited in part was shown as fully written by the AI.

    https://github.com/mesa-dot-dev/agentblame/issues/17
    """
    CopilotCli(project).edit(
        "app.py",
        "    return 0\n",
        "    run_everything()\n    print('done')\n    return exit_code()\n",
    )
    project.record()
    project.write("app.py", project.text("app.py").replace("'done'", "'all done'"))
    expected = ["+     run_everything()", "      print('all done')", "+     return exit_code()"]
    assert project.blame("app.py").splitlines()[-3:] == expected
    project.commit()
    assert project.blame("app.py").splitlines()[-3:] == expected


def test_a_persons_line_in_the_place_of_a_stashed_one_is_not_the_agents(
    project: AgentProject,
) -> None:
    """A person's line was the agent's because a stash had removed an agent's line at that place.

    https://github.com/git-ai-project/git-ai/pull/1660
    """
    ClaudeCode(project).edit("app.py", "    return 0\n", "    return run(sys.argv)\n")
    assert lines_with("+", project.blame("app.py")) == ["    return run(sys.argv)"]
    project.git("stash", "push", "--quiet", "app.py")
    project.write("app.py", project.text("app.py").replace("return 0", "return None"))
    project.commit("app.py")
    assert lines_with("+", project.blame("app.py")) == []
    project.git("checkout", "--quiet", "stash@{0}", "--", "app.py")
    assert lines_with("+", project.blame("app.py")) == ["    return run(sys.argv)"]


def test_a_file_that_is_renamed_in_the_same_commit_keeps_its_lines(project: AgentProject) -> None:
    """Attribution was lost when a file was edited and renamed in one commit.

    https://github.com/git-ai-project/git-ai/issues/150
    """
    ClaudeCode(project).edit("app.py", "    return 0\n", "    run()\n    return 0\n")
    (project.root / "src").mkdir()
    project.git("mv", "app.py", "src/main.py")
    project.commit()
    assert lines_with("+", project.blame("src/main.py")) == ["    run()"]


def test_a_pull_with_rebase_and_autostash_keeps_the_agents_lines(
    project: AgentProject, tmp_path: Path
) -> None:
    """A pull with rebase and autostash lost the attribution of uncommitted lines.

    https://github.com/git-ai-project/git-ai/issues/300
    """
    clone = tmp_path / "clone"
    subprocess.run(["git", "clone", "--quiet", project.root, clone], check=True)
    here = AgentProject(clone)
    claude = ClaudeCode(here)
    claude.write("one.py", "one = 1\n")
    here.commit()
    claude.edit("app.py", "    return 0\n", "    run()\n    return 0\n")
    here.record()
    project.write("app.py", f'"""An app."""\n\n{APP}')
    project.commit()
    here.git("pull", "--quiet", "--rebase", "--autostash")
    assert here.blame("one.py") == "+ one = 1"
    assert lines_with("+", here.blame("app.py")) == ["    run()"]


def test_what_a_command_of_an_agent_generates_is_the_agents(project: AgentProject) -> None:
    """Code from a generator that an agent had run was a person's.

    https://github.com/git-ai-project/git-ai/issues/1127
    """
    claude = ClaudeCode(project)
    claude.prompt("Generate the messages.")
    project.record()
    claude.run("printf 'class Message:\\n    pass\\n' > messages.py")
    project.record()
    project.commit()
    assert project.blame("messages.py") == "? class Message:\n?     pass"
    assert project.blame("app.py") == unmarked(APP)


def test_a_copy_that_an_agent_makes_is_not_the_agents(project: AgentProject) -> None:
    """Files that an agent copied with a shell command were not recorded at all.

    https://github.com/git-ai-project/git-ai/issues/756
    """
    claude = ClaudeCode(project)
    claude.prompt("Copy app.py.")
    project.record()
    claude.run("cp app.py copy.py")
    project.commit()
    assert project.blame("copy.py") == unmarked(APP)
    (trail := Trail(AuditDir(project.root / ".ai-audit"))).refresh()
    assert any(b"cp app.py copy.py" in trail.manifest.raw(key) for key in trail.manifest)
