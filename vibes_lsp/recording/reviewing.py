"""A person's verdict on annotations (R6): a session for the person, and an edge from each annotation to it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from vibes_lsp import __version__
from vibes_lsp.anchors.making import range_hash
from vibes_lsp.anchors.text import Text
from vibes_lsp.errors import HistoryUnavailable, UnknownId
from vibes_lsp.history.git import run_git
from vibes_lsp.index.placements import Placement, place
from vibes_lsp.model.members import Members
from vibes_lsp.model.paths import normal_path
from vibes_lsp.model.vocabulary import NO_MODEL, EdgeType, NodeType, ReviewerKind, Verdict
from vibes_lsp.recording.arguments import Model, Tool, WrongArgument
from vibes_lsp.recording.entries import Entries
from vibes_lsp.recording.paths import required_path
from vibes_lsp.recording.results import Reviewed
from vibes_lsp.recording.sessions import Start, add_end, add_start
from vibes_lsp.recording.situation import Draft, Node, Situation, present
from vibes_lsp.recording.sources import source_text
from vibes_lsp.store.initialise import REVIEWER_TOOL

HUMAN: Final = "human"
"""The `agent_type` of a person's session (R6)."""


@dataclass(frozen=True, slots=True)
class Reviewing:
    """What is reviewed, and what came of it.

    Attributes:
        verdict: The answer.
        path: The file of `lines`, absolute or relative to the project.
        lines: First and last line, 1-based and inclusive: every annotation that they touch is meant, whole.
        annotation_ids: The annotations, instead of lines.
        note: The reviewer's remark.
        reviewer: The reviewer's name; by default git's user.
        text: The file's text, where it is not saved.
    """

    verdict: str
    path: str | None = None
    lines: tuple[int, int] | None = None
    annotation_ids: Sequence[str] = ()
    note: str | None = None
    reviewer: str | None = None
    text: str | None = None


def review(situation: Situation, reviewing: Reviewing) -> tuple[Draft, Reviewed]:
    """Return a review; the reviewer's session begins and ends with it.

    Raises:
        UnknownId: No annotation has one of the ids.
        WrongArgument: Nothing is there to be reviewed, or an argument is not what it may be.
        UnreadableFile: The file cannot be read.
    """
    if reviewing.verdict not in set(Verdict):
        raise WrongArgument("verdict", f"is one of {', '.join(Verdict)}, not {reviewing.verdict!r}")
    reviewer = reviewing.reviewer or _git_user(situation)
    chosen = _chosen(situation, reviewing)
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
    return draft, Reviewed(tuple(chosen), tuple(draft.edges))


def _chosen(situation: Situation, reviewing: Reviewing) -> dict[str, str]:
    """Return the ids of the annotations that are meant, each with the digest of its lines as they are now."""
    if reviewing.annotation_ids:
        return dict(_by_id(situation, reviewing, identifier) for identifier in reviewing.annotation_ids)
    if reviewing.path is None or reviewing.lines is None:
        raise WrongArgument("annotation_ids", "are required, or a file and lines")
    path = required_path(situation.project, reviewing.path)
    text = _text(situation, reviewing, path)
    first, last = reviewing.lines
    touched: dict[str, str] = {}
    for placement in place(situation.trail, path, text):
        start, end = placement.located.start, placement.located.end
        if placement.is_history or start is None or end is None or end < first or last < start:
            continue
        touched[placement.current.id] = range_hash(text.lines[start - 1 : end])
    if not touched:
        raise WrongArgument("range", f"no annotation is on lines {first} to {last} of {path}")
    return touched


def _by_id(situation: Situation, reviewing: Reviewing, identifier: str) -> tuple[str, str]:
    lineage = situation.trail.lineage_of(identifier)
    if lineage is None:
        raise UnknownId(f"annotation_ids: no annotation has the id {identifier}", hint="give whole ids")
    path = normal_path(lineage.current.text("file_path") or "")
    given = None if reviewing.path is None else required_path(situation.project, reviewing.path)
    text = _text(situation, reviewing, path) if given == path else source_text(situation.project, required_path(situation.project, path))
    where = next((each for each in place(situation.trail, path, text) if _is(each, lineage.current.id)), None)
    if where is None or where.located.start is None or where.located.end is None:
        raise WrongArgument("annotation_ids", f"the lines of {identifier} are not found in {path}")
    return lineage.current.id, range_hash(text.lines[where.located.start - 1 : where.located.end])


def _is(placement: Placement, identifier: str) -> bool:
    return placement.current.id == identifier


def _text(situation: Situation, reviewing: Reviewing, path: str) -> Text:
    return Text(reviewing.text) if reviewing.text is not None else source_text(situation.project, path)


def _git_user(situation: Situation) -> str:
    try:
        name = run_git(situation.project, "config", "--get", "user.name").decode("utf-8", "replace").strip()
    except HistoryUnavailable:
        name = ""
    if not name:
        raise WrongArgument("reviewer", "is required: git knows no user.name here")
    return name
