"""Agents that say so: what a program that runs commands for an AI leaves in their environment (`docs/reviewing.md`)."""

from __future__ import annotations

import os
from typing import Final

from vibes_lsp.errors import VibesError

VARIABLES: Final = (
    "AI_AGENT",
    "AUGMENT_AGENT",
    "CLAUDECODE",
    "CODEX_SANDBOX",
    "CURSOR_AGENT",
    "GEMINI_CLI",
)
"""Variables that agents set for the commands which they run."""


class AgentAsPerson(VibesError):
    """An agent asks for what only a person may say."""

    code = "agent-as-person"


def refuse_agents() -> None:
    """Stop where an agent runs this; one that hides it is not found out.

    Raises:
        AgentAsPerson: The environment says that an agent runs this.
    """
    name = next((each for each in VARIABLES if os.environ.get(each)), None)
    if name is not None:
        raise AgentAsPerson(
            f"a person's review is not for an agent to give, and {name} says that one runs this",
            hint="an AI reviews with `vibes record review` and reviewerKind ai; a person unsets the variable",
        )
