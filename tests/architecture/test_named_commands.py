"""What a message tells a person to run exists, and is in the help."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

import click

from tests.architecture import source_tree
from vibes_lsp.cli.main import SECTIONS, vibes

COMMAND = re.compile(r"`vibes ([a-z][^`]*)`")
SHOWN = {name for section in SECTIONS.values() for name in section}
OF_PLUGINS = {"cosign-server", "registry", "timestamp"}


def test_what_messages_tell_to_run_is_there() -> None:
    wrong = [
        f"{path}: `vibes {command}`: {problem}"
        for path in source_tree.python_files()
        if path.parts[0] == "vibes_lsp"
        for text in messages(ast.parse(source_tree.text_of(path) or ""))
        for command in COMMAND.findall(text)
        if (problem := problem_of(command)) is not None
    ]
    assert not wrong


def problem_of(command: str) -> str | None:
    """Return what is wrong with a command line; None if nothing is."""
    name, *words = command.split()
    if name in OF_PLUGINS:
        return None
    if name not in SHOWN:
        return "not in the help"
    found = vibes.get_command(click.Context(vibes), name)
    while isinstance(found, click.Group) and words and words[0] in found.commands:
        found = found.commands[words.pop(0)]
    assert found is not None
    known = {option for each in found.params for option in (*each.opts, *each.secondary_opts)}
    options = [word.partition("=")[0] for word in words if word.startswith("--")]
    unknown = set(options) - known - {"--help"}
    return f"no option {', '.join(sorted(unknown))}" if unknown else None


def messages(tree: ast.Module) -> Iterator[str]:
    """Yield the texts of a module that are no docstrings; what is filled in becomes X."""
    docstrings = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    parts = {
        id(part)
        for node in ast.walk(tree)
        if isinstance(node, ast.JoinedStr)
        for part in node.values
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.JoinedStr):
            yield "".join(
                str(part.value) if isinstance(part, ast.Constant) else "X" for part in node.values
            )
        elif (
            isinstance(node, ast.Constant)
            and isinstance(node.value, str)
            and id(node) not in docstrings | parts
        ):
            yield node.value
