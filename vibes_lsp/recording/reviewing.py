"""A verdict on annotations (R6): a session of the reviewer's, and an edge from each annotation to it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Final

from vibes_lsp import __version__
from vibes_lsp.history.git import user_name
from vibes_lsp.index.project_locator import ProjectLocator
from vibes_lsp.index.reviews import Review
from vibes_lsp.model.members import Members, text
from vibes_lsp.model.vocabulary import NO_MODEL, EdgeType, NodeType, ReviewerKind, Verdict
from vibes_lsp.recording.arguments import Model, Tool, WrongArgument
from vibes_lsp.recording.checking import check_argument
from vibes_lsp.recording.context import Draft, Node, RecordingContext, present
from vibes_lsp.recording.entries import Entries
from vibes_lsp.recording.results import Reviewed
from vibes_lsp.recording.reviewed import Chooser, Reviewing
from vibes_lsp.recording.sessions import Start, add_end, add_start
from vibes_lsp.store.initialise import REVIEWER_TOOL

HUMAN: Final = "human"
"""The `agent_type` of a person's session (R6)."""
_AI: Final = "reviewer"
"""The `agent_type` of an AI's session that begins and ends with a review."""


@dataclass(frozen=True, slots=True)
class _Reviewer:
    """Who reviews: in a session that was started, else as the author of one that begins and ends with the review."""

    name: str
    session: str | None = None
    author: tuple[Tool, Model] | None = None


def review(situation: RecordingContext, reviewing: Reviewing) -> tuple[Draft, Reviewed]:
    """Return a review. A person's session, and an AI's that was not started before, begins and ends with it.

    An annotation whose last review says just that, by the same reviewer of the same text, is not reviewed again.

    Raises:
        UnknownId: No annotation has one of the ids, or no session was started with that of the reviewer.
        WrongArgument: Nothing is there to be reviewed, or an argument is not what it may be.
        NotAsShown: The reviewer was shown something else.
        UnreadableFile: The file cannot be read.
    """
    check_argument("review", reviewing, Reviewing, within=False)
    if reviewing.verdict not in set(Verdict):
        raise WrongArgument("verdict", f"is one of {', '.join(Verdict)}, not {reviewing.verdict!r}")
    reviewer = _reviewer(situation, reviewing)
    with ProjectLocator(
        situation.trail
    ) as locator:  # as the reviewer saw them: with all that git's history knows
        chosen, left_out = Chooser(situation, reviewing, locator).choose()
    entries = Entries(situation)
    given: Members = present(
        {
            "verdict": str(reviewing.verdict),
            "reviewer": reviewer.name,
            "kind": str(reviewing.kind),
            "note": entries.clean_or_none(reviewing.note),
        }
    )
    edges = {
        identifier: _last(situation, identifier, given | {"text": digest})
        for identifier, digest in chosen.items()
    }
    draft = Draft(situation.timestamp, reviewer.session)
    if None in edges.values():
        session = draft.session_id = reviewer.session or situation.new_id()
        if reviewer.author is not None:
            environment = entries.environment(*reviewer.author)
            agent = HUMAN if reviewing.kind == ReviewerKind.HUMAN else _AI
            add_start(
                draft,
                situation,
                session,
                environment,
                Start(agent_name=reviewer.name, agent_type=agent),
            )
        for identifier in [each for each, edge in edges.items() if edge is None]:
            source = Node(identifier, NodeType.ANNOTATION)
            said = given | {"text": chosen[identifier]}
            edges[identifier] = draft.edge(
                EdgeType.REVIEWED_BY, source, Node(session, NodeType.SESSION), said
            )
        if reviewer.author is not None:
            add_end(draft, session, situation.timestamp)
    return draft, Reviewed(
        tuple(chosen), tuple(edge for edge in edges.values() if edge is not None), left_out
    )


def git_user(project: Path) -> str:
    """Return the name that git has for who works on a project.

    Raises:
        WrongArgument: It has none.
    """
    name = user_name(project)
    if name is None:
        raise WrongArgument("reviewer", "is required: git knows no user.name here")
    return name


def _last(situation: RecordingContext, identifier: str, said: Members) -> str | None:
    """Return the edge of an annotation's last review, if that says the very same."""
    lineage = situation.trail.lineage_of(identifier)
    last = (
        next(reversed(situation.trail.reviews_of(lineage)), None) if lineage is not None else None
    )
    return last.edge.record.id if last is not None and _said(last) == said else None


def _said(review: Review) -> Members:
    return {
        name: value
        for name, value in review.edge.metadata.items()
        if name in {"verdict", "reviewer", "kind", "text", "note"}
    }


def _reviewer(situation: RecordingContext, reviewing: Reviewing) -> _Reviewer:
    """Return who reviews: git's user where a person's name is not given; an AI by its session, else by tool and model.

    Raises:
        UnknownId: The session was never started.
        WrongArgument: The reviewer is neither a person nor an AI, or is said to be both.
    """
    session, tool, model = reviewing.session_id, reviewing.tool, reviewing.model
    if reviewing.kind == ReviewerKind.HUMAN:
        named = {"session_id": session, "tool": tool, "model": model}
        for member in (name for name, value in named.items() if value is not None):
            raise WrongArgument(
                member,
                "is for an AI that reviews (reviewer_kind ai); a person has a session of their own",
            )
        author = Tool(REVIEWER_TOOL, __version__), Model(NO_MODEL, NO_MODEL)
        return _Reviewer(reviewing.reviewer or git_user(situation.project), author=author)
    if reviewing.kind != ReviewerKind.AI:
        raise WrongArgument("reviewer_kind", f"is human or ai, not {str(reviewing.kind)!r}")
    if session is not None:
        if tool is not None or model is not None:
            raise WrongArgument(
                "tool" if tool is not None else "model",
                "is the session's, and not given with session_id",
            )
        return _in_session(situation, session, reviewing.reviewer)
    if tool is None or model is None:
        raise WrongArgument(
            "tool" if tool is None else "model",
            "is required of an AI that reviews, or its session_id",
        )
    if model.name == NO_MODEL:
        raise WrongArgument("model.name", f"must not be {NO_MODEL!r}, which stands for a person")
    return _Reviewer(reviewing.reviewer or model.name, author=(tool, model))


def _in_session(situation: RecordingContext, identifier: str, name: str | None) -> _Reviewer:
    session = situation.session(identifier)
    environment = situation.entry_of(situation.environment_of(session)) or {}
    model = text(environment, "model_name")
    if session.text("agent_type") == HUMAN or model == NO_MODEL:
        raise WrongArgument("session_id", f"{identifier!r} is a person's session")
    return _Reviewer(name or session.text("agent_name") or model or "unknown", identifier)
