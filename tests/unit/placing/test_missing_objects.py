"""Objects that git names and cannot read: nothing is sure that depends on them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.trails import OMIT
from tests.unit.placing.test_project_owners import AFTER, BEFORE, BLOCK, PERSON, Files
from vibes_lsp.errors import HistoryUnavailable
from vibes_lsp.git import line_origins
from vibes_lsp.git.repository import open_repository

if TYPE_CHECKING:
    from pathlib import Path

LATER = "2026-02-03T13:00:00+00:00"


@pytest.fixture
def files(tmp_path: Path) -> Files:
    return Files(tmp_path)


def remove(files: Files, name: str) -> None:
    """Remove an object from the repository, as a partial clone or a damaged disk does."""
    identifier = files.repository.git("rev-parse", name).strip()
    (files.root / ".git" / "objects" / identifier[:2] / identifier[2:]).unlink()


@pytest.mark.parametrize(
    "missing", ["HEAD:a.py", "HEAD:.ai-audit", "HEAD:.ai-audit/annotations.jsonl", "HEAD^{tree}"]
)
@pytest.mark.parametrize("members", [{}, {"line_hashes": OMIT}], ids=["hashes", "anchors"])
def test_nothing_is_sure_of_a_file_that_git_cannot_read(
    files: Files, members: dict[str, object], missing: str
) -> None:
    files.write("a.py", *PERSON, *BLOCK)
    files.repository.commit("By a person", date=BEFORE)
    files.edit("a.py", 5, 10, *PERSON, *BLOCK, **members)
    files.repository.commit("The record", date=AFTER)
    files.write("a.py", *PERSON, "more of the person", *BLOCK)
    remove(files, missing)
    assert not any(placement.located.sure for placement in files.located("a.py"))


def test_nothing_is_sure_where_the_commit_of_head_is_missing(files: Files) -> None:
    files.repository.commit("Begun", date=BEFORE)
    files.edit("a.py", 5, 10, *PERSON, *BLOCK, line_hashes=OMIT)
    files.edit("a.py", 1, 4, *PERSON, *BLOCK)
    assert all(placement.located.sure for placement in files.located("a.py"))
    remove(files, "HEAD")
    placements = files.located("a.py")
    assert len(placements) == 2
    assert not any(placement.located.sure for placement in placements)


def test_before_the_first_commit_nothing_is_missing(files: Files) -> None:
    repository = open_repository(files.root)
    assert repository is not None
    assert repository.certain_head() is None
    head = files.repository.commit("First", date=BEFORE)
    assert repository.certain_head() == head
    repository.close()
    with pytest.raises(HistoryUnavailable):
        repository.certain_head()


def test_a_copy_beside_a_file_that_git_cannot_read_is_not_sure(files: Files) -> None:
    files.edit("b.py", 1, 6, *BLOCK)
    files.edit("a.py", 1, 4, *PERSON)
    files.write("a.py", *PERSON, *BLOCK)
    files.repository.commit("With a copy by a person", date=AFTER)
    remove(files, "HEAD:b.py")
    sure = [placement for placement in files.located("a.py") if placement.located.sure]
    assert all(placement.owned_ranges == ((1, 4),) for placement in sure)


def test_what_a_commit_brought_is_not_sure_where_its_parent_lacks_the_log(files: Files) -> None:
    files.edit("a.py", 1, 6, *BLOCK)
    files.repository.commit("The edit", date=AFTER)
    files.write("a.py", *PERSON)
    files.repository.commit("Removed", date=LATER)
    files.write("a.py", *PERSON, *BLOCK)
    files.edit("b.py", 1, 4, *PERSON)
    files.repository.commit("Typed by a person", date="2026-02-03T14:00:00+00:00")
    assert files.owned("a.py") == {}
    remove(files, "HEAD~1:.ai-audit")
    assert not any(placement.located.sure for placement in files.located("a.py"))


def test_git_that_cannot_say_where_lines_are_from_contradicts_nothing(
    files: Files, monkeypatch: pytest.MonkeyPatch
) -> None:
    files.write("a.py", *BLOCK)
    files.repository.commit("Begun", date=BEFORE)
    files.edit("a.py", 5, 10, *PERSON, *BLOCK, line_hashes=OMIT)
    files.repository.commit("Made", date=AFTER)

    def fail(*_: object, **__: object) -> None:
        raise HistoryUnavailable("too slow")

    monkeypatch.setattr(line_origins, "git_lines", fail)
    (placement,) = files.located("a.py")
    assert not placement.located.is_contradicted
    assert not placement.located.sure
    assert placement.owned_ranges == ((5, 10),)
