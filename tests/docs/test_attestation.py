"""The commands in `docs/attestation.md` work, and its tables name what the program knows."""

from __future__ import annotations

import re
import shutil
import tempfile
from typing import TYPE_CHECKING

import pytest

from tests.demo.workspace import copied
from tests.docs.code_blocks import code_blocks, run_shell
from tests.requirements import REPOSITORY, require
from tests.trails import TrailWriter
from vibes_lsp.attestation.attested_files import FileStatus
from vibes_lsp.attestation.tiers import TrustTier
from vibes_lsp.cli.verify import EXIT_CODES

if TYPE_CHECKING:
    from pathlib import Path


PAGE = (REPOSITORY / "docs" / "attestation.md").read_text(encoding="utf-8")


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The demo project, and an empty home folder."""
    home = tmp_path / "home"
    home.mkdir()
    monkeypatch.setenv("HOME", str(home))
    return copied(tmp_path / "shop").root


def run(script: str, folder: Path) -> str:
    done = run_shell(script, folder)
    assert (done.returncode, done.stderr) == (0, ""), done.stderr
    return done.stdout


def test_the_snippets_sign_and_verify_in_their_order(project: Path) -> None:
    first, own_key, trust = code_blocks(PAGE, "sh")
    assert "Result: PASS" in run(first, project)
    assert "ssh-ed25519 " in run(own_key, project)
    assert "Trust tier: self-attested" in run(trust, project)


def test_an_agent_signs(project: Path) -> None:
    pytest.importorskip("asyncssh")
    require("ssh-agent", "holds the key")
    (snippet,) = code_blocks(PAGE, "sh agent")
    key = "ssh-keygen -q -t ed25519 -N '' -f ../key; ssh-add -q ../key; rm ../key"
    agent = tempfile.mkdtemp(prefix="agent")
    try:
        started = f'eval "$(ssh-agent -s -a {agent}/s)" > /dev/null'
        done = run_shell(f"{started}; {key}; {snippet}ssh-agent -k > /dev/null", project)
    finally:
        shutil.rmtree(agent)
    assert (done.returncode, "Trust tier: self-attested" in done.stdout) == (0, True), done.stderr


def test_without_the_manifest_the_rest_of_an_attestation_is_checked(project: Path) -> None:
    _need("age")
    (snippet,) = code_blocks(PAGE, "sh encrypt-age")
    run("vibes keys generate; vibes attest; git add -A .ai-audit; git commit -qm Attest", project)
    manifest = (project / ".ai-audit/manifest.json").read_bytes()
    done = run_shell(snippet, project)
    assert done.returncode == 0, done.stderr
    assert manifest not in (project / ".ai-audit/manifest.json.age").read_bytes()
    run("git clone -q . ../clone", project)
    clone = project.parent / "clone"
    checked = run_shell("vibes verify", clone)
    assert checked.returncode == 3
    assert "manifest.json  it is not published: git ignores it" in checked.stdout
    (command,) = re.findall(r"runs\s+`(age --decrypt [^`]*)`", PAGE)
    shutil.copy(project / "age.key", clone)
    run(command, clone)
    assert (clone / ".ai-audit/manifest.json").read_bytes() == manifest
    assert "Result: PASS" in run("vibes verify", clone)


def test_a_manifest_that_git_encrypts_is_merged_and_verified(project: Path) -> None:
    _need("git-crypt")
    (snippet,) = code_blocks(PAGE, "sh encrypt-git-crypt")
    done = run_shell(snippet, project)
    assert done.returncode == 0, done.stderr
    stored = run_shell("git cat-file blob HEAD:.ai-audit/manifest.json | head -c 10", project)
    assert stored.stdout == "\0GITCRYPT\0"
    for side in ("side", "main"):
        run(f"git stash -q; git switch -q {'--create ' if side == 'side' else ''}{side}", project)
        add_prompt(project, f"A prompt on {side}.")
        run(f"git add -A .ai-audit; git commit -qm {side}", project)
    merged = run_shell("git merge -q --no-edit side", project)
    assert merged.returncode == 0, merged.stdout + merged.stderr
    text = (project / ".ai-audit/manifest.json").read_text()
    assert "A prompt on side." in text
    assert "A prompt on main." in text
    run("vibes keys generate; vibes attest; git add -A .ai-audit; git commit -qm Attest", project)
    run("git-crypt export-key ../key; git clone -q . ../clone", project)
    clone = project.parent / "clone"
    locked = run_shell("vibes verify", clone)
    assert locked.returncode == 3
    assert "unlock it with `git-crypt unlock`" in locked.stdout
    run("git-crypt unlock ../key", clone)
    assert "Result: PASS" in run("vibes verify", clone)


def add_prompt(project: Path, text: str) -> None:
    TrailWriter(project, level="high", start=f"2026-02-0{len(text) % 9 + 1}T10:00:00.000Z").prompt(
        text
    )


def _need(program: str) -> None:
    require(program, "runs its commands in docs/attestation.md")


def test_the_tables_name_everything_that_there_is() -> None:
    assert {status.value for status in FileStatus} <= set(
        re.findall(r"^\| `(\w+)`", PAGE, re.MULTILINE)
    )
    assert {tier.value for tier in TrustTier} <= set(
        re.findall(r"^\| `([\w-]+)`", PAGE, re.MULTILINE)
    )
    for result, code in EXIT_CODES.items():
        assert f"| {code} | {result.value} |" in PAGE
