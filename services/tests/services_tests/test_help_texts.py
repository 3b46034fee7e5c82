"""The help of the commands, as a user reads it: in one snapshot, imperative and short."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Final

import click

from tests.cli.test_help_texts import MAX_WORDS, commands, help_text, problems_of_examples
from tests.snapshot import assert_snapshot
from vibes_lsp.cli.main import vibes
from vibes_services.commands import cosign_server, registry, timestamp

if TYPE_CHECKING:
    import pytest

    from tests.cli.run_vibes import RunVibes
    from tests.unit.checks.projects import Project

SNAPSHOT: Final = Path(__file__).parent / "help_texts.txt"
ABSENT: Final = "absent-0123"
ADDED: Final = {
    "cosign-server": cosign_server.command,
    "registry": registry.command,
    "timestamp": timestamp.command,
}
ALL: Final = {
    words: command
    for name, added in ADDED.items()
    for words, command in commands(added, f"vibes {name}")
}
WRONG: Final = (
    *(f"timestamp {name} {ABSENT}" for name in ("create", "upgrade", "verify")),
    *(f"registry {name} {ABSENT}" for name in ("find", "submit")),
    *(f"cosign-server {name} {ABSENT}" for name in ("keys", "rotate", "serve")),
    f"cosign-server token {ABSENT} ada --revoke",
)
"""Calls that name something that is not there."""


def test_vibes_has_the_commands_and_lists_them(project: Project, run_vibes: RunVibes) -> None:
    context = click.Context(vibes)
    assert {name: vibes.get_command(context, name) for name in ADDED} == ADDED
    listed = run_vibes("--help", cwd=project.root)
    assert (listed.code, listed.err) == (0, "")
    for name, command in ADDED.items():
        assert f"  {name:<14} {(command.help or '').splitlines()[0]}\n" in listed.out


def test_the_help_texts_are_those_of_the_snapshot() -> None:
    texts = [f"$ {name} --help\n{help_text(name, command)}" for name, command in ALL.items()]
    assert_snapshot("\n".join(texts), SNAPSHOT)


def test_help_begins_with_a_short_sentence_and_every_option_has_some() -> None:
    for name, command in ALL.items():
        first = (command.help or "").split("\n")[0]
        assert first.endswith("."), name
        assert len(first.split()) <= MAX_WORDS, name
        options = [each for each in command.params if isinstance(each, click.Option)]
        assert [each.name for each in options if not each.help] == [], name


def test_the_examples_are_correct() -> None:
    for name, command in ALL.items():
        assert list(problems_of_examples(name, command)) == []


def test_what_is_not_there_is_wrong_use(
    project: Project, run_vibes: RunVibes, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    for arguments in WRONG:
        done = run_vibes(*arguments.split(), cwd=project.root)
        assert (done.code, done.out) == (2, ""), arguments
        assert done.err.startswith("vibes: ")
        assert done.err.count("\n") == 1
