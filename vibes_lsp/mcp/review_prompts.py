"""The prompts: what a person picks in a client to have an AI help with a review.

The AI reads and explains; the verdict stays a person's.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final

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


@dataclass(frozen=True, slots=True)
class PromptDefinition:
    """A prompt.

    Attributes:
        name: Its name.
        title: Its name for people.
        description: What it does.
        takes_file: Whether it has the required argument `file`.
        beginning: Its first sentence.
        answer: What it is about.
    """

    name: str
    title: str
    description: str
    takes_file: bool
    beginning: str
    answer: Callable[[ServedProject, str | None], Answer]


PROMPTS: Final = (
    PromptDefinition(
        "review_file",
        "Review a file",
        "Help a person review the AI code of a file.",
        takes_file=True,
        beginning="Help me review the code in this file that AIs wrote.",
        answer=lambda project, file: provenance_at(
            project, FileLines(file=file or "", limit=MAX_RESULTS)
        ),
    ),
    PromptDefinition(
        "review_next",
        "Review the riskiest code",
        "Help a person review the AI code with the highest risk.",
        takes_file=False,
        beginning="Help me review the AI code with the highest risk.",
        answer=lambda project, _: review_queue(project, Selection(limit=5)),
    ),
)


def prompt_text(project: ServedProject, name: str, arguments: Mapping[str, str]) -> str:
    """Return the text of a prompt for a project that was refreshed.

    Raises:
        WrongArgument: There is no such prompt, or its argument is missing.
        VibesError: The trail or the file cannot be read.
    """
    prompt = next((definition for definition in PROMPTS if definition.name == name), None)
    if prompt is None:
        names = ", ".join(definition.name for definition in PROMPTS)
        raise WrongArgument("name", f"no prompt has this name; there are {names}")
    file = arguments.get("file")
    if prompt.takes_file and not file:
        raise WrongArgument("file", "is required: the file to review")
    answer = prompt.answer(project, file).model_dump(mode="json", by_alias=True, exclude_none=True)
    return f"{prompt.beginning}\n\n{_STEPS}\n{json.dumps(answer, ensure_ascii=True)}"
