"""Entries of a manifest that differ from those on disk."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from tests.trails import Repository
from vibes_lsp.checks.changed_entries import changed_entries
from vibes_lsp.git.repository import open_repository
from vibes_lsp.store.manifest import parse_manifest
from vibes_lsp.store.manifest_format import new_manifest

if TYPE_CHECKING:
    from pathlib import Path

    from vibes_lsp.model.members import Members

KEYS = [f"{number:064x}" for number in range(4)]


@pytest.mark.parametrize("is_indented", [True, False])
def test_each_entry_has_its_own_bytes(is_indented: bool, tmp_path: Path) -> None:
    def manifest(*numbers: int) -> str:
        entries: dict[str, Members] = {
            key: {"a": number} for key, number in zip(KEYS, numbers, strict=False)
        }
        if is_indented:
            return json.dumps({"entries": entries}, indent=4)
        return new_manifest(entries).decode()

    repository = Repository(tmp_path / "project")
    repository.write("manifest.json", manifest(0, 1, 2, 3))
    commit = repository.commit("Manifest")
    on_disk = parse_manifest(manifest(0, 7).encode())
    git = open_repository(repository.path)
    assert git is not None
    changed = changed_entries(git, commit, repository.path, "manifest.json", on_disk)
    git.close()
    assert {key: changed.entry(key) for key in changed.entries} == {
        KEYS[number]: {"a": number} for number in (1, 2, 3)
    }
