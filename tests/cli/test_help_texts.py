"""The help of every command, as a user reads it: in one snapshot, imperative and short."""

from __future__ import annotations

import shlex
from importlib.metadata import EntryPoints
from pathlib import Path
from typing import TYPE_CHECKING, Final

import click
import pytest

from tests.snapshot import assert_snapshot
from vibes_lsp.cli.main import COMMANDS, vibes
from vibes_lsp.lsp.main import main as serve

if TYPE_CHECKING:
    from collections.abc import Iterator

SNAPSHOT: Final = Path(__file__).parent / "help_texts.txt"
WIDTH: Final = 80
MAX_WORDS: Final = 10


def commands(
    command: click.Command = vibes, name: str = "vibes"
) -> Iterator[tuple[str, click.Command]]:
    """Yield every command and subcommand with the words that call it."""
    yield name, command
    if isinstance(command, click.Group):
        context = click.Context(command)
        # What plugins add is tested with them.
        for each in COMMANDS if command is vibes else command.list_commands(context):
            child = command.get_command(context, each)
            assert child is not None
            yield from commands(child, f"{name} {each}")


ALL: Final = dict(commands())


def test_the_help_texts_are_those_of_the_snapshot(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("vibes_lsp.cli.plugins._entries", lambda _: EntryPoints(()))
    texts = [_heading(f"{name} --help") + help_text(name, ALL[name]) for name in ALL]
    monkeypatch.setenv("COLUMNS", str(WIDTH))
    with pytest.raises(SystemExit):
        serve(["--help"])
    texts.append(_heading("vibes-lsp --help") + capsys.readouterr().out)
    assert_snapshot("\n".join(texts), SNAPSHOT)


def test_help_begins_with_a_short_sentence() -> None:
    firsts = {name: (command.help or "").split("\n")[0] for name, command in ALL.items()}
    assert {
        name: first
        for name, first in firsts.items()
        if not first.endswith(".") or len(first.split()) > MAX_WORDS
    } == {}


def test_the_list_of_commands_has_the_first_line_of_their_help() -> None:
    firsts = {name: (ALL[f"vibes {name}"].help or "").split("\n")[0] for name in COMMANDS}
    assert firsts == COMMANDS


def test_every_option_has_help() -> None:
    assert [
        f"{name} {option.name}"
        for name, command in ALL.items()
        for option in command.params
        if isinstance(option, click.Option) and not option.help
    ] == []


def test_an_option_of_one_name_has_one_meaning() -> None:
    metavars: dict[tuple[bool, str], set[str]] = {}
    for name, command in ALL.items():
        is_foreign = name.startswith("vibes kb ")  # its options are those of vouch
        for option in command.params:
            if isinstance(option, click.Option):
                metavar = option.make_metavar(click.Context(command))
                metavars.setdefault((is_foreign, option.opts[0]), set()).add(metavar)
    several = {name for (_, name), found in metavars.items() if len(found) > 1}
    assert several == {"--commit"}, "a filter of `find`, and what `flush` makes"


def test_the_examples_are_correct() -> None:
    assert {
        name: problems
        for name, command in ALL.items()
        if (problems := list(problems_of_examples(name, command)))
    } == {}


def problems_of_examples(name: str, command: click.Command) -> Iterator[str]:
    for example in examples(command):
        words = shlex.split(example.rpartition("| ")[2])
        if not " ".join(words).startswith(name):
            yield f"{example}: it calls another command"
            continue
        try:
            command.make_context(name, words[len(name.split()) :])
        except click.ClickException as error:
            yield f"{example}: {error.format_message()}"


def _heading(call: str) -> str:
    return f"$ {call}\n"


def help_text(name: str, command: click.Command) -> str:
    """Return the help of a command as a terminal of 80 columns shows it."""
    context = click.Context(
        command, info_name=name, terminal_width=WIDTH, help_option_names=["-h", "--help"]
    )
    return f"{command.get_help(context)}\n"


def examples(command: click.Command) -> list[str]:
    """Return the calls that the help of a command shows."""
    lines = (command.epilog or "").splitlines()
    return [line.strip() for line in lines if line.startswith("  ")]
