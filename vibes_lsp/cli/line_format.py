"""`--format TEMPLATE`: what scripts print of each annotation."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from string import Formatter
from typing import Final

from vibes_lsp.cli.output import escape
from vibes_lsp.errors import VibesError
from vibes_lsp.model.members import Members, mapping

PLACEMENT_NAMES: Final = (
    "id",
    "file",
    "start",
    "end",
    "state",
    "band",
    "score",
    "review",
    "reviewer",
    "tool",
    "model",
    "action",
    "function",
    "prompt",
    "session",
    "commit",
    "time",
)
"""Names for the facts of one annotation."""


class LineFormat:
    """A template with names in braces, such as `{file}:{start} {model}`.

    Args:
        template: The template; `{{` and `}}` are braces.
        names: The names that it may have.

    Raises:
        VibesError: The template has another name, or is malformed.
    """

    def __init__(self, template: str, names: Sequence[str]) -> None:
        try:
            parts = list(Formatter().parse(template))
        except ValueError as error:
            raise VibesError(f"invalid template {template!r} for --format: {error}") from None
        self._parts: list[tuple[str, str | None]] = []
        for literal, name, specification, conversion in parts:
            if name is not None and (name not in names or specification or conversion):
                raise VibesError(f"invalid name {name!r} in --format: expected {', '.join(names)}")
            self._parts.append((literal, name))

    def line(self, values: Mapping[str, object]) -> str:
        """Return one line; a value that is missing or None is empty."""
        return "".join(
            literal + ("" if name is None else escape(_text(values.get(name))))
            for literal, name in self._parts
        )


def placement_values(facts: Members) -> Mapping[str, object]:
    """Return the values of `PLACEMENT_NAMES` for a placement as JSON."""
    review = mapping(facts, "review")
    return {
        "id": facts["annotationId"],
        "file": facts["filePath"],
        "start": facts["lineStart"],
        "end": facts["lineEnd"],
        "state": facts["state"],
        "band": facts["band"],
        "score": facts["score"],
        "review": "stale" if review.get("stale") else review.get("verdict"),
        "reviewer": review.get("by"),
        "tool": mapping(facts, "tool").get("name"),
        "model": mapping(facts, "model").get("name"),
        "action": facts["action"],
        "function": facts.get("functionName"),
        "prompt": facts.get("prompt"),
        "session": facts.get("sessionId"),
        "commit": facts.get("commitHash"),
        "time": facts["timestamp"],
    }


def _text(value: object) -> object:
    return "" if value is None else value
