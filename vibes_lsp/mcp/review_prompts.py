"""The prompts: what a person picks in a client to have an AI help with a review.

The AI reads and explains; the verdict stays a person's.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Final

from mcp import types

from vibes_lsp.mcp.answers import Answer
from vibes_lsp.mcp.asking import (
    MAX_RESULTS,
    FileLines,
    Selection,
    provenance_at,
    review_queue,
)
from vibes_lsp.mcp.served_project import ServedProject
from vibes_lsp.recording.arguments import WrongArgument

_STEPS: Final = """\
For each annotation below, in the order given:
1. Read its lines in the file, and call the tool `why` for the prompt and the decisions behind them.
2. Say in one sentence what the lines do, and whether that is what the prompt asked for.
3. Name what a reviewer should look at: errors, missing tests, security, and lines whose state is
   `edited` or `unverified`.

Do not change code. You cannot approve or reject anything: end with the command for the person,
`vibes review --file FILE`.
"""


PROMPTS: Final = (
    types.Prompt(
        name="review_file",
        title="Review a file",
        description="Help a person review the AI code of a file.",
        arguments=[types.PromptArgument(name="file", description="The file.", required=True)],
    ),
    types.Prompt(
        name="review_next",
        title="Review the riskiest code",
        description="Help a person review the AI code with the highest risk.",
        arguments=[],
    ),
)


def prompt_text(project: ServedProject, name: str, arguments: Mapping[str, str]) -> str:
    """Return the text of a prompt for a project that was refreshed.

    Raises:
        WrongArgument: There is no such prompt, or its argument is missing.
        VibesError: The trail or the file cannot be read.
    """
    answer: Answer
    match name:
        case "review_file":
            file = arguments.get("file")
            if not file:
                raise WrongArgument("file", "is required: the file to review")
            beginning = "Help me review the code in this file that AIs wrote."
            answer = provenance_at(project, FileLines(file=file, limit=MAX_RESULTS))
        case "review_next":
            beginning = "Help me review the AI code with the highest risk."
            answer = review_queue(project, Selection(limit=5))
        case _:
            names = ", ".join(prompt.name for prompt in PROMPTS)
            raise WrongArgument("name", f"no prompt has this name; there are {names}")
    return f"{beginning}\n\n{_STEPS}\n{json.dumps(answer.as_json(), ensure_ascii=True)}"
