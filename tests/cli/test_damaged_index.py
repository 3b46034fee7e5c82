"""A damaged index of the log is noticed by no one, and never makes a command act twice."""

from __future__ import annotations

import gc
import io
import json
import sys
from typing import TYPE_CHECKING

import pytest

from tests.unit.recording.projects import SOURCE, Project, new_project
from vibes_lsp.cli import blame, main, output
from vibes_lsp.errors import OutdatedIndex

if TYPE_CHECKING:
    from pathlib import Path

    from tests.cli.run_vibes import RunVibes

_PAGE = 4096
SESSION = {
    "tool": {"name": "Some Tool", "version": "1"},
    "model": {"name": "some-model", "version": "1"},
}
LINES = {"file": "a.py", "lineStart": 4, "lineEnd": 6, "action": "create"}


class IndexedProject:
    """A project with a saved index of its log."""

    def __init__(self, project: Project, run_vibes: RunVibes, cache: Path) -> None:
        self.root, self._cache, self._vibes = project.root, cache, run_vibes
        session = self.record("session-start", SESSION)["sessionId"]
        self.lines = {**LINES, "sessionId": session}
        self.record("annotate", self.lines)

    def record(self, kind: str, members: object) -> dict[str, str]:
        source = self.root.parent / "input.json"
        source.write_text(json.dumps(members))
        done = self._vibes("record", kind, "--input", source, cwd=self.root)
        assert done.code == 0, done.err
        result: dict[str, str] = done.json
        return result

    def damage(self) -> None:
        """Save the index, and damage all of its pages but the first."""
        assert self._vibes("log", cwd=self.root).code == 0
        gc.collect()  # which closes the index
        [path] = self._cache.glob("vibes-lsp/trail/*.db")
        data = path.read_bytes()
        assert len(data) > _PAGE
        path.write_bytes(data[:_PAGE] + b"damage" * (len(data) // 6))

    def count(self) -> int:
        return (self.root / ".ai-audit/annotations.jsonl").read_bytes().count(b'"type":"line"')


@pytest.fixture
def indexed(tmp_path: Path, run_vibes: RunVibes, monkeypatch: pytest.MonkeyPatch) -> IndexedProject:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return IndexedProject(new_project(tmp_path / "project"), run_vibes, tmp_path / "cache")


def outdated_once(monkeypatch: pytest.MonkeyPatch, module: object, name: str) -> list[str]:
    """Make the first call of a function find an outdated index; return its calls."""
    calls: list[str] = []
    function = getattr(module, name)

    def called(*arguments: object) -> object:
        calls.append(name)
        if len(calls) == 1:
            raise OutdatedIndex("the index is outdated", hint="run this again")
        return function(*arguments)

    monkeypatch.setattr(module, name, called)
    return calls


def test_contents_on_standard_input_are_those_of_the_answer(
    indexed: IndexedProject, run_vibes: RunVibes, monkeypatch: pytest.MonkeyPatch
) -> None:
    def answer() -> str:
        typed = io.TextIOWrapper(io.BytesIO(SOURCE.encode()))
        monkeypatch.setattr(sys, "stdin", typed)
        return run_vibes("blame", "a.py", "--contents", "-", cwd=indexed.root).out

    before = answer()
    assert "some-model" in before
    calls = outdated_once(monkeypatch, blame, "blame_file")
    assert answer() == before
    assert len(calls) == 2


def test_a_damaged_index_changes_no_answer(indexed: IndexedProject, run_vibes: RunVibes) -> None:
    before = run_vibes("blame", "a.py", "--json", cwd=indexed.root).out
    indexed.damage()
    assert run_vibes("blame", "a.py", "--json", cwd=indexed.root).out == before


def test_what_is_recorded_with_a_damaged_index_is_recorded_once(indexed: IndexedProject) -> None:
    indexed.damage()
    before = indexed.count()
    indexed.record("annotate", {**indexed.lines, "lineEnd": 5})
    assert indexed.count() == before + 1


@pytest.mark.parametrize(
    ("name", "text"), [("record", ""), ("review", ""), ("log", "one line\n"), ("query", "")]
)
def test_a_command_that_acted_or_printed_runs_once(
    name: str,
    text: str,
    indexed: IndexedProject,
    run_vibes: RunVibes,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    runs: list[str] = []

    def act(*_: object, **__: object) -> None:
        runs.append(name)
        if text:
            output.print_line(text.strip())
        raise OutdatedIndex("the index is outdated", hint="run this again")

    monkeypatch.setattr(main.vibes, "main", act)
    done = run_vibes(name, cwd=indexed.root)
    assert (runs, done.code, done.out) == ([name], 2, text)
    assert "run this again" in done.err
