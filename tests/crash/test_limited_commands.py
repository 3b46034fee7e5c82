"""Commands whose files may not grow: their writes are refused, or the system ends them at one.

A limit on the size of files is a quota that is reached in the middle of a write. If its signal is
not ignored, the system ends the program there.
"""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import sys
from pathlib import Path
from typing import Final

import pytest

from tests.cli.run_vibes import vibes
from vibes_lsp.agents.all_agents import AGENTS
from vibes_lsp.cli.main import main

pytestmark = [
    pytest.mark.skipif(
        not hasattr(signal, "SIGXFSZ"), reason="this system has no limit on the size of files"
    ),
]

_CHANCE: Final = re.compile(rb"[0-9a-f]{64}|\d{4}-\d\d-\d\dT[\d:.]+Z")
"""Hashes and times, which differ from run to run."""

COMMANDS: Final[dict[str, tuple[str, ...]]] = {
    "init": ("init", "--prism"),
    "agents": ("init", "--agents", "claude-code,cursor,codex", "--instructions", "AGENTS.md"),
    "git hooks": ("init", "--git-hooks"),
    "knowledge": ("kb", "init"),
}


def run_limited(folder: Path, arguments: tuple[str, ...], limit: int, *, kills: bool) -> int:
    """Run `vibes` where no file may be larger than a limit; return how it ended.

    Args:
        folder: The folder with the project and the home.
        arguments: The arguments.
        limit: The limit in bytes.
        kills: Whether a write beyond the limit kills the program; else the system refuses it.
    """
    import resource

    child = os.fork()
    if child == 0:
        code = 99
        try:
            sys.stdout = sys.stderr = Path(os.devnull).open("w")  # noqa: SIM115  # has no limit
            signal.signal(signal.SIGXFSZ, signal.SIG_DFL if kills else signal.SIG_IGN)
            resource.setrlimit(resource.RLIMIT_FSIZE, (limit, resource.RLIM_INFINITY))
            os.environ.update(environment(folder))
            os.chdir(folder / "project")
            sys.argv = ["vibes", *arguments]
            main()
        except SystemExit as ended:
            code = ended.code if isinstance(ended.code, int) else 0
        finally:
            os._exit(code)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def environment(folder: Path) -> dict[str, str]:
    moved = {agent.variable: "" for agent in AGENTS if agent.variable}
    return {**moved, "HOME": str(folder / "home"), "VOUCH_AGENT": "person"}


def prepare(folder: Path) -> None:
    """Create a project with files that the commands change, and a home."""
    project = folder / "project"
    (project / ".claude").mkdir(parents=True)
    (folder / "home").mkdir()
    (project / ".claude/settings.json").write_text(f'{{"model":"{"x" * 3000}"}}')
    (project / "AGENTS.md").write_text("# Ours\n")
    hooks = project / ".git/hooks"
    subprocess.run(["git", "init", "-q"], cwd=project, check=True)
    hooks.mkdir(exist_ok=True)
    (hooks / "pre-commit").write_text(f"#!/bin/sh\n# {'x' * 3000}\n")
    (hooks / "pre-commit").chmod(0o755)


def files(folder: Path) -> dict[str, bytes]:
    """Return the files of a project and home, without hashes and times, and without git's own."""
    return {
        path.relative_to(folder).as_posix(): _CHANCE.sub(b"", path.read_bytes())
        for top in (folder / "project", folder / "home")
        for path in top.rglob("*")
        if path.is_file() and (".git" not in path.parts or "hooks" in path.parts)
    }


@pytest.fixture(scope="module")
def pristine(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("pristine")
    prepare(folder)
    return folder


@pytest.mark.parametrize("kills", [False, True], ids=["refused", "killed"])
@pytest.mark.parametrize("name", COMMANDS)
def test_the_next_run_completes_what_an_interrupted_one_began(
    name: str, kills: bool, pristine: Path, tmp_path: Path
) -> None:
    arguments = COMMANDS[name]
    clean, work = tmp_path / "clean", tmp_path / "work"
    shutil.copytree(pristine, clean)
    before = files(clean)
    assert vibes(*arguments, cwd=clean / "project", **environment(clean)).code == 0
    after = files(clean)
    written = {len(data) for path, data in after.items() if before.get(path) != data and data}
    interrupted = 0
    for limit in sorted({size // 2 for size in written}):
        shutil.copytree(pristine, work)
        ended = run_limited(work, arguments, limit, kills=kills)
        assert ended in ((0, -signal.SIGXFSZ) if kills else (0, 2))
        interrupted += ended != 0
        again = vibes(*arguments, cwd=work / "project", **environment(work))
        assert again.code == 0, again.err
        found = {path: data for path, data in files(work).items() if not path.endswith(".tmp")}
        assert found == after
        shutil.rmtree(work)
    assert interrupted
