"""The cache of git answers: it changes no result, serves no gate, and is outside projects."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.cli.run_vibes import vibes
from tests.server.project import STORY, Project
from tests.trails import Repository

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import TypeAlias

    from tests.cli.attested_project import AttestedProject
    from tests.cli.run_vibes import CommandResult, RunVibes

    Ask: TypeAlias = Callable[[Path, Path], list[CommandResult]]

QUESTIONS = (
    ("find",),
    ("find", "--json"),
    ("review", "--list"),
    ("stats", "--by", "file", "--json"),
    ("blame", "a0.py", "--json"),
    ("stats", "--survival", "--json"),
)


NOWHERE = Path(os.devnull) / "cache"


@pytest.fixture
def cache(tmp_path: Path) -> Path:
    return tmp_path / "cache"


def made(root: Path, files: int) -> Repository:
    """A repository with AI files: one was renamed, one deleted, the text of a third moved."""
    repository = Repository(root)
    project = Project(root)
    project.config(tracked_extensions=[".py"])
    project.environment(model="m")
    for number in range(files):
        text = STORY.replace("digest", f"digest{number}")
        project.line(f"a{number}.py", 4, 7, text=text)
        repository.write(f"a{number}.py", text)
    repository.commit("First")
    repository.git("mv", "a1.py", "renamed.py")
    repository.git("rm", "-q", "a2.py")
    repository.write("elsewhere.py", "# new\n" * 5 + STORY.replace("digest", "digest3"))
    repository.write("a3.py", "# nothing\n")
    repository.write("a4.py", "# above\n" + STORY.replace("digest", "digest4"))
    repository.commit("Second", "2026-03-04T09:00:00+00:00")
    return repository


@pytest.fixture
def ask(
    run_vibes: RunVibes, monkeypatch: pytest.MonkeyPatch
) -> Callable[[Path, Path], list[CommandResult]]:
    def run_all(root: Path, cache: Path) -> list[CommandResult]:
        monkeypatch.setenv("XDG_CACHE_HOME", str(cache))
        return [run_vibes(*each, cwd=root) for each in QUESTIONS]

    return run_all


def git_answers(cache: Path) -> list[Path]:
    """Return the databases of git's answers; the index of a trail has a folder of its own."""
    return list((cache / "vibes-lsp/git").glob("*.db"))


def test_answers_are_byte_for_byte_the_same(tmp_path: Path, cache: Path, ask: Ask) -> None:
    repository = made(tmp_path / "project", 6)
    plain = ask(repository.path, NOWHERE)
    assert [each.code for each in plain] == [0] * len(QUESTIONS)
    assert all(name in plain[0].out for name in ("moved", "elsewhere.py", "renamed.py"))
    assert ask(repository.path, cache) == plain
    (kept,) = git_answers(cache)
    assert ask(repository.path, cache) == plain
    repository.write("a5.py", "# other\n" + STORY)
    repository.git("mv", "a0.py", "b.py")
    repository.git("mv", "b.py", "a0.py")
    other = ask(repository.path, NOWHERE)
    assert ask(repository.path, cache) == other
    repository.commit("Third")
    assert ask(repository.path, cache) == ask(repository.path, NOWHERE)
    kept.write_bytes(os.urandom(1_000))
    assert ask(repository.path, cache) == ask(repository.path, NOWHERE)
    assert "cache" not in repository.git("status", "--porcelain", "--ignored")


def test_deciding_and_writing_commands_do_not_use_the_cache(
    tmp_path: Path, cache: Path, run_vibes: RunVibes, monkeypatch: pytest.MonkeyPatch
) -> None:
    repository = made(tmp_path / "project", 6)
    monkeypatch.setenv("XDG_CACHE_HOME", str(cache))
    for command in (
        ("gate",),
        ("gate", "--base", "HEAD~1"),
        ("check",),
        ("export", "--current", str(tmp_path / "out")),
    ):
        run_vibes(*command, cwd=repository.path)
        assert not cache.exists(), command
    for reader in (("diff", "HEAD~1"), ("backfill",)):  # these read the index of the trail
        run_vibes(*reader, cwd=repository.path)
        assert git_answers(cache) == [], reader


def test_what_is_signed_verified_or_published_comes_from_no_cache(
    own: AttestedProject, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(cache))
    badge = own.root / "badge.svg"
    key, _ = own.entry("environment")
    for command in (
        ("attest", "--dry-run"),
        ("attest",),
        ("verify",),
        ("attest", "--disclose", key),
        ("badge",),
        ("check", "--badge", str(badge)),
    ):
        out = own.run(*command).out
        if command == ("badge",):
            badge.write_text(out, encoding="utf-8")
        assert not cache.exists(), command
    own.run("stats", "--by", "file")
    assert git_answers(cache) != [], "a command that only displays has one"


def test_a_cache_in_the_workspace_is_not_used(tmp_path: Path, cache: Path, ask: Ask) -> None:
    repository = made(tmp_path / "project", 6)
    ask(repository.path, cache)
    planted = repository.path / ".cache"
    cache.rename(planted)
    before = {file: file.read_bytes() for file in planted.rglob("*") if file.is_file()}
    for file in before:
        file.write_bytes(before[file][::-1])
    assert ask(repository.path, planted) == ask(repository.path, NOWHERE)
    assert {
        file: file.read_bytes()[::-1] for file in planted.rglob("*") if file.is_file()
    } == before


@pytest.mark.skipif(sys.platform == "win32", reason="the git that counts is a shell script")
def test_git_is_asked_once_for_each_changed_file_and_for_all_the_rest_at_once(
    tmp_path: Path, cache: Path
) -> None:
    few, many = made(tmp_path / "few", 6), made(tmp_path / "many", 18)
    for question in (("find",), ("stats", "--by", "file", "--json")):
        one, other = (git_commands(each, question, tmp_path, cache) for each in (few, many))
        assert other.count("blame") == one.count("blame") <= 4, "only what changed or moved"
        assert without_files(one) == without_files(other), question
        again = git_commands(many, question, tmp_path, cache)
        assert not {"log", "rev-list", "diff-tree", "blame"} & set(again), question
        assert len(again) <= 9, question
    plain = git_commands(few, ("find",), tmp_path, NOWHERE)
    for number in range(6, 12):
        make_uncertain(many, number)
    many.commit("Third", "2026-03-05T09:00:00+00:00")
    first, again = (git_commands(many, ("find",), tmp_path, cache) for _ in range(2))
    assert first.count("blame") == 6, "what changed"
    assert len(without_files(first)) <= len(without_files(plain))
    assert "blame" not in again
    assert len(again) <= 9


def make_uncertain(repository: Repository, number: int) -> None:
    """Change a line of an annotated text, so that its place is uncertain."""
    file = repository.path / f"a{number}.py"
    lines = file.read_text("utf-8").split("\n")
    lines[4] += "  # changed"
    file.write_text("\n".join(lines), "utf-8")


def without_files(commands: list[str]) -> list[str]:
    """Return the commands without those that read objects, or are about one file."""
    assert commands.count("cat-file") <= 3
    return sorted(each for each in commands if each not in {"cat-file", "blame"})


def git_commands(
    repository: Repository, question: tuple[str, ...], tmp_path: Path, cache: Path
) -> list[str]:
    """Return the git commands that a command starts."""
    folder, calls = tmp_path / "bin", tmp_path / "calls"
    folder.mkdir(exist_ok=True)
    calls.unlink(missing_ok=True)
    real = next(
        Path(each) / "git"
        for each in os.environ["PATH"].split(os.pathsep)
        if (Path(each) / "git").exists()
    )
    script = folder / "git"
    script.write_text(
        '#!/bin/sh\nfor word; do case "$word" in -*|*=*) ;; *) echo "$word" >> "$CALLS"; break;; esac; done\n'
        f'exec "{real}" "$@"\n'
    )
    script.chmod(0o755)
    path = f"{folder}{os.pathsep}{os.environ['PATH']}"
    done = vibes(
        *question,
        cwd=repository.path,
        XDG_CACHE_HOME=str(cache),
        PATH=path,
        CALLS=str(calls),
    )
    assert done.code == 0
    return calls.read_text().split()
