"""The example in `docs/import.md` works, and the page lists what the import says."""

from __future__ import annotations

import json
import re
from datetime import timedelta
from typing import TYPE_CHECKING

import pytest

from tests.docs.code_blocks import code_blocks, run_shell
from tests.requirements import REPOSITORY
from tests.trails import Repository
from tests.trails.repository import START
from tests.unit.agents.written_sessions import Step, write_claude_code
from vibes_lsp.exchange import commit_search, record_imports
from vibes_lsp.exchange.import_plan import ImportEvidence, Outcome

if TYPE_CHECKING:
    from pathlib import Path

PAGE = (REPOSITORY / "docs" / "import.md").read_text(encoding="utf-8")


def test_the_shell_snippet_previews_imports_and_exports(tmp_path: Path) -> None:
    repository = Repository(tmp_path)
    repository.set_user("Ada", "ada@example.org")
    snippet = code_blocks(PAGE, "sh")[0]
    run = run_shell(snippet, tmp_path)
    assert (run.returncode, run.stderr) == (0, "")
    lines = run.stdout.splitlines()
    assert "1 would be imported, 0 known, 0 refused" in lines
    assert "1 imported, 0 known, 0 refused" in lines
    exported = json.loads(lines[-1])
    assert exported["id"] == "5d1c"
    assert exported["files"][0]["path"] == "double.py"


def test_the_transcripts_snippet_previews_and_imports(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("HOME", "USERPROFILE"):
        monkeypatch.setenv(name, str(tmp_path / "home"))
    repository = Repository(tmp_path / "project")
    repository.commit("start")
    step = Step("made.py", None, "VALUE = 1\n")
    write_claude_code(tmp_path / "home", repository.path, [step], START + timedelta(seconds=30))
    repository.write(step.path, step.after)
    repository.commit("an agent's work")
    first, snippet = code_blocks(PAGE, "sh")
    run = run_shell(f"{first.splitlines()[0]}\n{snippet}", repository.path)
    assert (run.returncode, run.stderr) == (0, "")
    lines = run.stdout.splitlines()
    assert "1 would be imported, 0 known, 0 refused" in lines
    assert "1 imported, 0 known, 0 refused" in lines


def test_every_reason_of_transcripts_is_explained() -> None:
    table = PAGE.partition("| reason |")[2].partition("\n\n")[0]
    assert set(re.findall(r"^\| ([a-z][\w' ]+) \|", table, re.MULTILINE)) == {
        commit_search.NOT_COMMITTED,
        commit_search.OVERWRITTEN,
        commit_search.NOTHING_ADDED,
        commit_search.NOT_APPLIED,
        commit_search.MADE_TWICE,
        record_imports.OLDER,
        commit_search.NOT_FOUND,
    }


def test_every_outcome_and_every_evidence_is_explained() -> None:
    assert set(re.findall(r"^- \*\*(\w+)\*\*", PAGE, re.MULTILINE)) == set(Outcome)
    table = PAGE.partition("| evidence |")[2].partition("\n\n")[0]
    assert set(re.findall(r"^\| `([\w-]+)`", table, re.MULTILINE)) == set(ImportEvidence)
