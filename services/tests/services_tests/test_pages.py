"""The commands in the pages on cosigning, timestamps and registries work, in their order."""

from __future__ import annotations

import shlex
from datetime import UTC, datetime
from typing import TYPE_CHECKING

import pytest

from services_tests.fake_calendar import fake_calendar
from services_tests.postgresql_server import postgresql
from services_tests.running_server import RunningServer, serving
from tests.demo.workspace import copied
from tests.docs.code_blocks import code_blocks, run_shell
from tests.requirements import REPOSITORY, require
from vibes_lsp.attestation.keys import generate_private_key

if TYPE_CHECKING:
    from contextlib import AbstractContextManager
    from pathlib import Path


DOCS = REPOSITORY / "services" / "docs"
COSIGNING = (DOCS / "cosigning.md").read_text(encoding="utf-8")
REGISTRY = (DOCS / "registry.md").read_text(encoding="utf-8")
TIMESTAMPS = (DOCS / "timestamps.md").read_text(encoding="utf-8")
ADDRESS = "http://127.0.0.1:8470"
CALENDAR = "https://calendar.example.org"


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The demo project, and a home folder with a key."""
    home = tmp_path / "home"
    home.mkdir()
    monkeypatch.setenv("HOME", str(home))
    root = copied(tmp_path / "shop").root
    run("vibes keys generate", root)
    return root


def run(script: str, folder: Path) -> str:
    done = run_shell(script, folder)
    assert (done.returncode, done.stderr) == (0, ""), done.stderr
    return done.stdout


def block(page: str, name: str) -> str:
    """Return the one snippet of a page that has this name."""
    (found,) = code_blocks(page, f"sh {name}")
    return found


def served(
    page: str, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> AbstractContextManager[RunningServer]:
    """Run the documented serving command on a free port."""
    monkeypatch.chdir(folder)
    program, *arguments = shlex.split(block(page, "serve"))
    assert program == "vibes"
    return serving(*arguments)


def test_a_provider_and_a_user_cosign(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert "active" in run(block(COSIGNING, "provider"), project)
    with served(COSIGNING, project, monkeypatch) as server:
        out = run(block(COSIGNING, "user").replace(ADDRESS, server.url), project)
        assert "Trust tier: tool-corroborated" in out
        assert "after the newest record" in out
        assert "signs from now on" in run(block(COSIGNING, "operate"), project)
        refused = run_shell(block(COSIGNING, "user").replace(ADDRESS, server.url), project)
        assert "check the token" in refused.stderr


def test_a_key_that_a_tool_ships_cosigns(project: Path) -> None:
    key = project.parent / "home" / "provider.key"
    key.write_bytes(generate_private_key().pem())
    key.chmod(0o600)
    done = run_shell(block(COSIGNING, "local"), project)
    assert (done.returncode, "Cosigned by example-2026-01" in done.stdout) == (0, True), done.stderr


def test_a_registry_is_set_up_filled_and_searched(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    require("jq", "reads the id of what was found")
    run("vibes attest", project)
    run(block(REGISTRY, "server"), project)
    with served(REGISTRY, project, monkeypatch) as server:
        name = run("jq -r .project_name .ai-audit/config.json", project).strip()
        user, fetch = (
            block(REGISTRY, each).replace(ADDRESS, server.url).replace("shop", name)
            for each in ("user", "fetch")
        )
        out = run(user, project)
        assert "verified by the registry" in out
        assert "just now" in out
        assert "Result: PASS" in run(fetch, project)
    assert (project / "registry" / "registry.db").exists()


def test_a_registry_is_served_from_postgresql(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run(block(REGISTRY, "server"), project)
    export, command = block(REGISTRY, "postgresql").splitlines()
    name, _, documented = export.removeprefix("export ").partition("=")
    assert documented.startswith("postgresql://")
    monkeypatch.chdir(project)
    with postgresql() as url:
        monkeypatch.setenv(name, url)
        with serving(*shlex.split(command)[1:]) as server:
            found = run(f"vibes registry find {server.url}", project)
    assert found == "no attestation found\n"
    assert not (project / "registry" / "registry.db").exists()


def test_an_attestation_is_timestamped_and_checked(project: Path) -> None:
    run("vibes attest", project)
    create, check = code_blocks(TIMESTAMPS, "sh")
    with fake_calendar() as calendar:
        first, second = create.replace(CALENDAR, calendar.url).splitlines()
        assert "accepted it" in run(first, project)
        block_time = int(datetime(2026, 11, 20, 20, tzinfo=UTC).timestamp())
        header = calendar.mine(900_000, block_time)
        assert "attested by Bitcoin block 900000" in run(second, project)
    (project / "header-900000.hex").write_text(header.hex() + "\n")
    out = run(check, project)
    assert "the header of Bitcoin block 900000 is needed" in out
    assert "good: Bitcoin block 900000 attests it" in out
    assert "existed before 2026-11-20 20:00 UTC" in out
