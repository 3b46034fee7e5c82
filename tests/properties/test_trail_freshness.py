"""After anything that may become of a trail or of its saved index, the next answer is a new server's."""

from __future__ import annotations

import os
import shutil
import socket
import sqlite3
import sys
import tempfile
from collections.abc import Callable
from itertools import count
from pathlib import Path
from typing import Any, Final

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule
from typing_extensions import override

from tests.server.project import AS_RECORDED, STORY, Project
from vibes_lsp.errors import AmbiguousId, OutdatedIndex, UnreadableFile
from vibes_lsp.lsp.protocol.open_documents import Documents
from vibes_lsp.lsp.state.projects import Projects
from vibes_lsp.store.audit_dir import AuditDir
from vibes_lsp.trail.index_writer import IndexWriter
from vibes_lsp.trail.lookup import look_up_exact
from vibes_lsp.trail.trail import Trail

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="has no pipes in folders")

_LONG_AGO: Final = 1_700_000_000
"""Seconds of a time at which a file counts as settled, so that nothing reads it again in vain."""


def a_folder(path: Path, _: bytes) -> None:
    path.mkdir()
    (path / "a file").write_bytes(b"{}")


def a_socket(path: Path, _: bytes) -> None:
    with socket.socket(socket.AF_UNIX) as one, tempfile.TemporaryDirectory() as short:
        one.bind(f"{short}/s")
        Path(short, "s").rename(path)


def an_unreadable_file(path: Path, before: bytes) -> None:
    path.write_bytes(before)
    path.chmod(0)


BECOMES: Final[dict[str, Callable[[Path, bytes], object]]] = {
    "missing": lambda *_: None,
    "a folder": a_folder,
    "a pipe": lambda path, _: os.mkfifo(path),
    "a loop of links": lambda path, _: path.symlink_to(path.name),
    "an endless device": lambda path, _: path.symlink_to("/dev/zero"),
    "a socket": a_socket,
    "empty": lambda path, _: path.write_bytes(b""),
    "half": lambda path, before: path.write_bytes(before[: len(before) // 2]),
    "noise": lambda path, _: path.write_bytes(bytes(range(256)) * 9),
    "deep": lambda path, _: path.write_bytes(b'{"a":' * 9_000),
    "UTF-16": lambda path, before: path.write_bytes(before.decode().encode("utf-16")),
    "unreadable": an_unreadable_file,
    "the same elsewhere": lambda path, before: path.write_bytes(before),
}
DAMAGES: Final = (
    "empty",
    "noise",
    "a folder",
    "a link",
    "gone",
    "read-only",
    "open",
)


class Freshness(RuleBasedStateMachine):
    """A server that runs, and one that begins at each step, without a saved index."""

    def __init__(self) -> None:
        super().__init__()
        self._folder = Path(tempfile.mkdtemp(prefix="vibes-freshness-"))
        self._patch = pytest.MonkeyPatch()
        self._cache, self._no_cache = self._folder / "cache", self._folder / "none"
        self._patch.setenv("XDG_CACHE_HOME", str(self._cache))
        self._moments = count(_LONG_AGO)
        self._project = Project(self._folder / "project")
        self._files = self._project.files
        self._good: dict[Path, bytes] = {}

    @initialize()
    def begin(self) -> None:
        self._project.config(risk_scoring=AS_RECORDED)
        self._project.environment()
        prompt = self._project.prompt("Write it.")
        first = self._project.line("a.py", 4, 7, text=STORY, prompt=prompt, risk_score=0.9)
        self._project.review(first)
        self._uri = self._project.file("a.py").as_uri()
        self._other = self._project.annotated("b.py", prompt=prompt).as_uri()
        self._ids = [first, prompt]
        self._keep()
        self._running = self._server()

    @override
    def teardown(self) -> None:
        for each in self._running.all() if hasattr(self, "_running") else ():
            each.close()
        self._patch.undo()
        for path in (*self._good, *self._saved()):
            if not path.is_symlink() and path.exists():
                path.chmod(0o700)
        shutil.rmtree(self._folder)

    @rule(
        name=st.sampled_from(["log", "manifest", "config"]),
        becomes=st.sampled_from(sorted(BECOMES)),
        is_settled=st.booleans(),
    )
    def replace(self, name: str, becomes: str, is_settled: bool) -> None:
        path: Path = getattr(self._files, name)
        _remove(path)
        BECOMES[becomes](path, self._good[path])
        self._settle(path, is_settled=is_settled)

    @rule(is_settled=st.booleans())
    def restore(self, is_settled: bool) -> None:
        for path, data in self._good.items():
            _remove(path)
            path.write_bytes(data)
            self._settle(path, is_settled=is_settled)

    @rule(start=st.integers(1, 9), is_settled=st.booleans())
    def record(self, start: int, is_settled: bool) -> None:
        self.restore(is_settled)
        self._ids.append(self._project.line("a.py", start, start + 3, text=STORY))
        self._keep()
        self._settle(self._files.log, is_settled=is_settled)

    @rule(is_settled=st.booleans())
    def rewrite_in_place(self, is_settled: bool) -> None:
        """Change a record, with the same length and in the same file."""
        self.restore(is_settled)
        data = self._good[self._files.log]
        words = (b'"create"', b'"modify"')
        old, new = words if words[0] in data else words[::-1]
        with self._files.log.open("r+b") as file:
            file.write(data.replace(old, new, 1))
        self._keep()
        self._settle(self._files.log, is_settled=is_settled)

    @rule(fails=st.booleans())
    def save(self, fails: bool) -> None:
        """Save the index, as another process does; perhaps the disk is full."""
        with pytest.MonkeyPatch.context() as patch:
            if fails:
                patch.setattr(IndexWriter, "make_indexes", _disk_full)
            if self._files.log.is_file():
                other = Trail(AuditDir(self._files.log.parent), uses_saved=True)
                other.refresh()
                other.close()

    @rule(damage=st.sampled_from(DAMAGES))
    def damage(self, damage: str) -> None:
        for saved in self._saved():
            if damage == "read-only":
                saved.parent.chmod(0o500)
            elif damage == "open":
                saved.parent.chmod(0o777)
            else:
                saved.parent.chmod(0o700)
                _remove(saved)
                _write_damaged(saved, damage)

    @rule()
    def begin_again(self) -> None:
        for each in self._running.all():
            each.close()
        self._running = self._server()

    @invariant()
    def the_next_answer_is_that_of_a_new_server(self) -> None:
        if hasattr(self, "_running"):
            found = self._said(self._running)
            with pytest.MonkeyPatch.context() as patch:
                patch.setenv("XDG_CACHE_HOME", str(self._no_cache))
                fresh = self._server()
                expected = self._said(fresh)
                for each in fresh.all():
                    each.close()
                shutil.rmtree(self._no_cache, ignore_errors=True)
            assert found == expected

    def _server(self) -> Projects:
        documents = Documents()
        documents.open(self._uri, 1, STORY)
        return Projects(documents)

    def _said(self, projects: Projects) -> object:
        """Return what is said of an open file, of a closed one, and of some ids."""
        found: list[Any] = []
        for uri in (self._uri, self._other):
            snapshot = projects.snapshot(uri)
            assert snapshot is not None
            found.append([snapshot.report.placement(each) for each in snapshot.placements])
        found += [_looked_up(projects, self._uri, each) for each in self._ids]
        return found

    def _keep(self) -> None:
        files = self._files
        self._good = {path: path.read_bytes() for path in (files.log, files.manifest, files.config)}

    def _settle(self, path: Path, *, is_settled: bool) -> None:
        if is_settled and path.is_file():
            now = next(self._moments)
            os.utime(path, (now, now))

    def _saved(self) -> list[Path]:
        cache = self._cache / "vibes-lsp"
        return sorted([*cache.glob("trail/*"), *cache.glob("manifest/*")])


def _remove(path: Path) -> None:
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)


def _write_damaged(saved: Path, damage: str) -> None:
    match damage:
        case "empty":
            saved.write_bytes(b"")
        case "noise":
            saved.write_bytes(bytes(range(256)) * 40)
        case "a folder":
            saved.mkdir()
        case "a link":
            saved.symlink_to("elsewhere")


def _disk_full(writer: IndexWriter) -> None:
    [(_, _, path)] = writer.connection.execute("PRAGMA database_list")
    if path:
        raise sqlite3.OperationalError("database or disk is full")


def _looked_up(projects: Projects, uri: str, identifier: str) -> object:
    """Return what an id names; asked again where the index says that it is outdated."""
    for _ in range(3):
        owner = projects.owner(uri)
        assert owner is not None
        try:
            found = look_up_exact(owner[0].snapshot.trail, identifier)
        except OutdatedIndex:
            continue
        except (AmbiguousId, UnreadableFile) as error:
            return str(error)
        return found
    raise AssertionError("still outdated")


TestFreshness = Freshness.TestCase
TestFreshness.settings = settings(max_examples=25, stateful_step_count=12, deadline=None)
