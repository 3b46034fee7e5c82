"""Exit codes of all commands: what is named and is not there is wrong use, never a finding."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import click
import pytest

from vibes_lsp.cli.main import COMMANDS, vibes

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.cli.run_vibes import RunVibes
    from tests.unit.checks.projects import Project

ABSENT: Final = "absent-0123"
WRONG: Final[tuple[str, ...]] = (
    *(f"{name} {ABSENT}" for name in ("init", "blame", "diff", "show", "show --graph")),
    *(f"show {ABSENT}:1", f"show --graph {ABSENT}:1", f"merge {ABSENT}", f"completion {ABSENT}"),
    *(f"record {name} {ABSENT}.py:1-2" for name in ("annotate --tool a --model b", "review")),
    *(f"record {name} --input {ABSENT}" for name in ("annotate", "edge", "session-end")),
    *(f"find --file {ABSENT}", f"log --file {ABSENT}", f"review --list --file {ABSENT}"),
    *(f"import agent-trace {ABSENT}", f"query {ABSENT}", "export", f"export --json {ABSENT}"),
    *(f"check --base {ABSENT}", f"check --badge {ABSENT}"),
    *(f"gate {ABSENT}", f"gate --base {ABSENT}", f"gate --threshold {ABSENT}"),
    *(f"verify {ABSENT}", f"verify --base {ABSENT}", f"verify --public-key {ABSENT}"),
    *(f"attest {name} {ABSENT}" for name in ("", "--disclose", "--tag v1", "--key")),
    *(f"keys trust {ABSENT} --name Ada", f"keys generate --from {ABSENT}"),
    f"kb source add {ABSENT}",
    *(f"kb {name} {ABSENT}" for name in ("show", "approve", "crystallize", "confirm", "archive")),
    *(f"kb {name} {ABSENT}" for name in ("cite", "session end", "provenance add")),
    *(f"kb {name} {ABSENT} {ABSENT}" for name in ("supersede", "contradict")),
    *(f"kb {name} {ABSENT}" for name in ("list", "read", "read --kind page")),
    *(f"kb {name} {ABSENT}" for name in ("export-check", "import-check", "import-apply")),
    *(f"kb reject {ABSENT} --reason no", f"kb provenance report {ABSENT}"),
    f"kb propose-claim --text x --source {ABSENT}",
)
"""Calls that name something that is not there."""
FREE: Final = frozenset(
    {
        *("demo", "export agent-trace"),
        *("kb search", "kb context", "doctor"),
    }
)
"""Commands whose arguments are any text, or name what they create or diagnose."""


@pytest.mark.parametrize("arguments", WRONG)
def test_what_is_not_there_is_wrong_use(
    project: Project,
    tmp_path: Path,
    run_vibes: RunVibes,
    monkeypatch: pytest.MonkeyPatch,
    arguments: str,
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    if arguments.startswith("kb "):
        run_vibes("kb", "init", cwd=project.root)
    done = run_vibes(*arguments.split(), cwd=project.root)
    assert (done.code, done.out) == (2, "")
    assert done.err.startswith("vibes: ")
    assert done.err.count("\n") == 1


def test_every_command_that_takes_a_name_is_tried() -> None:
    tried = {each for each in leaves(vibes) if any(f"{each} " in f"{call} " for call in WRONG)}
    assert set(leaves(vibes)) - tried == FREE


def leaves(group: click.Group, before: str = "") -> Iterator[str]:
    """Yield the names of the commands that take an argument."""
    context = click.Context(group)
    for name in COMMANDS if group is vibes else group.list_commands(context):
        command = group.get_command(context, name)
        if isinstance(command, click.Group):
            yield from leaves(command, f"{before}{name} ")
        elif command is not None and any(
            isinstance(each, click.Argument) for each in command.params
        ):
            yield f"{before}{name}"
