"""Each command starts few processes, nothing but git, and leaves none behind.

Git blames one file in a process, so a file that changed after it was added costs one.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import pytest

from tests.cli.run_vibes import clean_environment

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

pytestmark = [
    pytest.mark.skipif(os.name == "nt", reason="asks for the processes of a session, as POSIX has"),
]

NOTE_STARTED: Final = '''
"""Notes each program that this interpreter starts, one a line."""

import os
import sys

STARTING = {
    "os.exec", "os.fork", "os.forkpty", "os.posix_spawn", "os.spawn", "os.system", "subprocess.Popen"
}


def note(event, arguments):
    if event in STARTING:
        name = os.path.basename(os.fsdecode(arguments[0])) if arguments else ""
        line = f"{event} {name}\\n".encode()
        file = os.open(os.environ["STARTED"], os.O_WRONLY | os.O_APPEND | os.O_CREAT)
        os.write(file, line)
        os.close(file)


sys.addaudithook(note)
'''
FILES: Final = ("src/auth.py", "src/limits.py", "src/mail.py", "tests/test_auth.py", "web/app.ts")
"""Annotated files of the sample repository."""
LIMITS: Final = {
    "gate --base HEAD~1": 12,
    "gate --base HEAD~2": 15,
    "gate --base HEAD~5": 16,
    "gate --base main": 12,
    "gate": 4,
    **{f"check --base HEAD~{back}": 11 for back in (1, 2, 5)},
    "check --base main": 11,
    "check": 7,
    "diff": 9,
    "diff HEAD~3..HEAD": 7,
    "doctor": 8,
    "blame src/auth.py": 4,
    "show src/auth.py:23": 4,
    "find": 6,
    "review --list": 6,
    "stats --by file": 4,
    "backfill --dry-run": 5,
    "log": 0,
    "stats": 0,
    "keys list": 0,
}
"""The most git processes for each command that only reads the sample repository.

One commit added each of its annotated files, so none needs a blame. Only the gate asks it, without
trust in the times of commits, for a file whose review a branch adds.
"""
FOR_OTHER_TEXTS: Final = 6
"""The most git processes for all lines without a record, and records made for another text: whether
a commit moved them or brought them."""


@dataclass(frozen=True)
class Started:
    """What a command started, git's own children included.

    Attributes:
        git: The git commands.
        others: Everything else.
        is_left: Whether a process stayed behind.
    """

    git: Sequence[Sequence[str]]
    others: Sequence[str]
    is_left: bool


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The sample repository, which tests only read."""
    folder = tmp_path_factory.mktemp("demo")
    command = [sys.executable, "-m", "vibes_lsp", "demo", "shop"]
    subprocess.run(command, cwd=folder, env=clean_environment({}), capture_output=True, check=True)
    return folder / "shop"


@pytest.fixture(scope="module")
def changed(shop: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The sample repository, in which a last commit changed every annotated file."""
    root = shutil.copytree(shop, tmp_path_factory.mktemp("changed") / "shop", symlinks=True)
    for name in FILES:
        with (root / name).open("a") as file:
            file.write("# Changed.\n")
    identity = ("-c", "user.name=Ada Example", "-c", "user.email=ada@example.org")
    options = ("-c", f"core.hooksPath={os.devnull}", "commit", "-qam", "Change all")
    subprocess.run(["git", *identity, *options], cwd=root, check=True)
    return root


def run(arguments: Sequence[str], cwd: Path, folder: Path, **more: str) -> Started:
    """Run `vibes`; what it starts is noted in a folder."""
    traces, started, modules = folder / "traces", folder / "started", folder / "modules"
    for each in (traces, modules, folder / "home"):
        each.mkdir(exist_ok=True)
    (modules / "sitecustomize.py").write_text(NOTE_STARTED)
    # The program passes no variable of git on, but does let the user's settings count.
    (folder / "gitconfig").write_text(
        "[user]\n\tname = Ada Example\n\temail = ada@example.org\n"
        f"[trace2]\n\teventTarget = {traces}\n"
    )
    environment: Mapping[str, str] = {
        "GIT_CONFIG_GLOBAL": str(folder / "gitconfig"),
        "HOME": str(folder / "home"),
        "XDG_CACHE_HOME": str(folder / "cache"),
        "PYTHONPATH": str(modules),
        "STARTED": str(started),
        **more,
    }
    process = subprocess.Popen(
        [sys.executable, "-m", "vibes_lsp", *arguments],
        cwd=cwd,
        env=clean_environment(environment),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        start_new_session=True,
    )
    _, errors = process.communicate()
    assert process.returncode in {0, 1}, errors.decode()
    assert b"internal error" not in errors, errors.decode()
    noted = started.read_text().splitlines() if started.exists() else []
    return Started(
        [command for file in sorted(traces.iterdir()) for command in commands_in(file)],
        [line for line in noted if line != "subprocess.Popen git"],
        has_processes(process.pid),
    )


def commands_in(trace: Path) -> list[list[str]]:
    """Return the command of a git process; git writes a file for each, as it starts."""
    events = map(json.loads, trace.read_text().splitlines())
    return [event["argv"] for event in events if event["event"] == "start"]


def has_processes(session: int) -> bool:
    """Whether a process of a session whose first one ended still runs."""
    try:
        os.killpg(session, 0)
    except ProcessLookupError:
        return False
    return True


def assert_few(started: Started, limit: int) -> None:
    listed = "\n".join(" ".join(each) for each in started.git)
    assert len(started.git) <= limit, listed
    assert sum("--batch" in each for each in started.git) <= 1, listed
    assert not started.others
    assert not started.is_left


@pytest.mark.parametrize("command", LIMITS)
def test_a_command_that_reads(shop: Path, tmp_path: Path, command: str) -> None:
    started = run(command.split(), shop, tmp_path)
    assert bool(started.git) == bool(LIMITS[command]), "git's traces count"
    assert_few(started, LIMITS[command])


@pytest.mark.parametrize(
    "command", ["gate --base HEAD~1", "gate", "find", "review --list", "stats --by file"]
)
def test_a_file_that_changed_is_blamed_once(changed: Path, tmp_path: Path, command: str) -> None:
    started = run(command.split(), changed, tmp_path)
    heads = Counter(words[-1] for words in started.git if "blame" in words and "^" not in words[-4])
    assert heads == dict.fromkeys(FILES, 1)
    assert_few(started, LIMITS[command] + len(FILES) + FOR_OTHER_TEXTS)


@pytest.mark.parametrize("command", ["find", "review --list", "stats --by file"])
def test_a_command_that_asks_again(changed: Path, tmp_path: Path, command: str) -> None:
    folders = [tmp_path / name for name in ("first", "again")]
    for folder in folders:
        folder.mkdir()
    _, again = (
        run(command.split(), changed, folder, XDG_CACHE_HOME=str(tmp_path / "cache"))
        for folder in folders
    )
    assert_few(again, 5)
    assert not any({"blame", "log"} & set(words) for words in again.git)


def test_what_a_commit_starts(shop: Path, tmp_path: Path) -> None:
    root = shutil.copytree(shop, tmp_path / "shop", symlinks=True)
    (root / "src/auth.py").write_text("# Changed.\n")
    subprocess.run(["git", "add", "src"], cwd=root, check=True)
    assert_few(run(["backfill", "--pre-commit"], root, tmp_path), 9)


def test_keys_and_attestations(shop: Path, tmp_path: Path) -> None:
    root = shutil.copytree(shop, tmp_path / "shop", symlinks=True)
    for command, limit in (("keys generate", 0), ("attest", 8), ("verify", 1), ("merge main", 6)):
        folder = tmp_path / command.replace(" ", "-")
        folder.mkdir()
        assert_few(run(command.split(), root, folder, HOME=str(tmp_path)), limit)


def test_the_keyring_is_not_asked_for_a_key_without_a_passphrase(tmp_path: Path) -> None:
    modules = tmp_path / "modules"
    modules.mkdir()
    (modules / "keyring.py").write_text("raise AssertionError('asked')\n")
    environment = {"PYTHONPATH": str(modules), "HOME": str(tmp_path)}
    for arguments in (["keys", "generate"], ["keys", "generate", "--replace"], ["keys", "list"]):
        subprocess.run(
            [sys.executable, "-m", "vibes_lsp", *arguments],
            env=clean_environment(environment),
            capture_output=True,
            check=True,
        )
