"""What `docs/reviewing.md` shows works when it is copied, and its keys are those that are asked for."""

from __future__ import annotations

import os
import re
import subprocess
import sysconfig
from pathlib import Path

from tests.requirements import REPOSITORY, require
from vibes_lsp.cli.agents import VARIABLES
from vibes_lsp.cli.review_dialogue import HELP

PAGE = (REPOSITORY / "docs" / "reviewing.md").read_text(encoding="utf-8")


def test_the_shell_snippet_has_an_ai_review_what_still_waits_for_a_person(tmp_path: Path) -> None:
    (snippet,) = re.findall(r"^```sh\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
    shell = require("sh", "runs the documented shell commands")
    path = os.pathsep.join([sysconfig.get_path("scripts"), os.environ.get("PATH", "")])
    run = subprocess.run(
        [shell, "-eu", "-c", snippet],
        cwd=tmp_path,
        env={**os.environ, "PATH": path},
        capture_output=True,
        encoding="utf-8",
        check=False,
    )
    assert (run.returncode, run.stderr) == (0, "")
    assert "approved by AI" in run.stdout.splitlines()[-1]


def test_every_key_and_every_mark_of_an_agent_is_listed() -> None:
    assert set(re.findall(r"`(\w)`", "".join(re.findall(r"^\| `.*?\|", PAGE, re.MULTILINE)))) == {
        line[0] for line in HELP
    }
    assert all(f"`{name}`" in PAGE for name in VARIABLES)
