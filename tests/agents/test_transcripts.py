"""`vibes import transcripts` after sessions of real agents that no hook recorded.

Each edit is found with its commit, after further commits, a formatter and a rebase.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from tests.agents.cline import Cline
from tests.agents.every_agent import EVERY_AGENT
from tests.agents.recorded_trail import RecordedTrail
from tests.agents.session import run_session
from tests.agents.story import DELEGATED, END, FIRST, SECOND, STEPS

if TYPE_CHECKING:
    from pathlib import Path

    from tests.agents.driver import Driver
    from tests.agents.sandbox import Sandbox


COMMITTED = {
    ("inventory.py", 2, 2, FIRST),
    ("inventory.py", 6, 6, FIRST),
    ("inventory.py", 12, 12, FIRST),
    ("inventory.py", 14, 14, FIRST),
    ("inventory.py", 17, 17, FIRST),
    ("inventory.py", 19, 19, FIRST),
    ("inventory.py", 23, 23, SECOND),
    ("notes.md", 2, 3, FIRST),
    ("src/prices.py", 1, 5, FIRST),
    ("todo.md", 3, 3, FIRST),
    ("report.md", 1, 1, SECOND),
    ("delegated.md", 1, 1, DELEGATED),
}
"""The lines of all edits as they are committed; one edit was replaced before by another."""


def git(sandbox: Sandbox, *arguments: str) -> str:
    author = ("-c", "user.name=Test User", "-c", "user.email=test@example.org")
    done = sandbox.run(["git", *author, *arguments])
    assert done.returncode == 0, done.stderr
    return done.stdout


def commit(sandbox: Sandbox, message: str, *paths: str) -> None:
    git(sandbox, "add", *(paths or ("--all",)))
    git(sandbox, "commit", "--quiet", "--message", message)


@pytest.mark.parametrize("agent", EVERY_AGENT)
def test_every_edit_is_found_with_its_commit(agent: type[Driver], tmp_path: Path) -> None:
    if agent is Cline:
        pytest.skip("the session files of Cline are not read")
    session = run_session(agent, tmp_path / "sandbox", STEPS, [FIRST, SECOND], level=None)
    sandbox = session.sandbox
    git(sandbox, "branch", "base")
    commit(sandbox, "first half", "inventory.py", "src")
    commit(sandbox, "second half", *sorted(END))
    inventory = sandbox.project / "inventory.py"
    inventory.write_text(f"import os\n\n{END['inventory.py']}", encoding="utf-8")
    commit(sandbox, "a person edits", "inventory.py")
    text = inventory.read_text(encoding="utf-8").replace("    ", "  ")
    inventory.write_text(text, encoding="utf-8")
    commit(sandbox, "a formatter runs", "inventory.py")
    git(sandbox, "mv", "src/prices.py", "src/costs.py")
    commit(sandbox, "a file moves", "src")
    git(sandbox, "switch", "--quiet", "base")
    sandbox.write(sandbox.project / "other.md", "other\n")
    commit(sandbox, "meanwhile", "other.md")
    git(sandbox, "rebase", "--quiet", "base", "main")
    commits = {
        subject: commit
        for commit, subject in (
            line.split(" ", 1) for line in git(sandbox, "log", "--format=%H %s").splitlines()
        )
    }

    sandbox.vibes("init", "--assurance-level", "medium")
    result = json.loads(sandbox.vibes("import", "transcripts", "--json"))
    assert (result["imported"], result["known"]) == (len(COMMITTED), 0)
    trail = RecordedTrail(sandbox.project)
    found = {
        (line["file_path"], line["line_start"], line["line_end"], prompt_of(trail, line))
        for line in trail.lines
    }
    has_prompt = any(prompt == DELEGATED for *_, prompt in found)
    expected = {each for each in COMMITTED if has_prompt or each[0] != "delegated.md"}
    assert {each for each in found if has_prompt or each[0] != "delegated.md"} == expected
    assert {each[:3] for each in found} == {each[:3] for each in COMMITTED}
    for line in trail.lines:
        half = "first" if line["file_path"] in ("inventory.py", "src/prices.py") else "second"
        assert line["commit_hash"] == commits[f"{half} half"]
        assert line["imported_from"]["evidence"] in ("replay", "text")
        entry = trail.entries[line["environment_hash"]]
        assert entry["tool_name"] == agent.tool
        if line["file_path"] != "delegated.md":
            assert entry["model_name"] == agent.model
    [(parent, child)] = trail.edges("delegated_to")
    sessions = {line["file_path"]: line["session_id"] for line in trail.lines}
    assert (parent, child) == (sessions["report.md"], sessions["delegated.md"])
    checked = json.loads(sandbox.run(["vibes", "check", "--json"]).stdout)
    assert checked["result"] == "PASS", checked["findings"]
    again = json.loads(sandbox.vibes("import", "transcripts", "--json"))
    assert (again["imported"], again["known"]) == (0, len(COMMITTED))


def prompt_of(trail: RecordedTrail, line: Any) -> str:
    entry = trail.entries.get(line.get("prompt_hash", ""), {})
    return str(entry.get("prompt_text", "")).strip('"')  # opencode quotes it
