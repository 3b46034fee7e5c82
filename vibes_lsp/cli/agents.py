"""Recognises agents by the variables they set, and refuses a person's review from them.

`docs/reviewing.md` says what this proves and what it does not.
"""

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
"""Variables that agents set for the commands they run."""


class AgentAsPerson(VibesError):
    """An agent tries to give a person's review."""

    code = "agent-as-person"


def refuse_agents() -> None:
    """Stop when an agent runs this command; an agent that removes its variable is not detected.

    Raises:
        AgentAsPerson: The environment says that an agent runs this.
    """
    name = next((variable for variable in VARIABLES if os.environ.get(variable)), None)
    if name is not None:
        raise AgentAsPerson(
            f"an agent cannot give a person's review, and {name} says that an agent runs this",
            hint="an AI uses `vibes record review` with reviewerKind ai;"
            " a person unsets the variable",
        )
