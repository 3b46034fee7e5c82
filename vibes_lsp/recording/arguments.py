"""The values that requests are made of: tool, model, prompt, reasoning, command, decision, range.

They are plain values: a request checks them when it is made (`requests`). Names are those of the
RFC and of the server's commands, in snake case; as JSON they are in camel case.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from reprlib import repr as shortened
from types import NoneType
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Final, Self, TypeAlias, TypeVar

from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Field,
    ModelWrapValidatorHandler,
    PlainValidator,
    Strict,
    StringConstraints,
    ValidationError,
    ValidationInfo,
    WithJsonSchema,
    model_validator,
)
from pydantic.alias_generators import to_camel, to_snake
from pydantic_core import PydanticCustomError

from vibes_lsp.errors import VibesError
from vibes_lsp.model.canonical_json import MAX_DEPTH
from vibes_lsp.model.vocabulary import CommandType, Confidence, PromptType, is_custom_signal

if TYPE_CHECKING:
    from pydantic_core import ErrorDetails

ARGUMENT: Final = ConfigDict(
    alias_generator=to_camel,
    validate_by_name=True,
    extra="forbid",
    strict=True,
    revalidate_instances="always",
    protected_namespaces=(),
)
"""Arguments are checked strictly, also those that Python code made without a check."""

_ENTRY_DEPTH: Final = 4
"""Levels above a member's value in the manifest: manifest, `entries`, entry, member."""
_MAX_VALUES: Final = 100_000
"""Values in a value of the caller's own; in Python few can be many, when parts are shared."""

_T = TypeVar("_T")
NonEmpty: TypeAlias = Annotated[str, StringConstraints(min_length=1)]
Lenient: TypeAlias = Annotated[_T, Strict(False)]  # noqa: FBT003  # as pydantic spells it
"""A tuple may be given as a list, a member of an enumeration as its text; items stay strict."""


class WrongArgument(VibesError):
    """An argument is missing, unknown or invalid; nothing was written."""

    code = "wrong-argument"

    def __init__(self, member: str, expected: str) -> None:
        super().__init__(f"{member}: {expected}" if member else expected)
        self.member = member
        self.expected = expected

    def in_camel_case(self) -> WrongArgument:
        """Return the error with the member's name as in JSON."""
        return WrongArgument(".".join(map(to_camel, self.member.split("."))), self.expected)


class Checked(BaseModel):
    """Members that are checked when they are given; a wrong one raises `WrongArgument`."""

    model_config = ConfigDict(
        alias_generator=to_camel,
        validate_by_name=True,
        validate_by_alias=True,
        defer_build=True,
        extra="forbid",
        strict=True,
        frozen=True,
        protected_namespaces=(),
    )

    @model_validator(mode="wrap")
    @classmethod
    def _name_wrong_member(
        cls, members: Any, handler: ModelWrapValidatorHandler[Self], info: ValidationInfo
    ) -> Self:
        is_json = info.mode == "json"
        try:
            checked = handler(members)
            checked._check_together()  # noqa: SLF001  # of this class
        except ValidationError as error:
            raise _wrong_argument(cls, error, is_json=is_json) from None
        except WrongArgument as error:
            raise (error.in_camel_case() if is_json else error) from None
        return checked

    def _check_together(self) -> None:
        """Check members that depend on one another.

        Raises:
            WrongArgument: They do not fit.
        """


_UNKNOWN: Final = frozenset({"extra_forbidden", "unexpected_keyword_argument"})
_BRANCHES: Final = frozenset({"constrained-str", "Decision"})
"""What pydantic adds to the location of an error for the two forms of a decision."""


def _wrong_argument(kind: type[Checked], error: ValidationError, *, is_json: bool) -> WrongArgument:
    """Return the error about one member.

    An unknown one goes first: it is often what is missing under another name.
    """
    faults = error.errors(include_url=False, include_input=False)
    fault = min(
        faults, key=lambda fault: (fault["type"] not in _UNKNOWN, "constrained-str" in fault["loc"])
    )
    parts = [str(part) for part in fault["loc"] if part not in _BRANCHES]
    member = ".".join(parts if is_json else map(to_snake, parts))
    if fault["loc"][-1:] and fault["loc"][-1] in _BRANCHES:
        return WrongArgument(member, "expected a hash or a decision")
    if fault["type"] == "string_too_short":
        return WrongArgument(member, "must not be empty")
    if fault["type"] in _UNKNOWN:
        names = ", ".join(
            sorted(
                (field.alias if is_json else None) or name
                for name, field in kind.model_fields.items()
            )
        )
        return WrongArgument(
            member,
            f"is not a member; there are {names}" if len(parts) == 1 else "is not a member of it",
        )
    return WrongArgument(member, _expected(fault))


def _expected(fault: ErrorDetails) -> str:
    """Return what was expected, in terms of JSON; pydantic's own messages use Python's."""
    if fault["type"] not in _MESSAGES:
        return fault["msg"][:1].lower() + fault["msg"][1:]
    words = {name: str(value).replace("'", "") for name, value in fault.get("ctx", {}).items()}
    return _MESSAGES[fault["type"]].format(**words)


_MESSAGES: Final = {
    "missing": "is required",
    "string_type": "expected a string",
    "string_unicode": "expected Unicode text",
    "int_type": "expected an integer",
    "int_from_float": "expected an integer",
    "float_type": "expected a number",
    "finite_number": "expected a finite number",
    "bool_type": "expected true or false",
    "enum": "expected {expected}",
    "literal_error": "expected {expected}",
    "greater_than_equal": "expected at least {ge}",
    "less_than_equal": "expected at most {le}",
    "tuple_type": "expected an array",
    "dict_type": "expected an object",
    "model_type": "expected an object",
    "dataclass_type": "expected an object",
}


def _json_object(value: object) -> Mapping[str, Any]:
    """Return a value that the manifest can hold: JSON's types, finite, neither deep nor large."""
    if not isinstance(value, Mapping):
        raise PydanticCustomError("json_object", "expected an object")
    count = 1
    pending: list[tuple[object, int]] = [(value, _ENTRY_DEPTH)]
    while pending:
        nested, depth = pending.pop()
        if isinstance(nested, Mapping | list | tuple):
            if depth > MAX_DEPTH:  # also a value that contains itself
                raise PydanticCustomError(
                    "json_depth", "is nested deeper than {limit} levels", {"limit": MAX_DEPTH}
                )
            if isinstance(nested, Mapping) and not all(isinstance(key, str) for key in nested):
                raise PydanticCustomError("json_key", "has a name that is not a string")
            count += len(nested)
            if count > _MAX_VALUES:
                raise PydanticCustomError(
                    "json_values", "has more than {limit} values", {"limit": f"{_MAX_VALUES:,}"}
                )
            items = nested.values() if isinstance(nested, Mapping) else nested
            pending.extend((inner, depth + 1) for inner in items)
        elif not (
            isinstance(nested, str | int | NoneType)
            or (isinstance(nested, float) and math.isfinite(nested))
        ):
            raise PydanticCustomError(
                "json_value", "{value} is not a JSON value", {"value": shortened(nested)}
            )
    return value


def _signal_name(name: str) -> str:
    if not is_custom_signal(name):
        raise PydanticCustomError(
            "signal_name",
            "is a name with a namespace, as in org:name, not {name}",
            {"name": repr(name[:60])},
        )
    return name


JsonObject: TypeAlias = Annotated[
    Mapping[str, Any], PlainValidator(_json_object), WithJsonSchema({"type": "object"})
]


@dataclass(frozen=True, slots=True)
class Tool:
    """The program through which the AI wrote (RFC 6.2).

    Attributes:
        name: Its name.
        version: Its version.
        extensions: Extensions that took part.
    """

    __pydantic_config__: ClassVar[ConfigDict] = ARGUMENT
    name: str
    version: str
    extensions: Lenient[tuple[str, ...]] = ()


@dataclass(frozen=True, slots=True)
class Model:
    """The model that wrote (RFC 6.2).

    Attributes:
        name: Its name, or `unknown`.
        version: Its version, or `unknown`.
        parameters: How it was called, such as `temperature`.
    """

    __pydantic_config__: ClassVar[ConfigDict] = ARGUMENT
    name: str
    version: str
    parameters: JsonObject | None = None


@dataclass(frozen=True, slots=True)
class Prompt:
    """What the AI was asked (RFC 6.3).

    Attributes:
        text: The prompt.
        type: Its kind.
        context_files: Files that were given with it; those outside the project are left out.
        token_count: Its tokens, if a tool counted them; else the risk score estimates them (R22).
    """

    __pydantic_config__: ClassVar[ConfigDict] = ARGUMENT
    text: str
    type: Lenient[PromptType]
    context_files: Lenient[tuple[str, ...]] = ()
    token_count: int | None = None


@dataclass(frozen=True, slots=True)
class Reasoning:
    """The AI's reasoning (RFC 6.5).

    Attributes:
        text: The reasoning.
        token_count: Its tokens.
        model: The name of the model that reasoned; by default the model that wrote.
    """

    __pydantic_config__: ClassVar[ConfigDict] = ARGUMENT
    text: str
    token_count: int | None = None
    model: str | None = None


@dataclass(frozen=True, slots=True)
class Command:
    """A command that was run (RFC 6.4).

    Attributes:
        text: The command line.
        type: Its kind.
        exit_code: Its exit code.
        output_summary: Its output, of which the first 1,024 bytes are recorded.
        working_directory: Where it ran.
    """

    __pydantic_config__: ClassVar[ConfigDict] = ARGUMENT
    text: str
    type: Lenient[CommandType]
    exit_code: int | None = None
    output_summary: str | None = None
    working_directory: str | None = None


@dataclass(frozen=True, slots=True)
class DecisionOption:
    """One alternative of a decision (RFC 6.6).

    Attributes:
        id: Its id, which `selected` names.
        description: What it is.
        pros: What is in its favour.
        cons: What is against it.
    """

    __pydantic_config__: ClassVar[ConfigDict] = ARGUMENT
    id: str
    description: str
    pros: Lenient[tuple[str, ...]] = ()
    cons: Lenient[tuple[str, ...]] = ()


@dataclass(frozen=True, slots=True)
class Decision:
    """A choice between alternatives (RFC 6.6).

    Attributes:
        decision_point: The question.
        options: The alternatives.
        selected: The id of the option that was chosen.
        rationale: Why.
        confidence: How certain the choice is.
    """

    __pydantic_config__: ClassVar[ConfigDict] = ARGUMENT
    decision_point: str
    options: Lenient[tuple[DecisionOption, ...]]
    selected: str
    rationale: str
    confidence: Lenient[Confidence] | None = None


@dataclass(frozen=True, slots=True)
class Function:
    """A function, method or class (RFC 7.4).

    Attributes:
        name: Its name in the source, qualified or not.
        signature: Its signature.
    """

    __pydantic_config__: ClassVar[ConfigDict] = ARGUMENT
    name: str
    signature: str | None = None


@dataclass(frozen=True, slots=True)
class RiskSignal:
    """A risk signal of the caller's own (RFC 10.4.1), weighted by the project's policy.

    Attributes:
        signal: Its name, with a namespace: `org:security_sensitive`.
        value: From 0, the lowest risk, to 1.
        reason: Where the value comes from.
    """

    __pydantic_config__: ClassVar[ConfigDict] = ARGUMENT
    signal: Annotated[str, AfterValidator(_signal_name)]
    value: Annotated[float, Field(ge=0, le=1, allow_inf_nan=False)]
    reason: str | None = None


@dataclass(frozen=True, slots=True)
class Position:
    """A position in a document as in LSP.

    Attributes:
        line: The line, from 0.
        character: The column, from 0: in the negotiated encoding, in the shell in UTF-16.
    """

    __pydantic_config__: ClassVar[ConfigDict] = ARGUMENT
    line: Annotated[int, Field(ge=0)]
    character: Annotated[int, Field(ge=0)]


@dataclass(frozen=True, slots=True)
class Range:
    """A range as in LSP.

    Attributes:
        start: Where it starts.
        end: Where it ends, exclusive; at character 0 it does not include that line.
    """

    __pydantic_config__: ClassVar[ConfigDict] = ARGUMENT
    start: Position
    end: Position

    @property
    def lines(self) -> tuple[int, int]:
        """First and last line, 1-based.

        An end at character 0 does not count its line, unless the range is empty.
        """
        open_end = self.end.character == 0 and self.end.line > self.start.line
        return self.start.line + 1, self.end.line + (0 if open_end else 1)


@dataclass(frozen=True, slots=True)
class Part:
    """A part of an inline completion.

    Attributes:
        part: Its number, from 1.
        final: Whether it is the last.
    """

    __pydantic_config__: ClassVar[ConfigDict] = ARGUMENT
    part: Annotated[int, Field(ge=1)]
    final: bool


@dataclass(frozen=True, slots=True)
class Shown:
    """What a reviewer was shown of an annotation.

    Attributes:
        file_path: Its file, relative to the project.
        text: The hash of its lines, as in `anchor_hash` (R14).
    """

    __pydantic_config__: ClassVar[ConfigDict] = ARGUMENT
    file_path: str
    text: str
