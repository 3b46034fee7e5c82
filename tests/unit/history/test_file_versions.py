"""The versions of a file across renames, merges and side branches."""

from __future__ import annotations

import sys
from datetime import datetime, timedelta
from itertools import pairwise
from typing import TYPE_CHECKING

import pytest

from tests.trails import Repository
from tests.trails.repository import START
from tests.unit.history.repositories import TEXT, open_git
from vibes_lsp.history import file_versions
from vibes_lsp.history.file_versions import FileVersions, trace_file
from vibes_lsp.history.file_walks import walk_before, walk_files
from vibes_lsp.history.project_history import ProjectHistory
from vibes_lsp.history.renames import renames_in_commit
from vibes_lsp.patience import FILE_HISTORY

if TYPE_CHECKING:
    from pathlib import Path


def versions(repository: Repository, path: str) -> FileVersions:
    found = open_git(repository)
    head, boundary = found.head() or "", found.shallow_boundary()
    return trace_file(
        head,
        path,
        boundary,
        lambda commit: renames_in_commit(found, commit)[0],
        walked=walk_files(found, [head], [path], patience=FILE_HISTORY)[path],
        walk_before=lambda commit, name: walk_before(found, commit, name, None),
    ).versions


def commits(repository: Repository, path: str) -> list[str]:
    return [version.commit for version in versions(repository, path).versions]


def at(minutes: float) -> datetime:
    return START + timedelta(minutes=minutes)


def test_the_versions_of_a_file_newest_first(repository: Repository) -> None:
    repository.write("src/a.py", "1\n")
    first = repository.commit("First")
    repository.write("b.py", "1\n")
    repository.commit("Other file")
    repository.write("src/a.py", "2\n")
    third = repository.commit("Third")
    found = versions(repository, "src/a.py")
    assert [(each.commit, each.path, each.moment) for each in found.versions] == [
        (third, "src/a.py", at(2)),
        (first, "src/a.py", at(0)),
    ]
    assert [each.blob for each in found.versions] == [
        repository.git("rev-parse", f"{each}:src/a.py") for each in (third, first)
    ]


def test_unknown_files_and_folders_have_no_versions(repository: Repository) -> None:
    repository.write("src/a.py", "1\n")
    repository.commit("First")
    for path in ("none.py", "src", "src/", "", "src/a.py/x", "../a.py", "/a.py"):
        assert versions(repository, path).versions == (), path


def test_renames_with_edits_are_followed(repository: Repository) -> None:
    names = ["a.py", "src/b.py", "src/größe c.py"]
    repository.write(names[0], TEXT)
    expected = [(repository.commit("First"), names[0])]
    for old, new in pairwise(names):
        (repository.path / new).parent.mkdir(exist_ok=True)
        (repository.path / old).rename(repository.path / new)
        repository.write(new, TEXT + f"and {new}\n")
        expected.insert(0, (repository.commit("Renamed and edited"), new))
    found = versions(repository, names[-1])
    assert [(each.commit, each.path) for each in found.versions] == expected
    assert found.names == tuple(reversed(names))


def test_the_history_of_a_deleted_file(repository: Repository) -> None:
    repository.write("a.py", TEXT)
    first = repository.commit("First")
    (repository.path / "a.py").rename(repository.path / "b.py")
    second = repository.commit("Second")
    found = versions(repository, "a.py")
    assert ([each.commit for each in found.versions], found.deletions) == ([first], (second,))


def test_a_deleted_and_recreated_file_has_all_its_versions(repository: Repository) -> None:
    repository.write("a.py", "1\n")
    first = repository.commit("In")
    (repository.path / "a.py").unlink()
    out = repository.commit("Out")
    repository.write("a.py", "3\n")
    third = repository.commit("In again")
    found = versions(repository, "a.py")
    assert ([each.commit for each in found.versions], found.deletions) == ([third, first], (out,))


def test_a_new_file_at_an_old_path_is_a_different_file(repository: Repository) -> None:
    repository.write("a.py", TEXT)
    first = repository.commit("First")
    (repository.path / "a.py").rename(repository.path / "b.py")
    second = repository.commit("Second")
    repository.write("a.py", "quite another\n")
    repository.commit("Third")
    assert commits(repository, "b.py") == [second, first]


def test_versions_of_a_merged_branch_and_of_the_merge_itself(repository: Repository) -> None:
    repository.write("a.py", f"top\n{TEXT}bottom\n")
    first = repository.commit("First")
    repository.switch("topic", create=True)
    repository.write("a.py", f"TOP\n{TEXT}bottom\n")
    topic = repository.commit("Topic")
    repository.switch("main")
    repository.write("a.py", f"top\n{TEXT}BOTTOM\n")
    main = repository.commit("Main")
    merge = repository.merge("topic")
    found = commits(repository, "a.py")
    assert (found[0], set(found[1:3]), found[3:]) == (merge, {topic, main}, [first])


def test_a_merge_that_took_one_side_keeps_the_other_in_history(repository: Repository) -> None:
    """An annotation may describe the discarded side."""
    repository.write("a.py", "1\n")
    first = repository.commit("First")
    repository.switch("topic", create=True)
    repository.write("a.py", "of the topic\n")
    topic = repository.commit("Topic")
    repository.switch("main")
    repository.git(
        "merge", "--quiet", "--no-ff", "--strategy", "ours", "--message", "Ours", "topic"
    )
    assert commits(repository, "a.py") == [topic, first]


def test_a_limit_makes_the_history_incomplete(
    repository: Repository, monkeypatch: pytest.MonkeyPatch
) -> None:
    made: list[str] = []
    for number in range(5):
        repository.write("a.py", f"{number}\n")
        made.insert(0, repository.commit(f"Commit {number}"))
    monkeypatch.setattr(file_versions, "_LIMIT", 3)
    found = versions(repository, "a.py")
    assert [each.commit for each in found.versions] == made[:3]
    monkeypatch.setattr(file_versions, "_LIMIT", 5)
    assert commits(repository, "a.py") == made


def test_a_symbolic_link_is_no_version(repository: Repository) -> None:
    repository.write("a.py", "1\n")
    first = repository.commit("First")
    (repository.path / "a.py").unlink()
    (repository.path / "a.py").symlink_to("elsewhere")
    repository.commit("Link")
    assert commits(repository, "a.py") == [first]


@pytest.mark.parametrize(
    "path",
    [
        "a b.py",
        "größe/ß.py",
        'with"quote.py',
        "tab\there.py",
        "new\nline.py",
        "\nfirst.py",
        "-dash.py",
        "[x].py",
        ":(top).py",
        "\udcff.py",
        "*",
        ":x",
    ],
)
@pytest.mark.skipif(sys.platform == "win32", reason="most of these names are not possible there")
def test_names_of_any_characters(repository: Repository, path: str) -> None:
    repository.write("first.py", TEXT)
    repository.write("other.py", "x\n")
    first = repository.commit("First")
    (repository.path / path).parent.mkdir(exist_ok=True)
    (repository.path / "first.py").rename(repository.path / path)
    second = repository.commit("Second")
    found = versions(repository, path)
    assert [(each.commit, each.path) for each in found.versions] == [
        (second, path),
        (first, "first.py"),
    ]


@pytest.mark.parametrize(
    ("name", "value"),
    [
        *(
            ("diff.renames", "false"),
            ("diff.renameLimit", "1"),
            ("log.follow", "true"),
            ("diff.noprefix", "true"),
            ("diff.relative", "true"),
        ),
        *(
            ("core.abbrev", "7"),
            ("log.diffMerges", "off"),
            ("log.diffMerges", "first-parent"),
            ("format.pretty", "oneline"),
        ),
        *(
            ("log.showRoot", "false"),
            ("core.quotePath", "true"),
            ("color.ui", "always"),
            ("diff.orderFile", "none"),
            ("log.date", "relative"),
        ),
        *(
            ("diff.ignoreSubmodules", "all"),
            ("log.excludeDecoration", "*"),
            ("i18n.logOutputEncoding", "utf-16"),
            ("core.logAllRefUpdates", "0"),
        ),
    ],
)
def test_git_settings_do_not_change_the_result(
    repository: Repository, name: str, value: str
) -> None:
    for number in range(3):
        repository.write(f"{number}.py", TEXT + f"{number}\n" * 5)
    first = repository.commit("First")
    for number in range(3):
        repository.write(f"new {number}.py", TEXT + f"{number}\n" * 5 + "edited\n")
        (repository.path / f"{number}.py").unlink()
    second = repository.commit("Second")
    repository.git("config", name, value)
    assert commits(repository, "new 1.py") == [second, first]


def test_an_invalid_date_is_tolerated(repository: Repository) -> None:
    repository.write("a.py", "x\n")
    repository.commit("One")
    tree = repository.git("rev-parse", "HEAD^{tree}")
    (repository.path / ".git/odd").write_text(
        f"tree {tree}\nauthor A <a> 1 +0000\ncommitter A <a> 99999999999999999 +0000\n\nOdd\n"
    )
    odd = repository.git("hash-object", "--literally", "-t", "commit", "-w", ".git/odd")
    repository.git("update-ref", "HEAD", odd)
    assert commits(repository, "a.py") == [odd]


def test_prefetching_many_files_gives_the_same_result(tmp_path: Path) -> None:
    repository = Repository(tmp_path)
    for number in range(4):
        for name in ("a.py", "b.py", "sub/c.py"):
            repository.write(name, f"# {number}\n" * 30)
        repository.commit(f"change {number}")
    repository.git("mv", "b.py", "d.py")
    repository.commit("renamed")
    paths = ["a.py", "d.py", "sub/c.py", "absent.py"]
    with ProjectHistory(tmp_path) as one, ProjectHistory(tmp_path) as together:
        together.prefetch(paths)
        assert [together.versions(path) for path in paths] == [one.versions(path) for path in paths]
        assert len(together.versions("d.py").versions) == 5
