"""What the commands of `vibes kb` share: the knowledge base, the actor, printing objects."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any, Final

from vibes_lsp.checks.finding import pluralize
from vibes_lsp.cli.output import (
    escape,
    print_line,
    print_styled,
)
from vibes_lsp.errors import KnowledgeBaseNotFound
from vibes_lsp.knowledge.actors import system_user
from vibes_lsp.knowledge.knowledge_base import (
    KnowledgeBase,
    find_knowledge_base,
)
from vibes_lsp.knowledge.methods import KnowledgeMethods
from vibes_lsp.knowledge.object_format import dump_yaml

MAX_TEXT: Final = 100
"""Most characters of a text in a list."""
_KB_PATH: Final = "VOUCH_KB_PATH"
_AGENT: Final = "VOUCH_AGENT"
_SEVERITIES: Final = {"error": "red", "warning": "yellow", "info": "dim"}


def open_knowledge_base() -> KnowledgeBase:
    """Return the knowledge base that the environment names, else the nearest one.

    Raises:
        KnowledgeBaseNotFound: There is none.
    """
    named = os.environ.get(_KB_PATH)
    if not named:
        return find_knowledge_base(Path.cwd())
    if not Path(named).is_dir():
        raise KnowledgeBaseNotFound(
            f"{_KB_PATH}: no folder {named}", hint="name a folder .vouch/, or unset the variable"
        )
    return KnowledgeBase(Path(named))


def acting_user(knowledge: KnowledgeBase, *, is_server: bool = False) -> str:
    """Return who acts: `VOUCH_AGENT`, else the user, or for a server the setting `agent`."""
    named = os.environ.get(_AGENT)
    if named:
        return named
    if is_server:
        return knowledge.config().agent or "unknown-agent"
    return system_user()


@contextmanager
def open_methods() -> Iterator[KnowledgeMethods]:
    """Return the methods of the knowledge base, closed at the end of a `with` block."""
    knowledge = open_knowledge_base()
    with closing(KnowledgeMethods(knowledge, acting_user(knowledge))) as methods:
        yield methods


def call(method: str, **params: Any) -> Any:
    """Return the result of a method.

    Raises:
        VibesError: The method fails.
    """
    with open_methods() as methods:
        return methods.call(f"kb.{method}", params)


def print_findings(report: dict[str, Any]) -> int:
    """Print the findings of `kb.lint` or `kb.doctor`; return 1 if one is an error."""
    for finding in report["findings"]:
        style = _SEVERITIES[finding["severity"]]
        message = escape(finding["message"], 200)
        print_styled([(f"{finding['severity']}: ", style), (f"{message} [{finding['code']}]", "")])
    counts = report["counts"]
    errors = pluralize(counts["error"], "error", "errors")
    print_line(f"{errors}, {pluralize(counts['warning'], 'warning', 'warnings')}")
    return 0 if report["ok"] else 1


def print_members(members: dict[str, Any]) -> None:
    """Print an object as YAML."""
    for line in dump_yaml(members).decode().splitlines():
        print_line(escape(line))


def title_of(members: dict[str, Any]) -> str:
    """Return the text, title or name of an object, or what a relation says."""
    for name in ("text", "title", "name"):
        if members.get(name):
            return str(members[name])
    parts = (members.get("source"), members.get("relation"), members.get("target"))
    return " ".join(str(part) for part in parts if part)
