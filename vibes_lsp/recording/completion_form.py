"""`vibes.recordInlineCompletion` as a JSON object; what it has in common with the other commands is in `forms`."""

from __future__ import annotations

from typing import Annotated

from pydantic import BaseModel, Field
from typing_extensions import override

from vibes_lsp.recording.arguments import FORM, Model, NonEmpty, Origin, Prompt, Tool, WrongArgument
from vibes_lsp.recording.completing import InlineCompletion
from vibes_lsp.recording.forms import Range, Request
from vibes_lsp.recording.recorder import Recorder
from vibes_lsp.recording.results import Result


class Part(BaseModel):
    """Which part of an inline completion was accepted, and whether it was the last."""

    model_config = FORM
    part: Annotated[int, Field(ge=1)]
    final: bool


class RecordInlineCompletion(Request):
    """`vibes.recordInlineCompletion`. Its id and part are what a repeat is known by; a `requestId` adds nothing to that."""

    completion_id: NonEmpty
    range: Range
    new_text: str
    partial: Part | None = None
    tool: Tool | None = None
    model: Model | None = None
    session_id: NonEmpty | None = None
    prompt: Prompt | None = None
    text: str | None = None
    current_text: str | None = None

    @override
    def _record(self, recorder: Recorder) -> Result:
        if self.path is None:
            raise WrongArgument("file", "is required, or a uri")
        start, end = self.range.start, self.range.end
        completion = InlineCompletion(
            self.path,
            self.completion_id,
            (start.line, start.character),
            (end.line, end.character),
            self.new_text,
            self.text,
            self.current_text,
            1 if self.partial is None else self.partial.part,
            self.partial is None or self.partial.final,
        )
        origin = Origin(
            session_id=self.session_id, tool=self.tool, model=self.model, prompt=self.prompt
        )
        return recorder.record_inline_completion(completion, origin)
