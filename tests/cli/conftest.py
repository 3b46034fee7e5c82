"""Trails to run the command line on: one that nobody writes to, and `vibes` within this process."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from tests.cli.hooked import Hooked
from tests.cli.running import Done, decoded
from tests.unit.checks.projects import Project, build, copied
from vibes_lsp.cli.main import run

if TYPE_CHECKING:
    from pathlib import Path

    from tests.cli.running import Vibes
    from tests.trails import CompleteTrail


@pytest.fixture(scope="package")
def sound(tmp_path_factory: pytest.TempPathFactory) -> CompleteTrail:
    """A sound trail at level high, committed; never written to."""
    return build(tmp_path_factory.mktemp("sound") / "project", "high")


@pytest.fixture
def project(sound: CompleteTrail, tmp_path: Path) -> Project:
    """A copy of the sound trail, to be spoilt."""
    return copied(sound, tmp_path / "project")


@pytest.fixture
def within(netted: Vibes) -> Vibes:
    """Run `vibes` within this process; a fault that nobody foresaw fails the test."""

    def vibes(*arguments: str | Path, cwd: Path) -> Done:
        done = netted(*arguments, cwd=cwd)
        assert "internal error" not in done.err, done.err
        return done

    return vibes


@pytest.fixture
def netted(monkeypatch: pytest.MonkeyPatch, capfdbinary: pytest.CaptureFixture[bytes]) -> Vibes:
    """Run `vibes` within this process as its users do, with the net that catches its faults."""
    monkeypatch.setenv("COLUMNS", "80")

    def vibes(*arguments: str | Path, cwd: Path) -> Done:
        monkeypatch.chdir(cwd)
        capfdbinary.readouterr()
        code = run([str(argument) for argument in arguments])
        out, err = capfdbinary.readouterr()
        return Done(code, decoded(out), decoded(err))

    return vibes


@pytest.fixture
def hooked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Hooked:
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.setenv("TOLD", str(tmp_path / "told"))
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(tmp_path / "gitconfig"))
    return Hooked(tmp_path / "project", tmp_path / "bin", tmp_path / "told")
