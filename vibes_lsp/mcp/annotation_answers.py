"""Convert placements to answers: short, with every recorded text as data."""

from __future__ import annotations

from typing import Any, Final

from vibes_lsp.mcp.answers import AnnotationAnswer, CountingReview, FactorAnswer, Named
from vibes_lsp.mcp.recorded_text import Quotations, name, path_text
from vibes_lsp.model.members import Members, integer, mapping, objects, text
from vibes_lsp.placing.placements import Placement
from vibes_lsp.reports.blame import ranges_by_kind
from vibes_lsp.reports.placements import describe_location

SHORT: Final = 300
"""Characters of a prompt in a list."""
_MAX_REASON: Final = 200
_MAX_FACTORS: Final = 20


def annotation_answer(
    placement: Placement,
    facts: Members,
    quotations: Quotations,
    *,
    prompt: int = SHORT,
    with_factors: bool = False,
) -> AnnotationAnswer:
    """Return an annotation.

    Args:
        placement: Where its lines are.
        facts: The same as JSON (`PlacementReport`).
        quotations: Quotes its texts.
        prompt: How many characters of the prompt are kept.
        with_factors: Whether to include what the score is computed from.
    """
    return AnnotationAnswer(
        **annotation_members(placement, facts, quotations, prompt=prompt),
        factors=_factors(facts, quotations) if with_factors else None,
    )


def annotation_members(
    placement: Placement, facts: Members, quotations: Quotations, *, prompt: int
) -> dict[str, Any]:
    """Return the members of `AnnotationAnswer`, without the factors."""
    score = facts["score"] if facts["score"] is not None else facts["storedScore"]
    return {
        "annotation_id": name(facts["annotationId"]) or "",
        "file_path": path_text(facts["filePath"]) or "",
        "moved_from": path_text(facts.get("movedFrom")),
        "line_start": integer(facts, "lineStart"),
        "line_end": integer(facts, "lineEnd"),
        "function_name": name(facts.get("functionName")),
        "owned_lines": ranges_by_kind(placement),
        "action": name(facts["action"]) or "",
        "state": str(facts["state"]),
        "where": describe_location(placement),
        "is_history": placement.is_history or None,
        "tool": named(mapping(facts, "tool")),
        "model": named(mapping(facts, "model")),
        "recorded_at": name(facts["timestamp"]),
        "session_id": name(facts.get("sessionId")),
        "commit_hash": name(facts.get("commitHash")),
        "score": score if isinstance(score, int | float) else None,
        "band": text(facts, "band"),
        "review": _review(mapping(facts, "review")),
        "prompt_hash": name(facts.get("promptHash")),
        "prompt": quotations.quote(text(facts, "prompt"), prompt),
    }


def named(author: Members) -> Named:
    """Return a tool or a model."""
    return Named(name=name(author.get("name")) or "", version=name(author.get("version")) or "")


def _review(review: Members) -> CountingReview | None:
    if not review:
        return None
    return CountingReview(
        verdict=name(review.get("verdict")),
        by=name(review.get("by")),
        kind=name(review.get("kind")) or "unknown",
        at=name(review.get("at")),
        stale=review.get("stale") is True,
    )


def _factors(facts: Members, quotations: Quotations) -> list[FactorAnswer]:
    return [
        FactorAnswer(
            signal=name(factor.get("signal")) or "",
            value=value,
            weight=weight,
            reason=quotations.quote(text(factor, "reason"), _MAX_REASON),
        )
        for factor in objects(facts.get("factors"))[:_MAX_FACTORS]
        if isinstance(value := factor.get("value"), int | float)
        and isinstance(weight := factor.get("weight"), int | float)
    ]
