"""Creating and finding an audit directory (R13), and its git files as git reads them."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import TYPE_CHECKING

import pytest

from tests.trails import Repository, TrailWriter, context_hash
from vibes_lsp.errors import AuditDirNotFound, RefusedWrite
from vibes_lsp.model.validation import entry_problems
from vibes_lsp.model.vocabulary import AssuranceLevel
from vibes_lsp.store.audit_dir import AuditDir, find_audit_dir, named_audit_dir
from vibes_lsp.store.config import load_config
from vibes_lsp.store.initialise import (
    ATTRIBUTE_LINES,
    InitResult,
    initialise,
    missing_attributes,
    missing_ignores,
)
from vibes_lsp.store.manifest import ManifestForm, read_manifest
from vibes_lsp.store.manifest_format import new_manifest

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

FILES = {"config.json", "manifest.json", "annotations.jsonl", ".gitignore", ".gitattributes"}
NOW = datetime(2026, 2, 3, 10, tzinfo=UTC)


def init(project: Path, extensions: Sequence[str] | None = (".py",)) -> InitResult:
    return initialise(
        project,
        project_name='Größe "1"',
        level=AssuranceLevel.HIGH,
        extensions=extensions,
        tool_version="1.2.3",
        now=NOW,
    )


def test_all_files_are_created_and_valid(tmp_path: Path) -> None:
    made = init(tmp_path)
    assert (set(made.created), made.unchanged) == (FILES, ())
    assert {path.name for path in made.directory.path.iterdir()} == FILES
    loaded = load_config(made.directory)
    assert loaded.problems == ()
    assert (
        loaded.config.assurance_level,
        loaded.config.project_name,
        loaded.config.tracked_extensions,
    ) == ("high", 'Größe "1"', [".py"])
    assert made.directory.log.read_bytes() == b""
    assert missing_ignores(made.directory) == []
    assert missing_attributes(made.directory) == []


def test_the_manifest_starts_with_the_reviewer_environment(tmp_path: Path) -> None:
    manifest = read_manifest(init(tmp_path).directory)
    assert manifest.form is ManifestForm.OBJECT
    (key,) = manifest
    entry = manifest.entry(key)
    assert entry is not None
    assert key == context_hash(entry)
    assert (entry["model_name"], entry["tool_version"], entry["created_at"]) == (
        "none",
        "1.2.3",
        "2026-02-03T10:00:00.000Z",
    )
    assert entry_problems(entry) == []


def test_without_extensions_all_files_are_tracked(tmp_path: Path) -> None:
    assert load_config(init(tmp_path, None).directory).config.tracked_extensions is None


def test_a_second_time_changes_nothing(tmp_path: Path) -> None:
    directory = init(tmp_path).directory
    before = {path: path.read_bytes() for path in directory.path.iterdir()}
    again = init(tmp_path, [".rs"])
    assert (again.created, set(again.unchanged)) == ((), FILES)
    assert {path: path.read_bytes() for path in directory.path.iterdir()} == before


@pytest.mark.parametrize("name", sorted(FILES))
def test_existing_files_are_never_overwritten(tmp_path: Path, name: str) -> None:
    (tmp_path / ".ai-audit").mkdir()
    (tmp_path / ".ai-audit" / name).write_bytes(b"mine, and not JSON")
    made = init(tmp_path)
    assert (*made.unchanged, *made.completed) == (name,)
    assert (made.directory.path / name).read_bytes().startswith(b"mine, and not JSON")
    assert bool(made.completed) == name.startswith(".git")


@pytest.mark.parametrize("end", [b"\n", b"\r\n"])
def test_missing_lines_for_git_are_appended(tmp_path: Path, end: bytes) -> None:
    (tmp_path / ".ai-audit").mkdir()
    (tmp_path / ".ai-audit/.gitignore").write_bytes(
        b"# mine" + end + b"audit.db" + end + b"!audit.db-wal" + end
    )
    (tmp_path / ".ai-audit/.gitattributes").write_bytes(ATTRIBUTE_LINES[1].encode())
    made = init(tmp_path)
    assert made.completed == (".gitignore", ".gitattributes")
    expected = end.join(
        [b"# mine", b"audit.db", b"!audit.db-wal", b"audit.db*", b"*.lock", b"wal/", b"spool/", b""]
    )
    assert made.directory.gitignore.read_bytes() == expected
    expected = f"{ATTRIBUTE_LINES[1]}\n{ATTRIBUTE_LINES[0]}\n".encode()
    assert made.directory.gitattributes.read_bytes() == expected
    assert (missing_ignores(made.directory), missing_attributes(made.directory)) == ([], [])
    assert init(tmp_path).completed == ()


def test_a_linked_git_file_is_not_written(tmp_path: Path) -> None:
    (tmp_path / ".ai-audit").mkdir()
    (tmp_path / "elsewhere").write_bytes(b"mine\n")
    try:
        (tmp_path / ".ai-audit/.gitignore").symlink_to(tmp_path / "elsewhere")
    except OSError:
        pytest.skip("this account may not make symbolic links here")
    assert ".gitignore" in init(tmp_path).unchanged
    assert (tmp_path / "elsewhere").read_bytes() == b"mine\n"


def test_a_dangling_link_is_not_written(tmp_path: Path) -> None:
    (tmp_path / ".ai-audit").mkdir()
    try:
        (tmp_path / ".ai-audit/config.json").symlink_to(tmp_path / "elsewhere.json")
    except OSError:
        pytest.skip("this account may not make symbolic links here")
    assert init(tmp_path).unchanged == ("config.json",)
    assert not (tmp_path / "elsewhere.json").exists()


def test_without_a_folder_nothing_is_created(tmp_path: Path) -> None:
    with pytest.raises(RefusedWrite, match="cannot create"):
        init(tmp_path / "none")
    (tmp_path / ".ai-audit").write_bytes(b"a file")
    with pytest.raises(RefusedWrite):
        init(tmp_path)


def test_git_understands_the_attributes(tmp_path: Path) -> None:
    repository = Repository(tmp_path)
    init(tmp_path)

    def attributes(name: str) -> list[str]:
        told = repository.git(
            "check-attr", "merge", "text", "linguist-generated", "--", f".ai-audit/{name}"
        )
        return [line.rsplit(": ", 1)[1] for line in told.splitlines()]

    assert attributes("annotations.jsonl") == ["union", "unset", "set"]
    assert attributes("manifest.json") == ["union", "unset", "set"]


def test_git_understands_the_ignores(tmp_path: Path) -> None:
    repository = Repository(tmp_path)
    init(tmp_path)
    for name in ("audit.db", "audit.db-wal", "manifest.lock", "wal/a.jsonl", "spool/x"):
        repository.write(f".ai-audit/{name}", "")
    repository.commit("Start")
    tracked = repository.git("ls-files", ".ai-audit").splitlines()
    assert {name.removeprefix(".ai-audit/") for name in tracked} == FILES


def test_two_branches_of_a_new_trail_merge_to_valid_json(tmp_path: Path) -> None:
    """With our format and git's built-in union merge, without any setup."""
    repository = Repository(tmp_path)
    made = init(tmp_path)
    repository.commit("Start")
    prompts = []
    repository.branch("topic")
    for branch, start in (("main", "2026-02-04T10:00:00Z"), ("topic", "2026-02-05T10:00:00Z")):
        repository.switch(branch)
        writer = TrailWriter(tmp_path, start=start)
        prompts += [writer.prompt(f"{branch} {number}") for number in range(3)]
        repository.commit(branch)
    repository.switch("main")
    repository.merge("topic")
    manifest = read_manifest(made.directory)
    assert manifest.form is ManifestForm.OBJECT
    assert set(prompts) < set(manifest)
    assert len(manifest) == 7
    json.loads(made.directory.manifest.read_bytes())


def test_a_manifest_of_no_entries_is_valid_json() -> None:
    assert json.loads(new_manifest({})) == {"standard": "VIBES", "version": "1.0", "entries": {}}


@pytest.mark.parametrize(
    ("content", "missing"),
    [
        ("", ["audit.db*", "*.lock", "wal/", "spool/"]),
        ("audit.db\n", ["audit.db*", "*.lock", "wal/", "spool/"]),
        ("# audit.db*\n*.lock \r\nwal/\nspool/\n", ["audit.db*"]),
        ("[\n\\\naudit.db*\n", ["*.lock", "wal/", "spool/"]),
    ],
)
def test_which_ignores_are_missing(tmp_path: Path, content: str, missing: list[str]) -> None:
    (tmp_path / ".gitignore").write_text(content)
    assert missing_ignores(AuditDir(tmp_path)) == missing


@pytest.mark.parametrize(
    ("content", "missing"),
    [
        ("", [0, 1]),
        (f"# mine\n{ATTRIBUTE_LINES[0]}\r\n", [1]),
        (f"# {ATTRIBUTE_LINES[1]}\n{ATTRIBUTE_LINES[0]}\n", [1]),
        ("\n".join(ATTRIBUTE_LINES), []),
    ],
)
def test_which_attributes_are_missing(tmp_path: Path, content: str, missing: list[int]) -> None:
    (tmp_path / ".gitattributes").write_text(content)
    assert missing_attributes(AuditDir(tmp_path)) == [ATTRIBUTE_LINES[number] for number in missing]


def test_unreadable_git_files_count_as_missing(tmp_path: Path) -> None:
    (tmp_path / ".gitignore").mkdir()
    (tmp_path / ".gitattributes").write_bytes(b"\xff\xfe\n")
    assert len(missing_ignores(AuditDir(tmp_path))) == 4
    assert missing_attributes(AuditDir(tmp_path)) == list(ATTRIBUTE_LINES)


def test_the_nearest_audit_directory_is_found(tmp_path: Path) -> None:
    inner = tmp_path / "packages/one"
    (inner / "src/deep").mkdir(parents=True)
    (tmp_path / ".ai-audit").mkdir()
    (inner / ".ai-audit").mkdir()
    assert find_audit_dir(inner / "src/deep").path == inner / ".ai-audit"
    assert find_audit_dir(inner / ".ai-audit").project == inner
    assert find_audit_dir(tmp_path / "packages").path == tmp_path / ".ai-audit"
    assert find_audit_dir(inner / "src/none.py").path == inner / ".ai-audit"


def test_a_file_of_that_name_is_not_an_audit_directory(tmp_path: Path) -> None:
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub/.ai-audit").touch()
    (tmp_path / ".ai-audit").mkdir()
    assert find_audit_dir(tmp_path / "sub").path == tmp_path / ".ai-audit"


def test_a_missing_audit_directory_has_a_hint(tmp_path: Path) -> None:
    with pytest.raises(AuditDirNotFound, match=r"no \.ai-audit/ in") as caught:
        find_audit_dir(tmp_path)
    assert "vibes init" in caught.value.hint
    with pytest.raises(AuditDirNotFound, match="is not a folder"):
        named_audit_dir(tmp_path / "none")


def test_a_named_directory_may_have_any_name(tmp_path: Path) -> None:
    (tmp_path / "trail").mkdir()
    with pytest.raises(AuditDirNotFound, match=r"trail has none of config\.json, manifest\.json"):
        named_audit_dir(tmp_path / "trail")
    (tmp_path / "trail/annotations.jsonl").touch()
    assert named_audit_dir(tmp_path / "trail").path == tmp_path / "trail"
    (tmp_path / ".ai-audit").mkdir()
    assert named_audit_dir(tmp_path).path == tmp_path / ".ai-audit"
