"""Proofs, badges and tags in `docs/attestation.md`, and the policy in `docs/ci.md`, do what they say."""

from __future__ import annotations

import os
import shutil
import subprocess
from typing import TYPE_CHECKING

import pytest

from tests.cli.attested_project import AttestedProject
from tests.docs.code_blocks import code_blocks
from tests.editors.terminal import SCRIPTS
from tests.requirements import REPOSITORY, require
from vibes_lsp.attestation.policy import Growth, parse_policy

if TYPE_CHECKING:
    from pathlib import Path


def _blocks(page: str, language: str) -> list[str]:
    return list(code_blocks((REPOSITORY / "docs" / page).read_text(encoding="utf-8"), language))


@pytest.fixture
def own(tmp_path: Path) -> AttestedProject:
    return AttestedProject.create(tmp_path)


def _run(project: AttestedProject, script: str, **more: str) -> str:
    settings = project.home / "git-settings"  # a script changes them, but not for other tests
    if not settings.exists():
        shutil.copy(os.environ["GIT_CONFIG_GLOBAL"], settings)
    environment = {
        **os.environ,
        **more,
        "GIT_CONFIG_GLOBAL": str(settings),
        "HOME": str(project.home),
        "PATH": f"{SCRIPTS}{os.pathsep}{os.environ['PATH']}",
    }
    done = subprocess.run(
        ["sh", "-e", "-c", script],
        cwd=project.root,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_badges_are_drawn_and_checked(own: AttestedProject) -> None:
    draw, check = _blocks("attestation.md", "sh badge")
    _run(own, draw)
    assert "img.shields.io" in (own.root / "README.md").read_text()
    assert "0 errors" in _run(own, check)


def test_one_entry_is_proven(own: AttestedProject) -> None:
    disclose, verify = _blocks("attestation.md", "sh disclose")
    _run(own, disclose, PROMPT=own.entry("prompt")[0][:8])
    (own.root / "ada.pub").write_text(own.public_key)
    assert "Result: PASS" in _run(own, verify)


def test_the_root_is_tagged(own: AttestedProject) -> None:
    require("ssh-keygen", "git signs with it")
    [tag] = _blocks("attestation.md", "sh tag")
    prepare = """
ssh-keygen -q -t ed25519 -N '' -f "$HOME/key"
echo "ada@example.org $(cat "$HOME/key.pub")" > "$HOME/allowed"
git config --global user.name Ada
git config --global user.email ada@example.org
git config --global gpg.format ssh
git config --global user.signingkey "$HOME/key.pub"
git config --global gpg.ssh.allowedSignersFile "$HOME/allowed"
"""
    shown = _run(own, prepare + tag)
    assert "signature  good" in shown
    assert "all 17 are unchanged" in shown


def test_the_policy_on_the_page_is_one(own: AttestedProject) -> None:
    [text] = _blocks("ci.md", "toml")
    policy = parse_policy(text.encode())
    assert (policy.growth, policy.project, policy.signatures) == (Growth.ALLOWED, "shop", 1)
    key = next(line for line in text.splitlines() if line.startswith("public-key"))
    file = own.root / "attestation-policy.toml"
    file.write_text(text.replace(key, f'public-key = """\n{own.public_key}"""'))
    own.repository.git("add", file.name)
    base = own.repository.commit("Require an attestation")
    _run(own, 'vibes verify --policy attestation-policy.toml --base "$BASE"', BASE=base)
