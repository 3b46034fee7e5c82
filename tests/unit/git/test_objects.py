"""Read objects by hash or by commit and path, through one git process that ends with its owner."""

from __future__ import annotations

import gc
import os
import subprocess
import sys
import threading
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import pytest

from tests.requirements import require
from tests.trails import Repository
from vibes_lsp.errors import HistoryUnavailable
from vibes_lsp.git.objects import Commit, GitObjects, TreeEntry

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path


@pytest.fixture
def blobs(repository: Repository) -> Iterator[GitObjects]:
    with GitObjects(repository.path) as opened:
        yield opened


@pytest.fixture
def started(monkeypatch: pytest.MonkeyPatch) -> list[subprocess.Popen[bytes]]:
    """All processes started to read objects, in order."""
    processes: list[subprocess.Popen[bytes]] = []
    popen = subprocess.Popen

    def start(arguments: Sequence[str], **options: Any) -> subprocess.Popen[bytes]:
        process = popen(arguments, **options)
        if "cat-file" in arguments:
            processes.append(process)
        return process

    monkeypatch.setattr(subprocess, "Popen", start)
    return processes


def blob(repository: Repository, revision: str) -> str:
    return repository.git("rev-parse", revision)


def test_contents_by_hash_and_by_commit_and_path(repository: Repository, blobs: GitObjects) -> None:
    repository.write("größe und maß/a b.py", b"one\r\n\xff\0\n")
    repository.write("empty", b"")
    first = repository.commit("First")
    repository.write("größe und maß/a b.py", b"two")
    second = repository.commit("Second")
    found = [
        blobs.contents(f"{commit}:größe und maß/a b.py")
        for commit in (first, second, first[:9], second.upper())
    ]
    assert found == [b"one\r\n\xff\0\n", b"two", b"one\r\n\xff\0\n", b"two"]
    assert blobs.contents(blob(repository, f"{first}:größe und maß/a b.py")) == b"one\r\n\xff\0\n"
    assert blobs.contents(f"{first}:empty") == b""


def test_all_requests_go_to_one_process(
    repository: Repository, blobs: GitObjects, started: list[subprocess.Popen[bytes]]
) -> None:
    repository.write("a.py", "x\n")
    commit = repository.commit("One")
    assert not started
    for _ in range(50):
        assert blobs.contents(f"{commit}:a.py") == b"x\n"
        assert blobs.contents(f"{commit}:b.py") is None
    assert len(started) == 1


@pytest.mark.parametrize(
    "name",
    [
        *(
            "a\nb",
            "a\r",
            "-a",
            "a b",
            " a",
            "a:b",
            "a^{tree}",
            "@{1}",
            "(x)",
            "a\tb",
            "quote\"'",
            "a/../../a",
            "\udcff\udcfe",
            "HEAD",
            "*",
            "ß\n",
        ),
        *("deadbeef missing\nx", "a\\b", ":(top)a"),
    ],
)
@pytest.mark.skipif(sys.platform == "win32", reason="most of these names are not possible there")
def test_no_path_is_mistaken_for_a_request_or_an_answer(
    repository: Repository, blobs: GitObjects, name: str
) -> None:
    content = blob_of(repository, b"its own\n")
    other = blob_of(repository, b"another's\n")
    tree = f"100644 blob {content}\t{name}\0" if "/" not in name else ""
    commit = commit_of(repository, f"100644 blob {other}\tz\0{tree}")
    assert blobs.contents(f"{commit}:{name}") == (b"its own\n" if tree else None)
    assert blobs.contents(f"{commit}:{name}?") is None
    assert blobs.contents(f"{commit}:z") == b"another's\n"


def blob_of(repository: Repository, content: bytes) -> str:
    file = repository.path / ".git/content"
    file.write_bytes(content)
    return repository.git("hash-object", "-w", ".git/content")


def tree_of(repository: Repository, entries: str) -> str:
    environment = {**os.environ, "GIT_CONFIG_GLOBAL": os.devnull}
    done = subprocess.run(
        ["git", "mktree", "-z"],
        cwd=repository.path,
        input=os.fsencode(entries),
        env=environment,
        capture_output=True,
        check=True,
    )
    return done.stdout.decode().strip()


def commit_of(repository: Repository, entries: str) -> str:
    return repository.git("commit-tree", "-m", "Made", tree_of(repository, entries))


@pytest.mark.parametrize(
    "name",
    [
        "",
        ":",
        "a.py",
        "HEAD",
        "HEAD:a.py",
        "main:a.py",
        "--all",
        "0" * 40,
        "0" * 40 + ":a.py",
        "abc",
        "zz" * 20,
        "\n",
        "a\nb:c",
        "\0",
        "\ud800",
    ],
)
def test_invalid_object_names_return_none(
    repository: Repository, blobs: GitObjects, name: str
) -> None:
    repository.write("a.py", "x\n")
    commit = repository.commit("One")
    assert blobs.contents(name) is None
    assert blobs.contents(f"{commit}:a.py") == b"x\n", "the next request gets its own answer"


@pytest.mark.parametrize(
    "path",
    [
        "",
        "/",
        "src",
        "src/",
        "src/a.py/x",
        "/src/a.py",
        "src//a.py",
        "link",
        "link/a.py",
        "\0",
        "\ud800",
        ".",
        "..",
    ],
)
@pytest.mark.skipif(sys.platform == "win32", reason="has symbolic links")
def test_only_files_have_contents(repository: Repository, blobs: GitObjects, path: str) -> None:
    repository.write("src/a.py", "x\n")
    (repository.path / "link").symlink_to("src")
    commit = repository.commit("One")
    assert blobs.contents(f"{commit}:{path}") is None
    assert blobs.contents(f"{commit}:src/a.py") == b"x\n"
    assert [
        blobs.contents(blob(repository, name))
        for name in (commit, f"{commit}^{{tree}}", f"{commit}:src")
    ] == [None, None, None]


def test_a_commit_by_a_unique_prefix(repository: Repository, blobs: GitObjects) -> None:
    first = repository.commit("First", "2026-02-03T10:00:00+02:00")
    repository.git("branch", first[:6], repository.commit("Second"))
    assert blobs.commit(first[:8]) == Commit(first, datetime(2026, 2, 3, 8, tzinfo=UTC))
    assert blobs.commit(first.upper()) == blobs.commit(first)
    assert blobs.commit(first[:6]) is None, "a branch of that name is another commit"
    assert blobs.commit(first[:3]) is None


def test_head_is_always_current(repository: Repository, blobs: GitObjects) -> None:
    assert blobs.head() is None
    first = repository.commit("First")
    assert blobs.head() == first
    repository.switch("topic", create=True)
    second = repository.commit("Second")
    assert blobs.head() == second
    repository.git("pack-refs", "--all")
    repository.git("gc", "--quiet")
    repository.switch("main")
    assert blobs.head() == first


def test_objects_packed_or_created_later_are_found(
    repository: Repository, blobs: GitObjects
) -> None:
    repository.write("a.py", "1\n")
    first = repository.commit("First")
    assert blobs.contents(f"{first}:a.py") == b"1\n"
    repository.write("a.py", "2\n")
    second = repository.commit("Second")
    repository.git("gc", "--quiet", "--prune=now")
    assert [blobs.contents(f"{commit}:a.py") for commit in (first, second)] == [b"1\n", b"2\n"]


def test_objects_over_the_limit_are_not_read(
    repository: Repository, started: list[subprocess.Popen[bytes]]
) -> None:
    repository.write("large", "x" * 1001)
    repository.write("small", "x" * 1000)
    commit = repository.commit("One")
    with GitObjects(repository.path, limit=1000) as blobs:
        assert blobs.contents(f"{commit}:large") is None
        assert blobs.contents(f"{commit}:small") == b"x" * 1000
    assert len(started) <= 2


def test_a_dead_process_is_restarted(
    repository: Repository, blobs: GitObjects, started: list[subprocess.Popen[bytes]]
) -> None:
    repository.write("a.py", "x\n")
    commit = repository.commit("One")
    for _ in range(3):
        assert blobs.contents(f"{commit}:a.py") == b"x\n"
        started[-1].kill()
        started[-1].wait()
    assert len(started) == 3


def test_a_damaged_object_does_not_affect_others(repository: Repository, blobs: GitObjects) -> None:
    repository.write("a.py", "damaged\n")
    repository.write("b.py", "whole\n")
    commit = repository.commit("One")
    name = blob(repository, "HEAD:a.py")
    file = repository.path / ".git/objects" / name[:2] / name[2:]
    file.chmod(0o644)
    file.write_bytes(file.read_bytes()[:-6])
    assert blobs.contents(f"{commit}:b.py") == b"whole\n"
    assert blobs.contents(name) is None
    assert blobs.contents(f"{commit}:a.py") is None
    assert blobs.contents(f"{commit}:b.py") == b"whole\n"


def test_a_missing_object_does_not_affect_others(repository: Repository, blobs: GitObjects) -> None:
    repository.write("a.py", "missing\n")
    repository.write("b.py", "here\n")
    commit = repository.commit("One")
    name = blob(repository, "HEAD:a.py")
    (repository.path / ".git/objects" / name[:2] / name[2:]).unlink()
    assert blobs.contents(f"{commit}:a.py") is None
    assert blobs.contents(f"{commit}:b.py") == b"here\n"


def test_threads_get_their_own_answers(repository: Repository, blobs: GitObjects) -> None:
    for number in range(20):
        repository.write(f"{number}.py", f"{number}\n" * 1000)
    commit = repository.commit("All")
    wrong: list[int] = []

    def ask(number: int) -> None:
        expected = f"{number}\n".encode() * 1000
        wrong.extend(
            number for _ in range(20) if blobs.contents(f"{commit}:{number}.py") != expected
        )

    threads = [threading.Thread(target=ask, args=(number,)) for number in range(20)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


def test_the_tree_entry_at_a_path(repository: Repository, blobs: GitObjects) -> None:
    repository.write("src/a.py", "x\n")
    repository.git("update-index", "--add", "--cacheinfo", f"160000,{'ab' * 20},sub")
    repository.git("add", "src/a.py")
    repository.git("commit", "--quiet", "--message", "One")
    commit = repository.head()
    file, folder, submodule = (
        blobs.entry(commit, "src/a.py"),
        blobs.entry(commit, "src"),
        blobs.entry(commit, "sub"),
    )
    assert file == TreeEntry("100644", blob(repository, "HEAD:src/a.py"))
    assert folder == TreeEntry("040000", blob(repository, "HEAD:src"))
    assert submodule == blobs.entry(commit, "sub/deep/a.py") == TreeEntry("160000", "ab" * 20)
    assert file.is_file
    assert not folder.is_file
    assert not submodule.is_file
    assert submodule.is_submodule
    assert blobs.contents(f"{commit}:sub") is None


def test_close_ends_the_process_and_later_requests_return_none(
    repository: Repository, started: list[subprocess.Popen[bytes]]
) -> None:
    repository.write("a.py", "x\n")
    commit = repository.commit("One")
    blobs = GitObjects(repository.path)
    assert blobs.head() == commit
    blobs.close()
    assert started[0].returncode is not None
    assert blobs.contents(f"{commit}:a.py") is None
    assert blobs.head() is None
    blobs.close()
    assert len(started) == 1


def test_garbage_collection_ends_the_process(
    repository: Repository, started: list[subprocess.Popen[bytes]]
) -> None:
    repository.commit("One")
    blobs = GitObjects(repository.path)
    assert blobs.head()
    del blobs
    gc.collect()
    assert started[0].returncode is not None


PROGRAM = """
import atexit, os, pathlib, subprocess, sys
started = []
class Popen(subprocess.Popen):
    def __init__(self, *arguments, **options):
        super().__init__(*arguments, **options)
        started.append(self)
subprocess.Popen = Popen
atexit.register(lambda: print([each.returncode for each in started]))
from vibes_lsp.git.objects import GitObjects
kept = GitObjects(pathlib.Path(sys.argv[1]))
assert kept.head()
if sys.argv[2] == "kill":
    os.kill(os.getpid(), 9)
"""


def test_the_process_ends_with_the_program(repository: Repository) -> None:
    repository.commit("One")
    run = [sys.executable, "-c", PROGRAM, str(repository.path), "end"]
    done = subprocess.run(run, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.strip() not in {"[None]", "[]"}


@pytest.mark.skipif(sys.platform == "win32", reason="replaces git with a shell script")
def test_the_process_ends_even_when_the_program_is_killed(
    repository: Repository, tmp_path: Path
) -> None:
    repository.commit("One")
    git = require("git", "is the process that must end")
    ended = tmp_path / "ended"
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin/git").write_text(f'#!/bin/sh\n"{git}" "$@"\n: > "{ended}"\n')
    (tmp_path / "bin/git").chmod(0o755)
    run = [sys.executable, "-c", PROGRAM, str(repository.path), "kill"]
    environment = {**os.environ, "PATH": f"{tmp_path / 'bin'}{os.pathsep}{os.environ['PATH']}"}
    assert subprocess.run(run, env=environment, capture_output=True, check=False).returncode == -9
    while not ended.exists():  # until the test's time limit
        threading.Event().wait(0.01)


def test_nothing_at_a_path_differs_from_a_folder_that_cannot_be_read(
    repository: Repository, monkeypatch: pytest.MonkeyPatch
) -> None:
    repository.write("src/a.py", "1\n")
    repository.write("lib/b.py", "1\n")
    commit = repository.commit("One")
    entry = TreeEntry("100644", blob(repository, f"{commit}:src/a.py"))
    lib = blob(repository, f"{commit}:lib")
    (repository.path / ".git/objects" / lib[:2] / lib[2:]).unlink()
    with GitObjects(repository.path) as opened:
        assert opened.certain_entry(commit, "src/a.py") == entry
        for path in ("src/b.py", "b.py", "src/a.py/b.py", "none/b.py", ""):
            assert opened.certain_entry(commit, path) is None
        with pytest.raises(HistoryUnavailable):
            opened.certain_entry("0" * 40, "src/a.py")
        with pytest.raises(HistoryUnavailable):
            opened.certain_entry(commit, "lib/c.py")
        assert opened.entry(commit, "lib/c.py") is None
    with GitObjects(repository.path, limit=10) as small, pytest.raises(HistoryUnavailable):
        small.certain_entry(commit, "src/b.py")
    monkeypatch.setenv("PATH", "")
    with GitObjects(repository.path) as without_git, pytest.raises(HistoryUnavailable):
        without_git.certain_entry(commit, "src/b.py")
