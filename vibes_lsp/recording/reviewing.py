"""A person's verdict on annotations (R6): a session for the person, and an edge from each annotation to it."""

from __future__ import annotations

from typing import Final

from vibes_lsp import __version__
from vibes_lsp.history.git import user_name
from vibes_lsp.index.places import Places
from vibes_lsp.model.members import Members
from vibes_lsp.model.vocabulary import NO_MODEL, EdgeType, NodeType, ReviewerKind, Verdict
from vibes_lsp.recording.arguments import Model, Tool, WrongArgument
from vibes_lsp.recording.entries import Entries
from vibes_lsp.recording.results import Reviewed
from vibes_lsp.recording.reviewed import Chooser, Reviewing
from vibes_lsp.recording.sessions import Start, add_end, add_start
from vibes_lsp.recording.situation import Draft, Node, Situation, present
from vibes_lsp.store.initialise import REVIEWER_TOOL

HUMAN: Final = "human"
"""The `agent_type` of a person's session (R6)."""


def review(situation: Situation, reviewing: Reviewing) -> tuple[Draft, Reviewed]:
    """Return a review; the reviewer's session begins and ends with it.

    Raises:
        UnknownId: No annotation has one of the ids.
        WrongArgument: Nothing is there to be reviewed, or an argument is not what it may be.
        UnreadableFile: The file cannot be read.
    """
    if reviewing.verdict not in set(Verdict):
        raise WrongArgument("verdict", f"is one of {', '.join(Verdict)}, not {reviewing.verdict!r}")
    reviewer = reviewing.reviewer or user_name(situation.project)
    if reviewer is None:
        raise WrongArgument("reviewer", "is required: git knows no user.name here")
    with Places(situation.trail) as places:  # as the reviewer saw them: with all that git's history knows
        chosen, left_out = Chooser(situation, reviewing, places).choose()
    entries = Entries(situation)
    environment = entries.environment(Tool(REVIEWER_TOOL, __version__), Model(NO_MODEL, NO_MODEL))
    session = situation.new_id()
    draft = Draft(situation.timestamp, session)
    add_start(draft, situation, session, environment, Start(agent_name=reviewer, agent_type=HUMAN))
    note = entries.clean_or_none(reviewing.note)
    for identifier, digest in chosen.items():
        metadata: Members = {
            "verdict": str(reviewing.verdict),
            "reviewer": reviewer,
            "kind": ReviewerKind.HUMAN.value,
            "text": digest,
            "note": note,
        }
        draft.edge(EdgeType.REVIEWED_BY, Node(identifier, NodeType.ANNOTATION), Node(session, NodeType.SESSION), present(metadata))
    add_end(draft, session, situation.timestamp)
    return draft, Reviewed(tuple(chosen), tuple(draft.edges), left_out)
