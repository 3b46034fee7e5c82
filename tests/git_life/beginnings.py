"""How a history begins: a repository with some files and commits of persons, an hour old, and a trail."""

from __future__ import annotations

import atexit
import shutil
import tempfile
import time
from functools import cache
from pathlib import Path
from typing import Final

from tests.git_life.history import Form, History
from tests.git_life.nothing import Nothing
from tests.git_life.work_tree import TRAIL, WorkTree

_VARIANTS: Final = 5
"""Repositories of each language that histories begin with."""


def begin(history: History) -> WorkTree:
    """Return the first work tree of a history."""
    shared = _shared(history.coder.language, history.rng.randrange(_VARIANTS), history.form)
    shutil.copytree(shared.path, history.root / "work")
    history.continue_from(shared.history)
    work = WorkTree(history, history.root / "work")
    work.carry(shared.disk)
    start_trail(work)
    return work


def build(history: History, name: str, *, files: int = 4) -> WorkTree:
    """Return a new repository without a trail."""
    work = WorkTree(history, history.root / name)
    options = ("--template=", f"--object-format={history.form.object_format}")
    history.git(history.root, "init", "-q", *options, str(work.path))
    (work.path / ".git" / "hooks").mkdir()
    if history.form.line_end == "\r\n":
        (work.path / ".gitattributes").write_text(
            f"*.{history.coder.extension} text eol=crlf\n", "utf-8"
        )
    for number in range(files):
        path = history.path("abcdefgh"[number])
        work.put(path, ())
        for _ in range(history.rng.randint(4, 7)):
            work.insert(path, len(work.lines(path)), history.write(history.coder.function()))
    _commit_old(work, "Begin", ".")
    for message in ("Go on", "Go on once more"):
        path = work.a_file()
        work.person(path)
        _commit_old(work, message, path)
    return work


def start_trail(work: WorkTree) -> None:
    """Start a trail, and commit it."""
    work.history.subject.init(work.project)
    if work.trail_status():
        _commit_old(work, "Start a trail", *TRAIL)


def _commit_old(work: WorkTree, message: str, *paths: str) -> None:
    """Commit files as if that were an hour ago."""
    date = f"@{int(time.time()) - 3600} +0000"
    work.git("add", "-A", "--", *paths)
    work.history.git(
        work.path,
        *("commit", "-q", "--no-verify", "-m", message),
        environment={"GIT_AUTHOR_DATE": date, "GIT_COMMITTER_DATE": date},
    )
    work.index = dict(work.disk)
    work.register(work.head, work.index)


@cache
def _shared(language: str, variant: int, form: Form) -> WorkTree:
    """Return a repository that is copied by many histories."""
    folder = tempfile.mkdtemp(prefix="git-life-")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    history = History(Path(folder).resolve(), Nothing, language, f"beginning {variant}", form=form)
    work = build(history, "work")
    work.close()
    return work
