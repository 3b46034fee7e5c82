"""`vibes completion`: commands, options and values complete in a shell."""

from __future__ import annotations

import shutil
import subprocess
from typing import TYPE_CHECKING

import pytest

from tests.cli.run_vibes import SCRIPT, clean_environment

if TYPE_CHECKING:
    from pathlib import Path

    from tests.cli.run_vibes import RunVibes


@pytest.mark.parametrize(
    ("typed", "completed"),
    [
        ("bla", ["blame"]),
        ("find --ba", ["--band"]),
        ("find --band cri", ["critical"]),
        ("record anno", ["annotate"]),
    ],
)
def test_bash_completes(tmp_path: Path, typed: str, completed: list[str]) -> None:
    bash = shutil.which("bash")
    assert bash is not None, "the tests of the hooks need bash as well"
    script = (
        f'eval "$({SCRIPT} completion bash)"\n'
        f"COMP_WORDS=(vibes {typed}); COMP_CWORD=$(( ${{#COMP_WORDS[@]}} - 1 ))\n"
        '_vibes_completion "$1"; printf "%s\\n" "${COMPREPLY[@]}"\n'
    )
    done = subprocess.run(
        [bash, "--norc", "-c", script, "bash", str(SCRIPT)],
        cwd=tmp_path,
        env=clean_environment({}),
        capture_output=True,
        encoding="utf-8",
        check=True,
    )
    assert done.stdout.split() == completed


@pytest.mark.parametrize("shell", ["zsh", "fish"])
def test_other_shells_have_a_script(run_vibes: RunVibes, tmp_path: Path, shell: str) -> None:
    done = run_vibes("completion", shell, cwd=tmp_path)
    assert (done.code, done.err) == (0, "")
    assert f"_VIBES_COMPLETE={shell}_complete" in done.out
