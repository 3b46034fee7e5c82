"""Placements as JSON, in the shape that server and command line share, and as text for people."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from typing import Final

from vibes_lsp.anchors.location import State
from vibes_lsp.anchors.text import Text
from vibes_lsp.git.commit_resolution import ResolvedCommit
from vibes_lsp.model.members import JsonValue, Members, mapping, text
from vibes_lsp.model.timestamps import format_timestamp
from vibes_lsp.model.vocabulary import (
    IMPORTED_FROM,
    Action,
    Band,
    ContextType,
    RecordType,
    ReviewerKind,
    Signal,
    Verdict,
)
from vibes_lsp.placing.live_risk import Scorer, annotated_lines
from vibes_lsp.placing.placements import Placement, in_git_since, why_unverified
from vibes_lsp.reports.authors import Authors, author_name
from vibes_lsp.risk.policy import Policy
from vibes_lsp.risk.scoring import Score, band_of, format_score
from vibes_lsp.risk.signals import factors_as_recorded
from vibes_lsp.trail.lineage_commits import known_commit
from vibes_lsp.trail.reviews import Review, deciding_review, is_text_unchanged
from vibes_lsp.trail.trail import Trail

_MOST_REASONS: Final = 2
_OPTIONAL: Final = {
    "functionName": "function_name",
    "sessionId": "session_id",
    "promptHash": "prompt_hash",
}


class PlacementReport:
    """Converts placements of one file to JSON.

    Args:
        trail: The audit trail.
        content: The text in which they were located.
        scorer: Computes their risk; by default none, as when PRISM is off.
        resolved_commits: Commits found for annotations without a valid one, by first record id.
        objection: Returns why a review does not count; by default all count.
    """

    def __init__(
        self,
        trail: Trail,
        content: Text,
        *,
        scorer: Scorer | None = None,
        resolved_commits: Mapping[str, ResolvedCommit] | None = None,
        objection: Callable[[Placement, Review], str | None] | None = None,
    ) -> None:
        self._objection = objection
        self._trail = trail
        self._content = content
        self._scorer = scorer or Scorer(trail, Policy())
        self._resolved_commits: Mapping[str, ResolvedCommit] = resolved_commits or {}
        self._authors = Authors(trail)

    def placements(
        self, placements: Sequence[Placement], *, with_prompts: bool = True
    ) -> list[JsonValue]:
        """Return all placements, in the order given.

        Args:
            placements: What to return.
            with_prompts: Whether to include the prompt texts.
        """
        return [self.placement(placement, with_prompts=with_prompts) for placement in placements]

    def placement(self, placement: Placement, *, with_prompts: bool = True) -> Members:
        """Return one placement."""
        return self.scored(placement, self.score(placement), with_prompts=with_prompts)

    def scored(
        self, placement: Placement, live: Score | None, *, with_prompts: bool = True
    ) -> Members:
        """Return one placement with a live score that was computed before."""
        record, located = placement.current, placement.located
        recorded = placement.lineage.recorded_lines or (None, None)
        author = self._authors.of(record.text("environment_hash"))
        stored = stored_score(placement)
        members: Members = {
            "annotationId": record.id,
            "ids": list(placement.lineage.ids),
            "type": record.type,
            "filePath": placement.path,
            "range": lsp_range(located.start, located.end),
            "lineStart": located.start,
            "lineEnd": located.end,
            "ownedRanges": [lsp_range(start, end) for start, end in placement.owned_ranges],
            "recordedLineStart": recorded[0],
            "recordedLineEnd": recorded[1],
            "state": located.state.value,
            "method": located.method.value,
            "confidence": located.confidence,
            "ambiguous": located.ambiguous,
            "intactLines": located.intact,
            "totalLines": placement.lineage.line_count,
            "band": _band(live, stored, self._scorer.thresholds),
            "score": None if live is None else live.value,
            "storedScore": stored,
            "review": self.review(placement),
            "tool": {"name": author.tool, "version": author.tool_version},
            "model": {"name": author.model, "version": author.model_version},
            "environmentHash": record.text("environment_hash"),
            "action": placement.lineage.action or record.text("action"),
            "timestamp": placement.lineage.first.text("timestamp"),
            "assuranceLevel": record.text("assurance_level"),
        }
        if placement.is_pending:
            members["pending"] = True
        members.update(author.as_json_source())
        imported = mapping(placement.lineage.first.members, IMPORTED_FROM)
        if imported:
            members["importedFrom"] = {
                name: text(imported, name) for name in ("format", "id", "evidence")
            }
        if placement.moved_from is not None:
            members["movedFrom"] = placement.moved_from
        if placement.replaced_by is not None:
            members["replacedBy"] = placement.replaced_by
        if located.older_commit is not None:
            members["inGitSince"] = {
                "commit": located.older_commit.commit,
                "at": format_timestamp(located.older_commit.moment),
            }
        members.update(
            {
                name: value
                for name, member in _OPTIONAL.items()
                if (value := record.text(member)) is not None
            }
        )
        factors = (
            record.members.get("risk_factors")
            if live is None
            else factors_as_recorded(live.factors)
        )
        if isinstance(factors, list):
            members["factors"] = factors
        commit = self._commit(placement)
        if commit is not None:
            members.update({"commitHash": commit.commit, "commitMethod": commit.method.value})
        prompt = self.prompt(placement)
        if prompt is not None and with_prompts:
            members["prompt"] = prompt
        return members

    def model(self, placement: Placement) -> str:
        """Return the name of the model that made an edit, which is untrusted text."""
        return self._authors.of(placement.current.text("environment_hash")).model

    def band(self, placement: Placement) -> str | None:
        """Return the band of the live score, else of the recorded one; None without a score."""
        return _band(self.score(placement), stored_score(placement), self._scorer.thresholds)

    def score(self, placement: Placement) -> Score | None:
        """Compute the live score of an annotation; None where it has none (R27)."""
        return self._scorer.score(placement, self._content)

    def describe_risk(self, facts: Members, *, with_recorded: bool = True) -> str | None:
        """Return score and band as text; None without a score.

        Args:
            facts: The placement as JSON.
            with_recorded: Whether to add the recorded score where it differs as printed (R21).
        """
        live, stored, bounds = facts["score"], facts["storedScore"], self._scorer.thresholds
        recorded = format_score(stored, bounds) if isinstance(stored, int | float) else None
        if not isinstance(live, int | float):
            return None if recorded is None else f"{recorded} {facts['band']} (as recorded)"
        shown = format_score(live, bounds)
        differs = with_recorded and recorded not in {None, shown}
        return f"{shown} {facts['band']}" + (f" ({recorded} as recorded)" if differs else "")

    def _commit(self, placement: Placement) -> ResolvedCommit | None:
        return known_commit(
            placement.lineage, self._resolved_commits.get(placement.lineage.first.id)
        )

    def prompt(self, placement: Placement) -> str | None:
        """Return the text of the prompt; None if it is not known."""
        key = placement.current.text("prompt_hash")
        entry = self._trail.manifest.entry(key) if key else None
        return (
            text(entry, "prompt_text")
            if entry is not None and entry.get("type") == ContextType.PROMPT
            else None
        )

    def review(self, placement: Placement) -> Members | None:
        """Return the review that counts; it is stale if the lines changed since."""
        reviews = self._trail.reviews_of(placement.lineage)
        lines, is_removed = (
            annotated_lines(placement, self._content),
            placement.lineage.action == Action.DELETE,
        )
        objections = (
            {}
            if self._objection is None
            else {id(review): self._objection(placement, review) for review in reviews}
        )
        counted = [review for review in reviews if objections.get(id(review)) is None]
        chosen = (
            deciding_review(counted or reviews, lines, is_removed=is_removed) if reviews else None
        )
        if chosen is None:
            return None
        objection = objections.get(id(chosen))
        return {
            **({} if objection is None else {"objection": objection}),
            "verdict": chosen.verdict.value if chosen.verdict else None,
            "by": chosen.reviewer,
            "kind": chosen.kind.value,
            "at": chosen.edge.record.text("timestamp"),
            "stale": not is_removed and _is_stale(chosen, lines),
        }


def _is_stale(review: Review, lines: Sequence[str] | None) -> bool:
    """Whether the lines are not as reviewed, or a person's approval does not say which it read.

    Such an approval counts for no score and no gate (R6).
    """
    unchanged = is_text_unchanged(review, lines)
    if unchanged is None:
        return review.kind is ReviewerKind.HUMAN and review.verdict is not Verdict.REJECTED
    return not unchanged


def is_reviewed(facts: Members) -> bool:
    """Return whether the current lines are reviewed; an AI review does not count (R6)."""
    review = facts["review"]
    return (
        isinstance(review, dict)
        and not review.get("stale")
        and review.get("kind") != ReviewerKind.AI
    )


def is_settled(review: JsonValue) -> bool:
    """Return whether a person approved the current lines; `review` is that of a placement."""
    return (
        isinstance(review, dict)
        and is_reviewed({"review": review})
        and review.get("kind") == ReviewerKind.HUMAN
        and review.get("verdict") == Verdict.APPROVED
    )


def stored_score(placement: Placement) -> float | None:
    """Return the recorded risk score; None if there is none between 0 and 1."""
    score = placement.current.members.get("risk_score")
    return (
        score
        if isinstance(score, int | float) and not isinstance(score, bool) and 0 <= score <= 1
        else None
    )


def _band(live: Score | None, stored: float | None, thresholds: Mapping[Band, float]) -> str | None:
    if live is not None:
        return live.band.value
    return None if stored is None else band_of(stored, thresholds).value


def lsp_range(start: int | None, end: int | None) -> Members | None:
    """Return whole lines as an LSP range, which ends at the start of the next line."""
    if start is None or end is None:
        return None
    return {"start": {"line": start - 1, "character": 0}, "end": {"line": end, "character": 0}}


def describe_location(placement: Placement, *, origin: str = "another file") -> str:
    """Return where an annotation is, and how sure that is.

    Args:
        placement: The annotation.
        origin: The file that it is recorded for, if that is another one, as text that may be shown.
    """
    located = placement.located
    recorded = placement.lineage.recorded_lines
    before = "other lines" if recorded is None else describe_lines(*recorded)
    if placement.shown.is_placeholder:
        times = 1 + len(placement.shown.duplicates)
        return f"somewhere in this file: {times} records name no real line"
    if placement.lineage.action == Action.DELETE:
        return f"removed {before} of an earlier version"
    if placement.moved_from is not None:
        before = origin if recorded is None else f"{before} of {origin}"
    state = _describe_state(placement, before)
    sentence = f"{'may be here: ' if placement.is_guess else ''}{state}"
    return f"{sentence}, but other places may fit as well" if located.ambiguous else sentence


def describe_lines(first: int, last: int) -> str:
    """Return lines as text: `line 4` or `lines 4-7`."""
    return f"line {first}" if first == last else f"lines {first}-{last}"


def _describe_state(placement: Placement, before: str) -> str:
    """Return the state as text; `before` names the recorded lines."""
    why = why_unverified(placement)
    is_function = placement.current.type == RecordType.FUNCTION
    if why is not None:
        since = in_git_since(placement)
        reason = why if since is None else f"{why}, {since}"
        return reason if is_function else f"not verified: {reason}"
    located = placement.located
    match located.state:
        case State.EXACT:
            return "unchanged since" if placement.moved_from is None else f"moved from {before}"
        case State.MOVED:
            return f"moved from {before}"
        case State.EDITED:
            total = placement.lineage.line_count
            if total is None:
                return "edited since"
            if located.intact is None:
                return f"edited since (was {before})"
            return f"edited since: {located.intact} of {total} lines unchanged"
        case _ if placement.replaced_by is not None:
            name = placement.replaced_by[:8]  # any text, in a log of another tool
            later = name if name.isascii() and name.isalnum() else "a later edit"
            return f"replaced by {later}, which wrote the whole file (was {before})"
        case _:  # lost; unverified has returned above
            is_line = placement.current.type == RecordType.LINE
            return f"could not be found (was {before})" if is_line else "could not be found"


def describe_edit(placement: Placement) -> str:
    """Return the action and the name of the function, if it has one."""
    action = placement.lineage.action or placement.current.text("action") or "edit"
    name = placement.current.text("function_name")
    return f"{action} {name}" if name else action


def model_name(facts: Members) -> str:
    """Return the name of the model, else of the tool, which is untrusted text."""
    return author_name(*(text(mapping(facts, name), "name") for name in ("model", "tool")))


def main_reasons(facts: Members, *, with_review: bool = True) -> list[str]:
    """Return why the risk is what it is: the reasons that add most to the score, as text.

    Args:
        facts: The placement as JSON; its reasons may be untrusted text.
        with_review: Whether the missing review counts; False where it is shown anyway.
    """
    factors = facts.get("factors")
    weighed: list[tuple[float, str]] = []
    for factor in factors if isinstance(factors, list) else ():
        if isinstance(factor, dict):
            if not with_review and factor.get("signal") == Signal.HUMAN_REVIEW_PRESENT:
                continue
            value, weight = factor.get("value"), factor.get("weight")
            reason = text(factor, "reason") or (text(factor, "signal") or "").replace("_", " ")
            if isinstance(value, int | float) and isinstance(weight, int | float) and reason:
                with suppress(OverflowError):  # an integer that no float can be multiplied by
                    weighed.append((value * weight, reason.partition(", where ")[0]))
    weighed.sort(key=lambda weighed_reason: -weighed_reason[0])
    return [reason for added, reason in weighed[:_MOST_REASONS] if added > 0]


def review_label(facts: Members) -> str | None:
    """Return the review in one to three words of our own; None without a review."""
    review = facts["review"]
    if not isinstance(review, dict):
        return None
    if review.get("stale"):
        return "review stale"
    verdict = str(review.get("verdict") or "reviewed")
    return f"{verdict} by AI" if review.get("kind") == ReviewerKind.AI else verdict


def describe_review(facts: Members) -> str:
    """Return the review as text, with untrusted parts."""
    review = facts["review"]
    if not isinstance(review, dict):
        return "not reviewed"
    verdict = str(review.get("verdict") or "reviewed")
    by = f" by {review['by']}" if review.get("by") else ""
    kind = " (AI)" if review.get("kind") == "ai" else ""
    objection = f", {review['objection']}" if review.get("objection") else ""
    stale = ", but the lines have changed since" if review.get("stale") else ""
    return f"{verdict}{by}{kind}{objection}{stale}"
