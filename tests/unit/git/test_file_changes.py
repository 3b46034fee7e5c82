"""What commits did to files, whatever their names and git's settings are."""

from __future__ import annotations

import sys
from datetime import datetime, timedelta

import pytest

from tests.trails import Repository
from tests.trails.repository import START
from tests.unit.git.repositories import TEXT, open_git
from vibes_lsp.git.current_names import current_names
from vibes_lsp.git.file_changes import (
    FileChange,
    commits_by_file,
    file_changes,
    last_changes,
)
from vibes_lsp.patience import FILE_HISTORY


def changes(repository: Repository, path: str) -> list[FileChange]:
    git = open_git(repository)
    return list(file_changes(git, ["HEAD"], [path], patience=FILE_HISTORY))


def commits(repository: Repository, path: str) -> list[str]:
    return [change.commit for change in changes(repository, path)]


def at(minutes: float) -> datetime:
    return START + timedelta(minutes=minutes)


def test_the_changes_of_a_file_newest_first(repository: Repository) -> None:
    repository.write("src/a.py", "1\n")
    first = repository.commit("First")
    repository.write("b.py", "1\n")
    repository.commit("Other file")
    repository.write("src/a.py", "2\n")
    third = repository.commit("Third")
    (repository.path / "src/a.py").unlink()
    fourth = repository.commit("Gone")
    found = changes(repository, "src/a.py")
    assert [(change.commit, change.path, change.moment) for change in found] == [
        (fourth, "src/a.py", at(3)),
        (third, "src/a.py", at(2)),
        (first, "src/a.py", at(0)),
    ]
    assert [change.blob for change in found[1:]] == [
        repository.git("rev-parse", f"{commit}:src/a.py") for commit in (third, first)
    ]
    assert [(change.is_new, change.is_file, change.is_deletion) for change in found] == [
        (False, False, True),
        (False, True, False),
        (True, True, False),
    ]


def test_unknown_files_and_folders_have_no_changes(repository: Repository) -> None:
    repository.write("src/a.py", "1\n")
    repository.commit("First")
    for path in ("none.py", "src", "src/", "", "src/a.py/x", "../a.py", "/a.py"):
        assert changes(repository, path) == [], path


def test_changes_of_a_merged_branch_and_of_the_merge_itself(repository: Repository) -> None:
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


def test_a_symbolic_link_is_no_file(repository: Repository) -> None:
    repository.write("a.py", "1\n")
    repository.commit("First")
    (repository.path / "a.py").unlink()
    (repository.path / "a.py").symlink_to("elsewhere")
    repository.commit("Link")
    assert [change.is_file for change in changes(repository, "a.py")] == [False, True]


def test_a_name_may_be_longer_than_what_is_read_at_once(
    repository: Repository, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A tree that somebody made has names that no file system has."""
    repository.write("a.py", TEXT)
    first = repository.commit("First")
    blob = bytes.fromhex(repository.git("rev-parse", "HEAD:a.py"))
    names = ["a.py", "b" * 3_000_000, "c.py"]
    entries = b"".join(b"100644 %b\0%b" % (name.encode(), blob) for name in names)
    file = repository.write(".git/tree", entries)
    tree = repository.git("hash-object", "-t", "tree", "-w", str(file))
    commit = repository.git("commit-tree", "-p", first, "-m", "Second", tree)
    monkeypatch.setattr("vibes_lsp.git.process._CHUNK", 512)
    assert commits_by_file(open_git(repository), [commit]) == {
        "a.py": {first},
        names[1]: {commit},
        "c.py": {commit},
    }


def test_names_and_messages_cannot_be_taken_for_commits(repository: Repository) -> None:
    hostile = "\x01" + "a" * 40
    repository.write(hostile, "1\n")
    head = repository.commit(f"Subject\n\n{hostile}\n\n:100644 100644 a b M")
    assert commits_by_file(open_git(repository), [head]) == {hostile: {head}}


def test_a_merge_changes_the_files_that_differ_from_a_parent(repository: Repository) -> None:
    repository.write("a.py", "1\n")
    first = repository.commit("First")
    repository.switch("other", create=True)
    repository.write("b.py", "1\n")
    other = repository.commit("Other")
    repository.switch("main")
    repository.write("c.py", "1\n")
    main = repository.commit("Main")
    head = repository.merge("other")
    assert commits_by_file(open_git(repository), [head]) == {
        "a.py": {first},
        "b.py": {other, head},
        "c.py": {main, head},
    }


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
    git = open_git(repository)
    assert [(change.commit, change.path) for change in changes(repository, path)] == [
        (second, path)
    ]
    assert current_names(git, ["first.py"]) == {"first.py": path}
    assert last_changes(git, second, None) == {
        path: (second, False),
        "first.py": (second, False),
        "other.py": (first, True),
    }
    assert commits_by_file(git, ["HEAD"])[path] == {second}
    assert commits_by_file(git, ["HEAD"], [path]) == {path: {second}}
    git.close()


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
    git = open_git(repository)
    assert commits(repository, "new 1.py") == [second]
    assert commits(repository, "1.py") == [second, first]
    assert current_names(git, ["1.py"]) == {"1.py": "new 1.py"}
    assert last_changes(git, second, None)["new 1.py"] == (second, False)
    git.close()


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
