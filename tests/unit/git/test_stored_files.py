"""Which texts git stores: HEAD shows what a filter keeps, and no filter is run."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.filters import NOTEBOOK, SECRETS, add_filter
from tests.trails import Repository
from vibes_lsp.anchors.text import Text
from vibes_lsp.errors import HistoryUnavailable
from vibes_lsp.git import stored_files
from vibes_lsp.git.objects import GitObjects, TreeEntry
from vibes_lsp.git.stored_files import StoredFiles

if TYPE_CHECKING:
    from pathlib import Path

SOURCE = "def first():\n    return 'one value'\n\n\ndef second():\n    return 'another value'\n"


@pytest.fixture
def repository(tmp_path: Path) -> Repository:
    repository = Repository(tmp_path / "project")
    repository.commit("Begin")
    return repository


def hiding(repository: Repository, path: str) -> str | None:
    """Return the filter that hides a file as it is on disk."""
    text = Text.from_bytes((repository.path / path).read_bytes())
    return StoredFiles(repository.path).hiding_filter(path, text)


@pytest.mark.parametrize("program", ["crypt", "lfs"])
def test_a_text_that_git_does_not_have_is_hidden(repository: Repository, program: str) -> None:
    add_filter(repository, program, "*.env", program=program)
    repository.write("a.env", SECRETS)
    assert hiding(repository, "a.env") == program
    repository.commit("Add secrets")
    assert hiding(repository, "a.env") == program
    repository.write("b.py", SOURCE)
    assert hiding(repository, "b.py") is None


@pytest.mark.parametrize("program", ["strip", ""])
def test_a_filter_that_keeps_lines_hides_nothing_once_a_commit_shows_it(
    repository: Repository, program: str
) -> None:
    add_filter(repository, "some", "*.ipynb", program=program)
    repository.write("a.ipynb", NOTEBOOK)
    assert hiding(repository, "a.ipynb") == "some"
    repository.commit("Add a notebook")
    assert hiding(repository, "a.ipynb") is None
    repository.write("a.ipynb", NOTEBOOK.replace("describe", "head") + "\n")
    assert hiding(repository, "a.ipynb") is None


def test_a_file_that_is_about_to_be_encrypted_is_hidden(repository: Repository) -> None:
    repository.write("a.env", SECRETS)
    repository.commit("Add secrets by mistake")
    assert hiding(repository, "a.env") is None
    repository.write(".gitattributes", "*.env filter=crypt\n")
    assert hiding(repository, "a.env") == "crypt"
    repository.git("add", ".gitattributes")
    assert hiding(repository, "a.env") == "crypt"


@pytest.mark.parametrize("file", [".gitattributes", "conf/.gitattributes"])
def test_a_macro_of_head_in_a_new_rule_hides(repository: Repository, file: str) -> None:
    repository.write(".gitattributes", "[attr]secret filter=crypt\n")
    repository.write("conf/.gitattributes", "# none\n")
    repository.write("conf/a.env", SECRETS)
    repository.commit("Add secrets by mistake")
    assert hiding(repository, "conf/a.env") is None
    rules = (repository.path / file).read_text()
    repository.write(file, f"{rules}*.env secret\n")
    assert hiding(repository, "conf/a.env") == "crypt"


def test_comments_of_attributes_hide_nothing(repository: Repository) -> None:
    repository.write(".gitattributes", "*.ipynb filter=strip\n")
    repository.write("a.ipynb", NOTEBOOK)
    repository.commit("Add a notebook")
    repository.write(".gitattributes", "# notebooks\r\n\r\n *.ipynb filter=strip\r\n")
    assert hiding(repository, "a.ipynb") is None


def test_large_attributes_are_not_those_of_head(
    repository: Repository, monkeypatch: pytest.MonkeyPatch
) -> None:
    repository.write("a.env", SECRETS)
    repository.commit("Add secrets by mistake")
    monkeypatch.setattr(stored_files, "_MAX_ATTRIBUTES", 10)
    repository.write(".gitattributes", "*.env filter=crypt\n")
    assert hiding(repository, "a.env") == "crypt"


@pytest.mark.parametrize(("size", "expected"), [(100, None), (2000, "crypt")])
def test_attributes_of_head_that_are_too_large_hide(
    repository: Repository, size: int, expected: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    repository.write("a.env", SECRETS)
    repository.write(".gitattributes", "#" * size)
    repository.commit("Add secrets")
    repository.write(".gitattributes", "")
    (repository.path / ".git/info/attributes").write_text("*.env filter=crypt\n")
    monkeypatch.setattr(stored_files, "_MAX_FILE", 1000)
    assert hiding(repository, "a.env") == expected


def test_answers_follow_the_attributes_and_head(repository: Repository) -> None:
    stored, text = StoredFiles(repository.path), Text(NOTEBOOK)
    repository.write("a.ipynb", NOTEBOOK)
    assert stored.hiding_filter("a.ipynb", text) is None
    add_filter(repository, "strip", "*.ipynb", program="strip")
    assert stored.hiding_filter("a.ipynb", text) == "strip"
    repository.commit("Add a notebook")
    assert stored.hiding_filter("a.ipynb", text) is None
    repository.write(".gitattributes", "*.ipynb -filter\n")
    assert stored.filters(["a.ipynb"]) == {}


@pytest.mark.parametrize(
    ("file", "line"),
    [
        (".git/info/attributes", "*.env filter=crypt\n"),
        ("conf/.gitattributes", "*.env filter=crypt\n"),
        (".gitattributes", "[attr]secret filter=crypt\nconf/** secret\n"),
    ],
)
def test_attributes_of_any_file_count(repository: Repository, file: str, line: str) -> None:
    repository.write("conf/a.env", SECRETS)
    repository.write(file, line)
    assert hiding(repository, "conf/a.env") == "crypt"


def test_attributes_of_the_user_count(
    repository: Repository, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    repository.write("a.env", SECRETS)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "home"))
    attributes = tmp_path / "home/git/attributes"
    attributes.parent.mkdir(parents=True)
    attributes.write_text("*.env filter=crypt\n")
    assert hiding(repository, "a.env") == "crypt"
    attributes.unlink()
    assert hiding(repository, "a.env") is None
    (tmp_path / "others").write_text("*.env filter=crypt\n")
    settings = tmp_path / "settings"
    settings.write_text(f"[core]\n\tattributesFile = {(tmp_path / 'others').as_posix()}\n")
    repository.git("config", "include.path", settings.as_posix())
    assert hiding(repository, "a.env") == "crypt"


@pytest.mark.parametrize(
    "setting",
    [
        "[include] path = {}",
        '[includeIf "gitdir:**"]path={} ; of all',
        '[include]\n\tpath = "{}" # quoted',
        "[include]\n\tpath = {}",
        '[include]\n\tpath = {:.4}"{rest}"',
        "[include]\n\tpath = {:.4}\\\n{rest}",
    ],
)
def test_each_way_to_include_settings_counts(
    repository: Repository, tmp_path: Path, setting: str
) -> None:
    repository.write("a.env", SECRETS)
    attributes, settings = tmp_path / "some attributes", tmp_path / "settings"
    attributes.write_text("*.env filter=crypt\n")
    settings.write_text(f"[core] attributesFile = {attributes.as_posix()}\n")
    name = settings.as_posix()
    with (repository.path / ".git/config").open("a") as config:
        config.write(setting.format(name, rest=name[4:]) + "\n")
    assert hiding(repository, "a.env") == "crypt"


def test_the_system_settings_that_git_is_given_count(
    repository: Repository, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    repository.write("a.env", SECRETS)
    (tmp_path / "attributes").write_text("*.env filter=crypt\n")
    settings = tmp_path / "system"
    settings.write_text(f"[core]\n\tattributesFile = {(tmp_path / 'attributes').as_posix()}\n")
    monkeypatch.setenv("GIT_CONFIG_SYSTEM", str(settings))
    assert hiding(repository, "a.env") == "crypt"


def test_a_folder_that_is_not_a_repository_does_not_end_the_search(
    repository: Repository,
) -> None:
    add_filter(repository, "crypt", "*.env")
    repository.write("sub/a.env", SECRETS)
    (repository.path / "sub/.git").mkdir()
    assert hiding(repository, "sub/a.env") == "crypt"
    (repository.path / "sub/.git/config").write_text("[core]\n")
    assert hiding(repository, "sub/a.env") == "crypt"


def test_a_file_that_becomes_a_link_has_the_filter_of_its_target(repository: Repository) -> None:
    add_filter(repository, "crypt", "*.env")
    repository.write("a.env", SECRETS)
    repository.write("b.py", SECRETS)
    stored, text = StoredFiles(repository.path), Text(SECRETS)
    assert stored.hiding_filter("b.py", text) is None
    (repository.path / "b.py").unlink()
    (repository.path / "b.py").symlink_to("a.env")
    assert stored.hiding_filter("b.py", text) == "crypt"


def test_where_settings_include_themselves_the_filter_is_unknown(repository: Repository) -> None:
    repository.write("a.env", SECRETS)
    with (repository.path / ".git/config").open("a", encoding="utf-8") as settings:
        settings.write("[include]\n\tpath = info/../config\n\tpath = hooks/../config\n")
    (repository.path / ".git/info").mkdir(exist_ok=True)
    (repository.path / ".git/hooks").mkdir(exist_ok=True)
    assert hiding(repository, "a.env") == stored_files.UNKNOWN_FILTER  # git refuses


def test_included_settings_are_read_again_when_they_change(
    repository: Repository, tmp_path: Path
) -> None:
    attributes, settings = tmp_path / "some attributes", tmp_path / "settings"
    attributes.write_text("*.env filter=crypt\n")
    settings.write_text("[user] name = Ada Example\n")
    repository.write("a.env", SECRETS)
    repository.git("config", "include.path", settings.as_posix())
    stored, text = StoredFiles(repository.path), Text(SECRETS)
    assert stored.hiding_filter("a.env", text) is None
    settings.write_text(f"[core] attributesFile = {attributes.as_posix()}\n")
    assert stored.hiding_filter("a.env", text) == "crypt"


def test_attributes_of_a_folder_that_cannot_be_read_may_be_others(
    repository: Repository, monkeypatch: pytest.MonkeyPatch
) -> None:
    add_filter(repository, "strip", "*.ipynb", program="strip")
    repository.write("conf/.gitattributes", "")
    repository.write("conf/a.ipynb", NOTEBOOK)
    commit = repository.commit("Add a notebook")
    assert hiding(repository, "conf/a.ipynb") is None
    unreadable = f"{commit}:conf/.gitattributes"
    contents, entry = GitObjects.contents, GitObjects.certain_entry

    def some_contents(self: GitObjects, name: str, limit: int | None = None) -> bytes | None:
        return None if name == unreadable else contents(self, name, limit)

    def some_entries(self: GitObjects, commit: str, path: str) -> TreeEntry | None:
        if f"{commit}:{path}" == unreadable:
            raise HistoryUnavailable("damaged")
        return entry(self, commit, path)

    monkeypatch.setattr(GitObjects, "contents", some_contents)
    monkeypatch.setattr(GitObjects, "certain_entry", some_entries)
    assert hiding(repository, "conf/a.ipynb") == "strip"


def test_a_link_and_a_nested_repository(repository: Repository) -> None:
    add_filter(repository, "crypt", "*.env", program="crypt")
    nested = Repository(repository.path / "nested")
    nested.write("a.env", SECRETS)
    assert hiding(repository, "nested/a.env") is None
    nested.write(".gitattributes", "a.env filter=own\n")
    assert hiding(repository, "nested/a.env") == "own"
    repository.write("a.env", SECRETS)
    (repository.path / "link.py").symlink_to("a.env")
    assert hiding(repository, "link.py") == "crypt"


def test_paths_outside_the_project_are_left_out(repository: Repository, tmp_path: Path) -> None:
    outside = Repository(tmp_path / "outside")
    outside.write(".gitattributes", "* filter=crypt\n")
    (repository.path / "link").symlink_to(outside.path)
    paths = ["link/a.py", "../outside/a.py", str(outside.path / "a.py"), "a\0b", ""]
    assert StoredFiles(repository.path).filters(paths) == {}
    repository.write("b/.gitattributes", "* filter=crypt\n")
    repository.write("a.py", SOURCE)
    (repository.path / "b/link.py").symlink_to("../a.py")
    paths = ["a.py", "a\0b", "link/a.py", "b/link.py", "b/a.py", "b\\c.py", "./b/d.py"]
    found = StoredFiles(repository.path).filters(paths)
    assert found == dict.fromkeys(["b/a.py", "b\\c.py", "./b/d.py"], "crypt")


def test_where_git_fails_a_named_filter_hides(
    repository: Repository, monkeypatch: pytest.MonkeyPatch
) -> None:
    add_filter(repository, "crypt", "*.env")
    repository.write("a.env", SECRETS)
    monkeypatch.setenv("PATH", "")
    assert hiding(repository, "a.env") == stored_files.UNKNOWN_FILTER
    repository.write(".gitattributes", "")
    assert hiding(repository, "a.env") is None, "where git is missing, nothing names a filter"


def test_a_path_that_no_file_can_have_has_no_filter(repository: Repository) -> None:
    add_filter(repository, "crypt", "*")
    assert StoredFiles(repository.path).filters(["\ud800.py", "\ud800/a.py"]) == {}


def test_no_filter_is_run(repository: Repository) -> None:
    repository.write("a.py", SOURCE)
    repository.commit("Add a file")
    repository.configure_programs()
    assert hiding(repository, "a.py") is None
    assert repository.programs_run() == []
