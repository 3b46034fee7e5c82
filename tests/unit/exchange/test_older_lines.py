"""An imported edit whose lines git had at their place before its session is another's (R14)."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

import pytest

from tests.trails import Repository, TrailWriter
from tests.trails.repository import START
from tests.unit.trail.trails import read_trail
from vibes_lsp.exchange import older_lines
from vibes_lsp.exchange.import_plan import (
    ImportedEdit,
    ImportedSession,
    ImportEvidence,
    ImportSource,
)
from vibes_lsp.exchange.older_lines import older_edits
from vibes_lsp.git.repository import open_repository
from vibes_lsp.model.vocabulary import Action
from vibes_lsp.recording.arguments import Model, Tool

if TYPE_CHECKING:
    from pathlib import Path

ABOVE = "def first():\n    return 1\n\n\n"
MADE = "def made():\n    return 2\n"
OTHER = "def other():\n    return 3\n"


@pytest.fixture
def repository(tmp_path: Path) -> Repository:
    repository = Repository(tmp_path / "project")
    TrailWriter(repository.path)
    return repository


def imported(
    commit: str | None, lines: tuple[int, int], minutes: float, session: str | None = None
) -> ImportedEdit:
    """Return an edit that was made some minutes after the first commit."""
    return ImportedEdit(
        ImportSource("a format", "an id", "a file"),
        "a.py",
        *lines,
        Action.MODIFY,
        None,
        commit,
        START + timedelta(minutes=minutes),
        ImportEvidence.TEXT,
        Tool("tool", "1"),
        Model("model", "1"),
        None if session is None else ImportedSession(session),
    )


def older(repository: Repository, *edits: ImportedEdit) -> list[int]:
    return sorted(older_edits(read_trail(repository.path), dict(enumerate(edits))))


def commit(repository: Repository, *texts: str) -> str:
    repository.write("a.py", "".join(texts))
    return repository.commit("Change")


def test_lines_that_come_back_are_older(repository: Repository) -> None:
    commit(repository, ABOVE, MADE)
    commit(repository, ABOVE, OTHER)
    again = commit(repository, "# moved\n", ABOVE, MADE)
    assert older(repository, imported(again, (6, 7), 20)) == [0]
    assert older(repository, imported(again, (1, 1), 20)) == []


def test_a_copy_at_another_place_is_new(repository: Repository) -> None:
    commit(repository, ABOVE, MADE)
    copied = commit(repository, ABOVE, MADE, OTHER, MADE)
    assert older(repository, imported(copied, (9, 10), 20)) == []


def test_lines_of_another_branch_are_older(repository: Repository) -> None:
    commit(repository, ABOVE)
    repository.switch("topic", create=True)
    commit(repository, ABOVE, MADE)
    repository.switch("main")
    repository.git("merge", "--quiet", "--strategy", "ours", "--message", "Not yet", "topic")
    made = commit(repository, ABOVE, MADE)
    assert older(repository, imported(made, (5, 6), 20)) == [0]


def test_only_versions_from_before_the_session_count(repository: Repository) -> None:
    commit(repository, ABOVE, MADE)
    commit(repository, ABOVE, OTHER)
    again = commit(repository, ABOVE, MADE)
    begun = imported(again, (1, 1), -1, "session")
    assert older(repository, begun, imported(again, (5, 6), 20, "session")) == []
    assert older(repository, imported(again, (5, 6), 2)) == [], "tools may commit and then record"


def test_the_lines_of_an_uncommitted_file_are_compared_as_it_is_saved(
    repository: Repository,
) -> None:
    commit(repository, ABOVE, MADE)
    repository.write("a.py", f"# new\n{ABOVE}{MADE}")
    edits = imported(None, (6, 7), 20), imported(None, (1, 1), 20), imported(None, (1, 99), 20)
    assert older(repository, *edits) == [0]


def test_what_is_not_there_is_not_older(repository: Repository, tmp_path: Path) -> None:
    made = commit(repository, MADE)
    (repository.path / "a.py").unlink()
    edits = imported(None, (1, 2), 20), imported("0" * 40, (1, 2), 20)
    assert older(repository, *edits) == []
    TrailWriter(tmp_path / "plain")
    assert (
        older_edits(read_trail(tmp_path / "plain"), {0: imported(made, (1, 2), 20)}) == frozenset()
    )


def test_git_ends_with_a_failure(repository: Repository, monkeypatch: pytest.MonkeyPatch) -> None:
    commit(repository, ABOVE, MADE)
    commit(repository, ABOVE, OTHER)
    again = commit(repository, ABOVE, MADE)
    git = open_repository(repository.path)
    assert git is not None

    def fail(*_: object) -> None:
        assert git.objects.contents(f"{again}:a.py") is not None
        raise KeyboardInterrupt

    monkeypatch.setattr(older_lines, "open_repository", lambda _: git)
    monkeypatch.setattr(older_lines, "came_from", fail)
    with pytest.raises(KeyboardInterrupt):
        older(repository, imported(again, (5, 6), 20))
    assert git.objects.contents(f"{again}:a.py") is None
