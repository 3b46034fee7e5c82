"""`vibes attest --key agent:…`: a real SSH agent signs, with Ed25519 keys only."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.requirements import require

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.cli.run_vibes import RunVibes
    from tests.unit.checks.projects import Project


@pytest.fixture
def keys(tmp_path: Path) -> Path:
    """An empty folder of keys."""
    return tmp_path / "keys"


@pytest.fixture
def agent(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """An SSH agent with an Ed25519 key and one for RSA; the path of the former."""
    pytest.importorskip("asyncssh")
    program = require("ssh-agent", "holds the keys")
    require("ssh-keygen", "makes the keys")
    require("ssh-add", "gives the keys to the agent")
    key = tmp_path / "id_ed25519"
    for kind, path in (("ed25519", key), ("rsa", tmp_path / "id_rsa")):
        make = ("ssh-keygen", "-q", "-t", kind, "-N", "", "-f", path)
        subprocess.run(make, check=True, timeout=300)
    socket = Path(tempfile.mkdtemp(prefix="agent")) / "socket"  # its path must be short
    started = subprocess.run(
        [program, "-s", "-a", socket], capture_output=True, check=True, text=True, timeout=300
    ).stdout  # it listens before the first process ends
    process = int(started.partition("SSH_AGENT_PID=")[2].partition(";")[0])
    try:
        monkeypatch.setenv("SSH_AUTH_SOCK", str(socket))
        add = ("ssh-add", "-q", tmp_path / "id_rsa", key)
        subprocess.run(add, check=True, timeout=300, stderr=subprocess.DEVNULL)
        yield key
    finally:
        os.kill(process, signal.SIGTERM)
        shutil.rmtree(socket.parent, ignore_errors=True)  # it removes its socket itself


def test_a_key_of_an_ssh_agent_signs(
    project: Project, keys: Path, agent: Path, run_vibes: RunVibes
) -> None:
    listed = subprocess.run(
        ["ssh-add", "-l"], capture_output=True, check=True, text=True, timeout=300
    ).stdout.splitlines()
    [fingerprint] = [each.split()[1] for each in listed if "ED25519" in each]
    public = agent.with_suffix(".pub")
    agent.unlink()  # only the agent has the private key now
    common = ("--keys-dir", keys)
    done = run_vibes("attest", "--key", f"agent:{fingerprint}", *common, cwd=project.root)
    assert (done.code, done.err) == (0, "")
    unknown = run_vibes("verify", *common, cwd=project.root)
    assert (unknown.code, "no public key is known" in unknown.out) == (3, True)
    run_vibes("keys", "trust", public, "--name", "Ada", *common, cwd=project.root)
    verified = run_vibes("verify", "--json", *common, cwd=project.root).json
    assert (verified["result"], verified["tier"]) == ("PASS", "self-attested")
    [signature] = verified["signatures"]
    assert (signature["name"], signature["signedMessage"]) == ("Ada", "payload")


def test_a_key_that_no_agent_holds_is_refused_with_those_that_it_holds(
    project: Project, agent: Path, run_vibes: RunVibes, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refused(name: str) -> str:
        done = run_vibes("attest", "--key", f"agent:{name}", cwd=project.root)
        assert done.code == 2
        return done.err

    rsa = subprocess.run(
        ["ssh-keygen", "-lf", agent.with_name("id_rsa")],
        capture_output=True,
        check=True,
        text=True,
        timeout=300,
    ).stdout.split()[1]
    for name in (rsa, "nothing", ""):
        error = refused(name)
        assert "the SSH agent has no Ed25519 key" in error
        assert "it has SHA256:" in error
    monkeypatch.setenv("SSH_AUTH_SOCK", "/nowhere/socket")
    assert "there is no SSH agent" in refused("nothing")
    monkeypatch.delenv("SSH_AUTH_SOCK")
    assert "there is no SSH agent" in refused("nothing")
    assert not (project.audit / "attestation.json").exists()
