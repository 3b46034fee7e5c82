"""The example in `docs/import.md` works, and the page lists what the import says."""

from __future__ import annotations

import json
import re
from pathlib import Path

from tests.docs.code_blocks import code_blocks, run_shell
from tests.requirements import REPOSITORY
from tests.trails import Repository
from vibes_lsp.exchange.import_plan import Evidence, Outcome

PAGE = (REPOSITORY / "docs" / "import.md").read_text(encoding="utf-8")


def test_the_shell_snippet_previews_imports_and_exports(tmp_path: Path) -> None:
    repository = Repository(tmp_path)
    repository.git("config", "user.name", "Ada")
    repository.git("config", "user.email", "ada@example.org")
    (snippet,) = code_blocks(PAGE, "sh")
    run = run_shell(snippet, tmp_path)
    assert (run.returncode, run.stderr) == (0, "")
    lines = run.stdout.splitlines()
    assert "1 would be imported, 0 known, 0 refused" in lines
    assert "1 imported, 0 known, 0 refused" in lines
    exported = json.loads(lines[-1])
    assert exported["id"] == "5d1c"
    assert exported["files"][0]["path"] == "double.py"


def test_every_outcome_and_every_evidence_is_explained() -> None:
    assert set(re.findall(r"^- \*\*(\w+)\*\*", PAGE, re.MULTILINE)) == set(Outcome)
    table = PAGE.partition("| evidence |")[2].partition("\n\n")[0]
    assert set(re.findall(r"^\| `([\w-]+)`", table, re.MULTILINE)) == set(Evidence)
