"""Only the person at an editor may approve their own proposals: no surface of an agent may."""

import ast

from tests.architecture import source_tree
from tests.requirements import REPOSITORY

NAME = "may_approve_own"
THE_EDITOR = "vibes_lsp/lsp/features/knowledge.py"
PASSED_ON = "vibes_lsp/knowledge/writing_methods.py"
"""It passes on what the methods were made with."""


def test_only_the_editor_lets_a_person_approve_their_own() -> None:
    found = {
        path.as_posix(): ast.unparse(argument.value)
        for path in source_tree.python_files()
        if path.parts[0] == "vibes_lsp"
        for node in ast.walk(ast.parse((REPOSITORY / path).read_text(encoding="utf-8")))
        if isinstance(node, ast.Call)
        for argument in node.keywords
        if argument.arg == NAME
    }
    assert found == {THE_EDITOR: "True", PASSED_ON: "context.may_approve_own"}
