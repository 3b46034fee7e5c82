"""What the recording commands have in common as JSON: where, ranges of lines, file URIs (`requests`)."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Annotated
from urllib.parse import unquote, urlsplit

from pydantic import BaseModel, Field
from pydantic.alias_generators import to_camel

from vibes_lsp.recording.arguments import FORM, NonEmpty, WrongArgument
from vibes_lsp.recording.recorder import Recorder
from vibes_lsp.recording.results import Result


class Position(BaseModel):
    """A place in a document as LSP has it: both from 0."""

    model_config = FORM
    line: Annotated[int, Field(ge=0)]
    character: Annotated[int, Field(ge=0)]


class Range(BaseModel):
    """A range as LSP has it."""

    model_config = FORM
    start: Position
    end: Position

    @property
    def lines(self) -> tuple[int, int]:
        """First and last line, 1-based; an end at character 0 does not count its line, unless the range is empty."""
        open_end = self.end.character == 0 and self.end.line > self.start.line
        return self.start.line + 1, self.end.line + (0 if open_end else 1)


class Request(BaseModel, ABC):
    """What every command takes: where, by path or by URI, and an id by which a repeat is known."""

    model_config = FORM
    uri: NonEmpty | None = None
    file: NonEmpty | None = None
    request_id: NonEmpty | None = None

    @property
    def path(self) -> str | None:
        """The file that is named, as a path."""
        return self.file if self.uri is None else path_of(self.uri)

    def carry_out(self, recorder: Recorder) -> Result:
        """Carry the command out; arguments that turn out wrong are named as in its JSON object."""
        try:
            return self._record(recorder)
        except WrongArgument as error:
            member = ".".join(map(to_camel, error.member.split(".")))
            raise WrongArgument(member, error.expected) from None

    @abstractmethod
    def _record(self, recorder: Recorder) -> Result:
        """Carry the command out by one use case."""


class InText(Request, ABC):
    """A command about lines of a file, as an LSP range or as lines, and its text where that is not saved."""

    range: Range | None = None
    line_start: int | None = None
    line_end: int | None = None
    text: str | None = None

    def lines(self) -> tuple[int, int] | None:
        """Return first and last line, 1-based; None when none are given.

        Raises:
            WrongArgument: Only one of them is given.
        """
        if self.range is not None:
            return self.range.lines
        if self.line_start is None and self.line_end is None:
            return None
        if self.line_start is None or self.line_end is None:
            raise WrongArgument(
                "lineEnd" if self.line_end is None else "lineStart",
                "is required, as both are given together",
            )
        return self.line_start, self.line_end


def path_of(uri: str) -> str:
    """Return the path that a file URI names.

    Raises:
        WrongArgument: It is the URI of something else.
    """
    parts = urlsplit(uri)
    if parts.scheme != "file":
        raise WrongArgument("uri", f"{uri!r} is no file URI")
    path = unquote(parts.path)
    if len(path) > 2 and path[0] == "/" and path[2] == ":":  # /C:/folder
        path = path[1:]
    return f"//{parts.netloc}{path}" if parts.netloc not in {"", "localhost"} else path
