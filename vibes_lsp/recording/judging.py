"""The commands by which somebody judges annotations, as JSON objects: reviews, and corrections of places (`requests`)."""

from __future__ import annotations

from typing import Literal

from pydantic import Field
from typing_extensions import override

from vibes_lsp.model.vocabulary import ReviewerKind, Verdict
from vibes_lsp.recording.arguments import Model, NonEmpty, Tool, WrongArgument
from vibes_lsp.recording.correcting import Reanchoring
from vibes_lsp.recording.forms import InText, Request
from vibes_lsp.recording.recorder import Recorder
from vibes_lsp.recording.results import Result
from vibes_lsp.recording.reviewed import Reviewing, ReviewScope, Shown


class ReviewRequest(InText):
    """`vibes.review`."""

    verdict: Verdict
    annotation_ids: tuple[NonEmpty, ...] = ()
    note: str | None = None
    reviewer: NonEmpty | None = None
    scope: ReviewScope = ReviewScope.ANNOTATION
    reviewer_kind: Literal[ReviewerKind.HUMAN, ReviewerKind.AI] = ReviewerKind.HUMAN
    session_id: NonEmpty | None = None
    tool: Tool | None = None
    model: Model | None = None
    shown: dict[NonEmpty, Shown] = Field(default_factory=dict)

    @override
    def _record(self, recorder: Recorder) -> Result:
        review = Reviewing(
            self.verdict,
            self.path,
            self.lines(),
            self.annotation_ids,
            self.note,
            self.reviewer,
            self.text,
            self.scope,
            self.reviewer_kind,
            self.session_id,
            self.tool,
            self.model,
            self.shown,
        )
        return recorder.review(review, request_id=self.request_id)


class ReanchorRequest(InText):
    """`vibes.reanchor`."""

    annotation_id: NonEmpty

    @override
    def _record(self, recorder: Recorder) -> Result:
        lines = self.lines()
        if self.path is None or lines is None:
            raise WrongArgument("file" if self.path is None else "range", "is required")
        return recorder.reanchor(
            Reanchoring(self.annotation_id, self.path, lines, self.text), request_id=self.request_id
        )


class MarkLostRequest(Request):
    """`vibes.markLost`."""

    annotation_id: NonEmpty

    @override
    def _record(self, recorder: Recorder) -> Result:
        return recorder.mark_lost(self.annotation_id, request_id=self.request_id)
