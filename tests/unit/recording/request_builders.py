"""Requests in few words: positions and lines as pairs, names of enumerations as text."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any, TypeAlias

from vibes_lsp.recording import (
    Decision,
    Function,
    Origin,
    Part,
    Position,
    Range,
    Reanchor,
    RecordAnnotation,
    RecordDecision,
    RecordEdge,
    RecordInlineCompletion,
    RecordRead,
    RecordReview,
)

Place: TypeAlias = tuple[int, int]


@dataclass(frozen=True)
class Completion:
    """An inline completion, or a part of one, without its origin."""

    path: str
    completion_id: str
    start: Place
    end: Place
    new_text: str
    text: str | None = None
    current_text: str | None = None
    part: int = 1
    final: bool = True

    def request(self, origin: Origin) -> RecordInlineCompletion:
        """Return the request that records it."""
        return RecordInlineCompletion(
            file=self.path,
            completion_id=self.completion_id,
            range=Range(Position(*self.start), Position(*self.end)),
            new_text=self.new_text,
            text=self.text,
            current_text=self.current_text,
            partial=Part(self.part, self.final),
            **members(origin),
        )


def members(origin: Origin) -> dict[str, Any]:
    """Return the members of an origin."""
    return {name: getattr(origin, name) for name in Origin.model_fields}


def annotation_request(origin: Origin, path: str, **more: Any) -> RecordAnnotation:
    """Return the request to annotate a file."""
    return RecordAnnotation(file=path, **more, **members(origin))


def function_request(
    path: str,
    name: str,
    action: str,
    origin: Origin,
    *,
    signature: str | None = None,
    lines: tuple[int, int] | None = None,
    **more: Any,
) -> RecordAnnotation:
    """Return the request to annotate a function."""
    function = Function(name, signature)
    return annotation_request(
        origin, path, function=function, action=action, **_lines(lines), **more
    )


def read_request(session: str, *files: str, request_id: str | None = None) -> RecordRead:
    """Return the request to record that a session has read files."""
    return RecordRead(session_id=session, files=files, request_id=request_id)


def decision_request(decision: Decision, request_id: str | None = None) -> RecordDecision:
    """Return the request to record a decision."""
    given = {field.name: getattr(decision, field.name) for field in fields(decision)}
    return RecordDecision(request_id=request_id, **given)


def review_request(
    verdict: str, path: str | None = None, lines: tuple[int, int] | None = None, **more: Any
) -> RecordReview:
    """Return a review of lines, or of what the other members select."""
    given: dict[str, Any] = {"verdict": verdict, "file": path, **_lines(lines), **more}
    return RecordReview(**given)


def reanchor_request(
    annotation_id: str, path: str, lines: tuple[int, int], text: str | None = None, **more: Any
) -> Reanchor:
    """Return the correction of an annotation's lines."""
    return Reanchor(annotation_id=annotation_id, file=path, text=text, **_lines(lines), **more)


def edge_request(
    edge_type: str,
    source_ref: str,
    source_type: str,
    target_ref: str,
    target_type: str,
    **more: Any,
) -> RecordEdge:
    """Return the request to record an edge."""
    given: dict[str, Any] = {
        "edge_type": edge_type,
        "source_ref": source_ref,
        "source_type": source_type,
        "target_ref": target_ref,
        "target_type": target_type,
        **more,
    }
    return RecordEdge(**given)


def _lines(lines: tuple[int, int] | None) -> dict[str, Any]:
    return {} if lines is None else {"line_start": lines[0], "line_end": lines[1]}
