"""Reading `config.json`: there is a policy for any content."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from tests.trails import complete, quirks
from tests.unit.store.followed_log import rewrite_unnoticed
from vibes_lsp.model.config import Config
from vibes_lsp.store.audit_dir import AuditDir
from vibes_lsp.store.config import load_config, parse_config

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def directory(tmp_path: Path) -> AuditDir:
    (tmp_path / ".ai-audit").mkdir()
    return AuditDir(tmp_path / ".ai-audit")


def test_the_config_of_a_complete_trail(tmp_path: Path) -> None:
    made = complete(tmp_path, "high")
    loaded = load_config(AuditDir(tmp_path / ".ai-audit"))
    assert (loaded.present, loaded.problem, loaded.problems) == (True, None, ())
    assert (loaded.config.assurance_level, loaded.config.project_name) == ("high", "demo")
    assert loaded.data == made.writer.files.config.read_bytes()
    assert loaded.tracking.tracks("src/auth.py")
    assert not loaded.tracking.tracks("src/vendor/auth.py")
    assert not loaded.tracking.tracks("README.md")


def test_a_reformatted_config_is_the_same(tmp_path: Path) -> None:
    made = quirks(tmp_path / "project")
    loaded = load_config(AuditDir(made.root / ".ai-audit"))
    assert loaded.problems == ()
    assert loaded.config.project_name == "quirks"


def test_a_missing_config_is_the_default_without_problem(directory: AuditDir) -> None:
    loaded = load_config(directory)
    assert (loaded.config, loaded.present, loaded.problem, loaded.problems) == (
        Config(),
        False,
        None,
        (),
    )


@pytest.mark.parametrize(
    "data",
    [b"", b"{", b"[]", b"null", b"\xff", b'{"a":1,"a":2}', b"<<<<<<< HEAD\n{}", b"[" * 100_000],
)
def test_an_invalid_config_file_leaves_the_default(directory: AuditDir, data: bytes) -> None:
    directory.config.write_bytes(data)
    loaded = load_config(directory)
    assert loaded.config == Config()
    assert loaded.present
    assert loaded.problem is not None
    assert loaded.problem.code == "malformed-json"
    assert parse_config(data).config == Config()


def test_an_unchanged_config_is_not_parsed_again(directory: AuditDir) -> None:
    directory.config.write_bytes(b'{"project_name":"one"}')
    one = load_config(directory)
    assert load_config(directory, one) is one
    directory.config.write_bytes(b'{"project_name":"other"}')
    other = load_config(directory, one)
    assert other.config.project_name == "other"
    directory.config.unlink()
    absent = load_config(directory, other)
    assert not absent.present
    assert load_config(directory, absent) is absent


def test_a_rewrite_within_one_tick_of_the_file_times_is_seen(directory: AuditDir) -> None:
    directory.config.write_bytes(b'{"project_name":"one"}')
    one = load_config(directory)
    rewrite_unnoticed(directory.config, b'{"project_name":"two"}')
    assert load_config(directory, one).config.project_name == "two"


def test_a_folder_in_its_place_is_reported_until_it_is_gone(directory: AuditDir) -> None:
    directory.config.mkdir()
    loaded = load_config(directory)
    assert loaded.present
    assert "not a regular file" in str(loaded.problem)
    assert load_config(directory, loaded) is loaded, "nothing changed"
    directory.config.rmdir()
    assert not load_config(directory, loaded).present


def test_invalid_patterns_do_not_disable_others(directory: AuditDir) -> None:
    directory.config.write_bytes(b'{"exclude_patterns":["!","[z-a]","\\\\","gen/"]}')
    tracking = load_config(directory).tracking
    assert tracking.tracks("a.py")
    assert not tracking.tracks("gen/a.py")


def test_an_invalid_or_too_long_pattern_leaves_the_others(
    directory: AuditDir,
) -> None:
    patterns = ["gen/", 7, "x" * 201, [], None, "*.tmp"]
    directory.config.write_text(
        json.dumps({"exclude_patterns": patterns, "tracked_extensions": [".py", {}, ".rs"]})
    )
    config = load_config(directory)
    assert config.config.exclude_patterns == ["gen/", "*.tmp"]
    assert config.config.tracked_extensions == [".py", ".rs"]
    fields = {each.field for each in config.problems}
    assert fields >= {
        "exclude_patterns.1",
        "exclude_patterns.2",
        "exclude_patterns.3",
        "exclude_patterns.4",
        "tracked_extensions.1",
    }


def test_too_many_patterns_are_reported(directory: AuditDir) -> None:
    directory.config.write_text(
        json.dumps({"exclude_patterns": [f"{number}.gen" for number in range(501)]})
    )
    config = load_config(directory)
    assert not config.tracking.tracks("499.gen")
    assert config.tracking.tracks("500.gen")
    assert ("exclude_patterns.500", "only the first 500 patterns are used") in {
        (each.field, each.message) for each in config.problems
    }
