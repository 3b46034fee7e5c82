"""Commands and times that other distributions add to `vibes` by entry points."""

from __future__ import annotations

import sys
from importlib.metadata import EntryPoints
from typing import TYPE_CHECKING, Final

import click
import pytest

from vibes_lsp.cli.main import COMMANDS, vibes

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.cli.attested_project import AttestedProject
    from tests.cli.run_vibes import RunVibes

INSTALL: Final = f"in a checkout of vibes-lsp, run `{sys.executable} -m pip install . ./services`"
PLUGIN: Final = '''
import click

@click.command("greet")
@click.argument("name")
def greet(name):
    """Greet someone."""
    click.echo(f"Hello {name}")

number = 3
'''


@pytest.fixture
def plugin(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """Install a distribution that has these commands only."""

    def install(**commands: str) -> None:
        site = tmp_path / "site"
        about = site / "greetings-1.2.dist-info"
        about.mkdir(parents=True)
        (site / "greetings.py").write_text(PLUGIN)
        (about / "METADATA").write_text("Metadata-Version: 2.1\nName: greetings\nVersion: 1.2\n")
        lines = [f"{name} = {value}" for name, value in commands.items()]
        (about / "entry_points.txt").write_text("\n".join(["[vibes.commands]", *lines, ""]))
        monkeypatch.syspath_prepend(site)

    return install


@pytest.fixture
def no_plugins(monkeypatch: pytest.MonkeyPatch) -> None:
    """Look at the product as if nothing else of ours was installed."""
    monkeypatch.setattr("vibes_lsp.cli.plugins._entries", lambda _: EntryPoints(()))


def test_a_command_of_another_distribution_is_listed_and_runs(
    run_vibes: RunVibes, tmp_path: Path, plugin: Callable[..., None]
) -> None:
    plugin(greet="greetings:greet")
    done = run_vibes("greet", "Ada", cwd=tmp_path)
    assert (done.code, done.out, done.err) == (0, "Hello Ada\n", "")
    shown = run_vibes("--help", cwd=tmp_path)
    assert "\nPlugins:\n" in shown.out
    assert "greet" in shown.out.partition("\nPlugins:\n")[2]
    assert "Greet someone." in shown.out
    assert "greet" in vibes.list_commands(click.Context(vibes))
    mistyped = run_vibes("gret", cwd=tmp_path)
    assert (mistyped.code, "greet" in mistyped.err) == (2, True)


@pytest.mark.parametrize(
    ("value", "reason"),
    [
        ("greetings_absent:greet", "cannot be loaded: No module named 'greetings_absent'"),
        ("greetings:absent", "cannot be loaded: module 'greetings' has no attribute 'absent'"),
        ("greetings:number", "greetings:number of greetings 1.2 is not a command"),
    ],
)
def test_a_plugin_that_does_not_load_is_one_line_and_stops_nothing_else(
    run_vibes: RunVibes, tmp_path: Path, plugin: Callable[..., None], value: str, reason: str
) -> None:
    plugin(broken=value, greet="greetings:greet")
    shown = run_vibes("--help", cwd=tmp_path)
    assert (shown.code, shown.err.count("\n"), reason in shown.err) == (0, 1, True)
    assert "Greet someone." in shown.out
    assert "Sign the audit trail as it is now." in shown.out
    done = run_vibes("broken", cwd=tmp_path)
    assert (done.code, done.out, done.err.count("\n"), reason in done.err) == (2, "", 1, True)
    assert run_vibes("greet", "Ada", cwd=tmp_path).code == 0


def test_a_plugin_replaces_no_command(
    run_vibes: RunVibes, tmp_path: Path, plugin: Callable[..., None]
) -> None:
    plugin(log="greetings:greet")
    assert "List log records" in run_vibes("log", "--help", cwd=tmp_path).out
    assert "Greet someone." not in run_vibes("--help", cwd=tmp_path).out


@pytest.mark.usefixtures("no_plugins")
@pytest.mark.parametrize("name", ["cosign-server", "registry", "timestamp"])
def test_a_command_that_is_not_installed_says_what_to_install(
    run_vibes: RunVibes, tmp_path: Path, name: str
) -> None:
    done = run_vibes(name, "find", "--project", "shop", cwd=tmp_path)
    assert (done.code, done.out) == (2, "")
    assert done.err == f"vibes: `vibes {name}` needs the package vibes-lsp-services; {INSTALL}\n"
    shown = run_vibes(name, "--help", cwd=tmp_path)
    assert (shown.code, "needs the package vibes-lsp-services" in shown.out) == (0, True)
    assert f"  {name}" not in run_vibes("--help", cwd=tmp_path).out


@pytest.mark.usefixtures("no_plugins")
def test_verify_needs_the_services_only_for_blocks_and_registries(
    run_vibes: RunVibes, own: AttestedProject, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(own.home))
    for option, value, needed_by in (
        ("--block-header", f"900000:{'00' * 80}", "the check of a timestamp"),
        ("--registry", "https://registry.example.org", "`vibes verify --registry`"),
    ):
        done = run_vibes("verify", option, value, cwd=own.root)
        assert (done.code, done.out) == (2, "")
        assert done.err == f"vibes: {needed_by} needs the package vibes-lsp-services; {INSTALL}\n"
    (own.audit / "attestation.json.ots").write_bytes(b"a proof")
    done = run_vibes("verify", cwd=own.root)
    assert (done.code, done.err) == (0, "")
    assert (
        "Timestamp attestation.json.ots\n"
        "  could not check: the check of a timestamp needs the package vibes-lsp-services\n"
    ) in done.out


def test_commands_of_the_product_look_up_no_entry_point(
    run_vibes: RunVibes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(group: str) -> EntryPoints:
        raise AssertionError(group)

    monkeypatch.setattr("vibes_lsp.cli.plugins._entries", fail)
    for arguments in (("--version",), *((name, "--help") for name in COMMANDS)):
        assert run_vibes(*arguments, cwd=tmp_path).code == 0
