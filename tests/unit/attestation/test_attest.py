"""A statement is about exactly the files that were checked."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

import pytest

from tests.unit.checks.projects import NOW, build
from vibes_lsp.attestation import attest
from vibes_lsp.attestation.attest import check_and_state
from vibes_lsp.checks.report import check_trail
from vibes_lsp.errors import RefusedWrite, UnreadableFile
from vibes_lsp.store.audit_dir import AuditDir

if TYPE_CHECKING:
    from pathlib import Path

    from vibes_lsp.checks.context import CheckContext
    from vibes_lsp.checks.report import Report


@pytest.fixture
def directory(tmp_path: Path) -> AuditDir:
    return AuditDir(build(tmp_path / "project", "high").root / ".ai-audit")


def test_the_digests_are_those_of_the_files(directory: AuditDir) -> None:
    statement = check_and_state(directory, NOW).statement
    assert {each.name: each.sha256 for each in statement.subjects} == {
        f".ai-audit/{path.name}": hashlib.sha256(path.read_bytes()).hexdigest()
        for path in (directory.manifest, directory.log, directory.config)
    }


@pytest.mark.parametrize("name", ["log", "manifest", "config"])
def test_a_file_that_changes_during_the_check_is_not_attested(
    directory: AuditDir, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    check = check_trail

    def check_while_another_program_writes(context: CheckContext) -> Report:
        report = check(context)
        path: Path = getattr(directory, name)
        path.write_bytes(path.read_bytes() + b"\n")
        return report

    monkeypatch.setattr(attest, "check_trail", check_while_another_program_writes)
    with pytest.raises(RefusedWrite, match="the trail changed while it was checked"):
        check_and_state(directory, NOW)


def test_entries_in_the_journal_are_not_attested_away(directory: AuditDir) -> None:
    directory.journal.mkdir()
    entry = '{"%s":{"type":"prompt","prompt_text":"x"}}\n' % ("ab" * 32)
    (directory.journal / "entries.jsonl").write_text(entry)
    with pytest.raises(RefusedWrite, match="1 entry waits in the journal"):
        check_and_state(directory, NOW)


def test_a_trail_without_its_three_files_is_not_attested(directory: AuditDir) -> None:
    directory.manifest.unlink()
    with pytest.raises(UnreadableFile, match=r"cannot attest without manifest\.json"):
        check_and_state(directory, NOW)


def test_a_manifest_that_cannot_be_parsed_has_no_root(directory: AuditDir) -> None:
    directory.manifest.write_bytes(b"{")
    checked = check_and_state(directory, NOW)
    assert not checked.report.passed
    manifest = checked.statement.predicate["manifest"]
    assert isinstance(manifest, dict)
    assert (manifest["merkle"], manifest["canonical_sha256"]) == (None, None)
