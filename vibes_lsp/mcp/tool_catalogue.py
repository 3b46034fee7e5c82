"""The tools: name, description, argument and answer types, and the function behind each.

The input and output schemas, the protocol's hints and `docs/mcp.md` follow from this list.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Final

from vibes_lsp.agents.provenance_answers import annotations_shown
from vibes_lsp.mcp import asking, prompt_search
from vibes_lsp.mcp.answers import (
    Answer,
    Prompts,
    Provenance,
    Reasons,
    ReviewQueue,
    Risks,
)
from vibes_lsp.mcp.recording_tools import GivenAnswers, record
from vibes_lsp.mcp.served_project import ServedProject
from vibes_lsp.model.members import Members
from vibes_lsp.recording.arguments import Checked, WrongArgument
from vibes_lsp.recording.requests import (
    EndSession,
    RecordAnnotation,
    RecordDecision,
    RecordDelegation,
    RecordPrompt,
    RecordRead,
    StartSession,
    parse,
)
from vibes_lsp.recording.results import (
    Delegated,
    Ended,
    Recorded,
    RecordedCommand,
    RecordedDecision,
    RecordedPrompt,
    Result,
    StartedSession,
    as_json,
)

_NO_FILE: Final = frozenset({"uri", "file"})
_NO_EDITOR: Final = frozenset({"uri", "range", "signals"})
"""Members for editors, and for tools whose word on risk the project weighs."""


@dataclass(slots=True)
class Connection:
    """One client: the project that it asks about, and what it was told."""

    project: ServedProject
    given_answers: GivenAnswers = field(default_factory=GivenAnswers)


@dataclass(frozen=True, slots=True)
class ToolDefinition:
    """A tool.

    Attributes:
        name: Its name.
        title: Its name for people.
        description: What it is for, for the model that chooses tools.
        arguments: The type of its arguments; of a tool that records, a request.
        answer: The type of its answer.
        ask: Returns the answer of a tool that asks; None for one that records.
    """

    name: str
    title: str
    description: str
    arguments: type[Checked]
    answer: type[Answer | Result]
    ask: Callable[[ServedProject, Any], Answer] | None = None

    @property
    def left_out(self) -> frozenset[str]:
        """Members of the arguments that it does not take."""
        if self.ask is not None:
            return frozenset()
        return _NO_EDITOR if self.arguments is RecordAnnotation else _NO_FILE

    def call(self, connection: Connection, arguments: Members) -> Members:
        """Check the arguments, run the tool on the present state and return its answer.

        Raises:
            VibesError: An argument is wrong, or the trail cannot be read or written.
        """
        for member in sorted(self.left_out & arguments.keys()):
            raise WrongArgument(member, "is not a member of this tool")
        checked: Any = parse(self.arguments, arguments)
        project, given_answers = connection.project, connection.given_answers
        try:
            if self.ask is None:
                project.refresh()
                return as_json(record(project, checked, given_answers))
            answer = project.answered(partial(self.ask, project, checked)).as_json()
        except WrongArgument as error:
            raise error.in_camel_case() from None
        for shown in annotations_shown(answer):
            given_answers.add(shown.path, shown.id)
        return answer


ASKING: Final = (
    ToolDefinition(
        "provenance_at",
        "Who wrote these lines",
        "Show which AI edits own lines of a file: tool, model, prompt, whether the lines are still "
        "as the AI wrote them, risk and review.",
        arguments=asking.FileLines,
        answer=Provenance,
        ask=asking.provenance_at,
    ),
    ToolDefinition(
        "why",
        "Why the code is so",
        "Explain why lines, a function or a piece of code are as they are: the prompts, reasoning, "
        "decisions and sessions behind them, what informed the AI, and what they replaced. Ask "
        "before you change code that you did not write in this session.",
        arguments=asking.WhyArguments,
        answer=Reasons,
        ask=asking.why,
    ),
    ToolDefinition(
        "find_prompts",
        "Find prompts",
        "Find what AIs were asked in this project, and the lines that came of it.",
        arguments=prompt_search.PromptArguments,
        answer=Prompts,
        ask=prompt_search.find_prompts,
    ),
    ToolDefinition(
        "risk",
        "Risk of AI code",
        "List AI edits by risk, highest first, with the factors of each score.",
        arguments=asking.Selection,
        answer=Risks,
        ask=asking.risk,
    ),
    ToolDefinition(
        "review_queue",
        "What needs a review",
        "List AI edits that no person has reviewed as they are now, highest risk first. Only a "
        "person can review them.",
        arguments=asking.Selection,
        answer=ReviewQueue,
        ask=asking.review_queue,
    ),
)
"""The tools that every client gets."""

RECORDING: Final = (
    ToolDefinition(
        "start_session",
        "Start a session",
        "Start a session before you record anything. Not needed where hooks record you.",
        arguments=StartSession,
        answer=StartedSession,
    ),
    ToolDefinition(
        "end_session", "End a session", "End a session.", arguments=EndSession, answer=Ended
    ),
    ToolDefinition(
        "record_prompt",
        "Record a prompt",
        "Record what you were asked, word for word, before you act on it.",
        arguments=RecordPrompt,
        answer=RecordedPrompt,
    ),
    ToolDefinition(
        "record_annotation",
        "Record an edit",
        "Record that you created, modified or deleted lines or a function, after you saved the "
        "file. Answers that you got here about the file are recorded as what informed you.",
        arguments=RecordAnnotation,
        answer=Recorded,
    ),
    ToolDefinition(
        "record_decision",
        "Record a decision",
        "Record a choice between approaches; give its hash to record_annotation.",
        arguments=RecordDecision,
        answer=RecordedDecision,
    ),
    ToolDefinition(
        "record_delegation",
        "Record a delegation",
        "Record that your session hands work to another agent's session.",
        arguments=RecordDelegation,
        answer=Delegated,
    ),
    ToolDefinition(
        "record_read",
        "Record what was read",
        "Record files that you have read; they inform your next edit.",
        arguments=RecordRead,
        answer=RecordedCommand,
    ),
)
"""The tools that `--tools all` adds."""
