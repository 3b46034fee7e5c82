"""What callers of the recorder say about an edit: tool, model, prompt, reasoning, command, decision, function.

The names are the RFC's and the commands' own, in snake case; as JSON they are in camel case (`requests`).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar, TypeAlias

from pydantic import ConfigDict, StringConstraints
from pydantic.alias_generators import to_camel

from vibes_lsp.errors import VibesError
from vibes_lsp.model.vocabulary import CommandType, Confidence, PromptType

NonEmpty: TypeAlias = Annotated[str, StringConstraints(min_length=1)]

FORM: ConfigDict = ConfigDict(
    alias_generator=to_camel, extra="forbid", strict=True, protected_namespaces=()
)
"""How arguments and results are read from JSON, and written to it: names in camel case, nothing coerced, nothing unknown."""


class WrongArgument(VibesError):
    """An argument is missing, unknown or not what it may be; nothing was written."""

    code = "wrong-argument"

    def __init__(self, member: str, expected: str) -> None:
        super().__init__(f"{member}: {expected}" if member else expected)
        self.member = member
        self.expected = expected


@dataclass(frozen=True, slots=True)
class Tool:
    """The program that let the AI write (RFC 6.2)."""

    __pydantic_config__: ClassVar[ConfigDict] = FORM
    name: str
    version: str
    extensions: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Model:
    """The model that wrote (RFC 6.2)."""

    __pydantic_config__: ClassVar[ConfigDict] = FORM
    name: str
    version: str
    parameters: Mapping[str, Any] | None = None


@dataclass(frozen=True, slots=True)
class Prompt:
    """What the AI was asked (RFC 6.3).

    Attributes:
        context_files: Files that were given with it; those outside the project are left out.
        token_count: Its tokens, where somebody counted; else they are estimated where that is needed (R22).
    """

    __pydantic_config__: ClassVar[ConfigDict] = FORM
    text: str
    type: PromptType
    context_files: tuple[str, ...] = ()
    token_count: int | None = None


@dataclass(frozen=True, slots=True)
class Reasoning:
    """How the AI reasoned (RFC 6.5).

    Attributes:
        model: The name of the model that reasoned; by default the one that wrote.
    """

    __pydantic_config__: ClassVar[ConfigDict] = FORM
    text: str
    token_count: int | None = None
    model: str | None = None


@dataclass(frozen=True, slots=True)
class Command:
    """What was run (RFC 6.4).

    Attributes:
        output_summary: Its first 1,024 bytes are kept.
    """

    __pydantic_config__: ClassVar[ConfigDict] = FORM
    text: str
    type: CommandType
    exit_code: int | None = None
    output_summary: str | None = None
    working_directory: str | None = None


@dataclass(frozen=True, slots=True)
class DecisionOption:
    """One alternative of a decision (RFC 6.6)."""

    __pydantic_config__: ClassVar[ConfigDict] = FORM
    id: str
    description: str
    pros: tuple[str, ...] = ()
    cons: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Decision:
    """A choice between alternatives (RFC 6.6).

    Attributes:
        selected: The id of the option that was chosen.
    """

    __pydantic_config__: ClassVar[ConfigDict] = FORM
    decision_point: str
    options: tuple[DecisionOption, ...]
    selected: str
    rationale: str
    confidence: Confidence | None = None


@dataclass(frozen=True, slots=True)
class Function:
    """A function, method or class (RFC 7.4), by its name in the source, qualified or not."""

    __pydantic_config__: ClassVar[ConfigDict] = FORM
    name: str
    signature: str | None = None


@dataclass(frozen=True, slots=True)
class RiskSignal:
    """A signal of the caller's own (RFC 10.4.1), which counts as much as the project's policy says.

    Attributes:
        signal: Its name, with a namespace: `org:security_sensitive`.
        value: From 0, the lowest risk, to 1.
        reason: Where the value comes from.
    """

    __pydantic_config__: ClassVar[ConfigDict] = FORM
    signal: str
    value: float
    reason: str | None = None


@dataclass(frozen=True, slots=True)
class Origin:
    """Who wrote an edit, and why: what every annotation may say beside its place.

    Attributes:
        session_id: The session that it belongs to; tool and model may then be left out.
        tool: The tool, where there is no session, or where it is another one than the session's.
        model: The model, likewise; given together with the tool.
        decision: The decision behind it, or the hash of one that was recorded.
        informed_by: What the AI had looked at: context hashes, annotation ids, session ids, or files of the project.
        signals: What the caller knows about the risk; kept where the project scores risk.
        prompt_hash: The hash of a prompt that was recorded, instead of one; by default the session's latest.
    """

    session_id: str | None = None
    tool: Tool | None = None
    model: Model | None = None
    prompt: Prompt | None = None
    reasoning: Reasoning | None = None
    command: Command | None = None
    decision: Decision | str | None = None
    informed_by: tuple[str, ...] = ()
    signals: tuple[RiskSignal, ...] = ()
    prompt_hash: str | None = None
