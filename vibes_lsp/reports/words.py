"""Placements in words: what a person reads in a hover, a lens or a table."""

from __future__ import annotations

from vibes_lsp.anchors.located import State
from vibes_lsp.index.placements import Placement, in_git_since, why_unverified
from vibes_lsp.index.records import recorded_lines
from vibes_lsp.model.members import Members
from vibes_lsp.model.vocabulary import Action, RecordType, ReviewerKind
from vibes_lsp.reports.authors import UNKNOWN


def whereabouts(placement: Placement) -> str:
    """Say where an annotation is, and how sure that is."""
    located = placement.located
    recorded = recorded_lines(placement.current)
    before = f"{recorded[0]}-{recorded[1]}" if recorded else "?"
    if placement.shown.is_placeholder:
        times = 1 + len(placement.shown.duplicates)
        return f"somewhere in this file: {times} records name no real line"
    if placement.lineage.action == Action.DELETE:
        return f"removed lines {before} of the file as it was then"
    if placement.moved_from is not None:
        before = f"{before} of another file"
    sentence = f"{'may be here: ' if placement.is_guess else ''}{_state(placement, before)}"
    return f"{sentence}, but other places may fit as well" if located.ambiguous else sentence


def _state(placement: Placement, before: str) -> str:
    why = why_unverified(placement)
    if why is not None:
        when = in_git_since(placement)
        sentence = why if when is None else f"{why}, {when}"
        return (
            sentence
            if placement.current.type == RecordType.FUNCTION
            else f"not verified: {sentence}"
        )
    located = placement.located
    match located.state:
        case State.EXACT:
            return "exact" if placement.moved_from is None else f"moved from {before}"
        case State.MOVED:
            return f"moved from {before}"
        case State.EDITED:
            total = recorded_lines(placement.current)
            if located.intact is None or total is None:
                return (
                    "edited since"
                    if total is None
                    else f"edited since, which lines is not known (recorded at {before})"
                )
            return f"edited since: {located.intact} of {total[1] - total[0] + 1} lines intact"
        case _ if placement.replaced_by is not None:
            name = placement.replaced_by[:8]
            by = (
                name if name.isascii() and name.isalnum() else "a later edit"
            )  # the rest of an id is anything
            return f"replaced by {by}, which wrote the whole file (recorded at {before})"
        case _:  # lost: what is not verified was said above
            return (
                f"could not be found (recorded at {before})"
                if placement.current.type == RecordType.LINE
                else "could not be found"
            )


def title(placement: Placement) -> str:
    """Say in a word what was done: the action, and the function's name."""
    action = placement.lineage.action or placement.current.text("action") or "edit"
    name = placement.current.text("function_name")
    return f"{action} {name}" if name else action


def model_name(facts: Members) -> str:
    """Say which model wrote it; its text is untrusted."""
    model = facts["model"]
    return str(model["name"]) if isinstance(model, dict) else UNKNOWN


def review_label(facts: Members) -> str | None:
    """Say in a word or two where a placement stands with its reviewers; None where nobody reviewed it. Its text is our own."""
    review = facts["review"]
    if not isinstance(review, dict):
        return None
    if review.get("stale"):
        return "review stale"
    verdict = str(review.get("verdict") or "reviewed")
    return f"{verdict} by AI" if review.get("kind") == ReviewerKind.AI else verdict


def review_words(facts: Members) -> str:
    """Say what a person, or an AI, found of a placement; its text is untrusted."""
    review = facts["review"]
    if not isinstance(review, dict):
        return "not reviewed"
    verdict = str(review.get("verdict") or "reviewed")
    by = f" by {review['by']}" if review.get("by") else ""
    kind = " (AI)" if review.get("kind") == "ai" else ""
    objection = f", {review['objection']}" if review.get("objection") else ""
    return f"{verdict}{by}{kind}{objection}{', but the lines have changed since' if review.get('stale') else ''}"
