"""Signed tags by real git with SSH keys: who may name programs and keys, and what is found."""

from __future__ import annotations

import os
import subprocess
from typing import TYPE_CHECKING

import pytest

from tests.requirements import require
from tests.trails import Repository as GitRepository
from vibes_lsp.errors import HistoryUnavailable, RefusedWrite
from vibes_lsp.git.repository import Repository
from vibes_lsp.git.signed_tags import TagVerdict, check_signed_tag, create_signed_tag

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def signing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A user whose git signs with an SSH key; returns the file of allowed signers."""
    require("ssh-keygen", "git signs with it")
    key = tmp_path / "id_ed25519"
    subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", key], check=True)
    config = tmp_path / "gitconfig"
    config.write_text(
        "[user]\n\tname = Ada\n\temail = ada@example.org\n"
        f"\tsigningkey = {key}.pub\n[gpg]\n\tformat = ssh\n"
    )
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(config))
    monkeypatch.setenv("GIT_CONFIG_NOSYSTEM", "1")
    allowed = tmp_path / "allowed"
    allowed.write_text(f"ada@example.org {key.with_suffix('.pub').read_text()}")
    return allowed


@pytest.fixture
def repository(tmp_path: Path, signing: Path) -> Repository:
    assert signing.is_file()
    git = GitRepository(tmp_path / "project")
    git.write("a.txt", "one\n")
    git.commit("One")
    return Repository(git.path)


def _head(repository: Repository) -> str:
    return repository.resolve("HEAD")


def test_a_tag_is_good_for_those_who_allow_its_key(repository: Repository, signing: Path) -> None:
    create_signed_tag(repository, "v1", "Title\n\nText: 1\n", _head(repository))
    found = check_signed_tag(repository, "v1", signing)
    assert (found.verdict, found.commit) == (TagVerdict.GOOD, _head(repository))
    assert found.message == "Title\n\nText: 1\n"
    assert "ada@example.org" in found.reason


def test_a_key_that_is_not_allowed_proves_nothing(repository: Repository) -> None:
    create_signed_tag(repository, "v1", "Title", _head(repository))
    found = check_signed_tag(repository, "v1")
    assert found.verdict is TagVerdict.UNCHECKED
    assert found.reason.endswith("which no file of allowed signers has")


def test_a_changed_tag_is_bad(repository: Repository, signing: Path) -> None:
    create_signed_tag(repository, "v1", "Title", _head(repository))
    _git(repository, "update-ref", "refs/tags/v2", _tag_object(repository, b"Title", b"Other"))
    assert check_signed_tag(repository, "v2", signing).verdict is TagVerdict.BAD


def _tag_object(repository: Repository, old: bytes, new: bytes) -> str:
    content = _git(repository, "cat-file", "tag", "v1").replace(old, new)
    return _git(repository, "mktag", content=content).decode().strip()


def _git(repository: Repository, *arguments: str, content: bytes | None = None) -> bytes:
    return subprocess.run(
        ["git", *arguments], cwd=repository.root, input=content, check=True, capture_output=True
    ).stdout


def test_a_tag_without_signature_is_not_checked(repository: Repository) -> None:
    _git(repository, "tag", "--annotate", "--message", "plain", "v1")
    found = check_signed_tag(repository, "v1")
    assert (found.verdict, found.reason) == (TagVerdict.UNCHECKED, "no signature found")


@pytest.mark.skipif(os.name == "nt", reason="the program is a shell script")
def test_the_repository_names_no_program_and_no_allowed_key(
    repository: Repository, signing: Path, tmp_path: Path
) -> None:
    program, traces = tmp_path / "evil", tmp_path / "ran"
    program.write_text(f"#!/bin/sh\ntouch '{traces}'\nexit 0\n")
    program.chmod(0o755)
    for name in ("gpg.program", "gpg.ssh.program", "gpg.ssh.defaultKeyCommand"):
        _git(repository, "config", name, str(program))
    _git(repository, "config", "gpg.ssh.allowedSignersFile", str(signing))
    create_signed_tag(repository, "v1", "Title", _head(repository))
    assert check_signed_tag(repository, "v1").verdict is TagVerdict.UNCHECKED
    assert check_signed_tag(repository, "v1", signing).verdict is TagVerdict.GOOD
    assert not traces.exists()


def test_a_tag_is_never_replaced(repository: Repository) -> None:
    create_signed_tag(repository, "v1", "Title", _head(repository))
    with pytest.raises(RefusedWrite, match=r"'v1' was not created: .*already exists"):
        create_signed_tag(repository, "v1", "Other", _head(repository))


@pytest.mark.parametrize("name", ["", "-f", "a b", "a..b", "x.lock", "a\nb", "@{1}"])
def test_an_invalid_name_is_refused(repository: Repository, name: str) -> None:
    with pytest.raises(RefusedWrite, match="is not a name for a tag"):
        create_signed_tag(repository, name, "Title", _head(repository))


def test_without_a_key_the_setting_is_named(repository: Repository, tmp_path: Path) -> None:
    (tmp_path / "gitconfig").write_text("[gpg]\n\tformat = ssh\n")
    with pytest.raises(RefusedWrite, match=r"user\.signingkey is not set"):
        create_signed_tag(repository, "v1", "Title", _head(repository))


@pytest.mark.parametrize("name", ["missing", "light"])
def test_a_tag_that_is_no_annotated_tag_is_named(repository: Repository, name: str) -> None:
    _git(repository, "tag", "light")
    with pytest.raises(HistoryUnavailable, match=f"no annotated tag '{name}'"):
        check_signed_tag(repository, name)
