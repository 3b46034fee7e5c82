"""Fixtures of the command line tests: audit trails, and `vibes` run in this process."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from tests.cli.agent_setup import Setup
from tests.cli.attested_project import AttestedProject
from tests.cli.hook_repository import HookRepository
from tests.cli.run_vibes import CommandResult, decode_output
from tests.unit.checks.projects import Project, build, copied
from vibes_lsp.cli.main import run

if TYPE_CHECKING:
    from pathlib import Path

    from tests.cli.run_vibes import RunVibes
    from tests.trails import CompleteTrail


@pytest.fixture(scope="package")
def valid_trail(tmp_path_factory: pytest.TempPathFactory) -> CompleteTrail:
    """A valid audit trail at level high, committed; tests only read it."""
    return build(tmp_path_factory.mktemp("sound") / "project", "high")


@pytest.fixture
def project(valid_trail: CompleteTrail, tmp_path: Path) -> Project:
    """A copy of the valid audit trail, for tests that damage it."""
    return copied(valid_trail, tmp_path / "project")


@pytest.fixture(scope="module")
def attested(tmp_path_factory: pytest.TempPathFactory) -> AttestedProject:
    """A project with an attestation, which tests only read."""
    return AttestedProject.create(tmp_path_factory.mktemp("attested"))


@pytest.fixture
def own(tmp_path: Path) -> AttestedProject:
    """A project with an attestation, which a test may change."""
    return AttestedProject.create(tmp_path)


@pytest.fixture
def run_vibes(run_vibes_unchecked: RunVibes) -> RunVibes:
    """Run `vibes` in this process; an internal error fails the test."""

    def vibes(*arguments: str | Path, cwd: Path) -> CommandResult:
        done = run_vibes_unchecked(*arguments, cwd=cwd)
        assert "internal error" not in done.err, done.err
        return done

    return vibes


@pytest.fixture
def run_vibes_unchecked(
    monkeypatch: pytest.MonkeyPatch, capfdbinary: pytest.CaptureFixture[bytes]
) -> RunVibes:
    """Run `vibes` in this process; internal errors are reported as to users."""
    monkeypatch.setenv("COLUMNS", "80")

    def vibes(*arguments: str | Path, cwd: Path) -> CommandResult:
        monkeypatch.chdir(cwd)
        capfdbinary.readouterr()
        code = run([str(argument) for argument in arguments])
        out, err = capfdbinary.readouterr()
        return CommandResult(code, decode_output(out), decode_output(err))

    return vibes


@pytest.fixture
def hook_repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> HookRepository:
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.setenv("CALL_LOG", str(tmp_path / "calls"))
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(tmp_path / "gitconfig"))
    return HookRepository(tmp_path / "project", tmp_path / "bin", tmp_path / "calls")


@pytest.fixture
def setup(tmp_path: Path) -> Setup:
    """A project and a home folder, with nothing of any agent."""
    return Setup(tmp_path)
