"""Record a verdict on annotations (R6): a session of the reviewer, and an edge per annotation.

The annotations are placed as the reviewer sees them, with all that git's history says.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from vibes_lsp import __version__
from vibes_lsp.anchors.create_anchors import range_hash
from vibes_lsp.errors import UnknownId, UnreadableFile, VibesError
from vibes_lsp.git.process import git_setting
from vibes_lsp.model.members import Members, text
from vibes_lsp.model.paths import normal_path
from vibes_lsp.model.vocabulary import NO_MODEL, Action, EdgeType, NodeType
from vibes_lsp.placing.project_locator import ProjectLocator
from vibes_lsp.recording.arguments import Model, Tool, WrongArgument
from vibes_lsp.recording.context import Draft, Node, RecordingContext, present
from vibes_lsp.recording.entries import Entries
from vibes_lsp.recording.paths import requested_text, required_path
from vibes_lsp.recording.requests import RecordReview, ReviewScope
from vibes_lsp.recording.results import Reviewed
from vibes_lsp.recording.sessions import add_end, add_start
from vibes_lsp.store.initialise import REVIEWER_TOOL
from vibes_lsp.trail.lineage import Lineage
from vibes_lsp.trail.reviews import Review

HUMAN: Final = "human"
"""The `agent_type` of a person's session (R6)."""
_AI: Final = "reviewer"
"""The `agent_type` of an AI's session that starts and ends with the review."""


@dataclass(frozen=True, slots=True)
class _Reviewer:
    """Who reviews: in a session that exists, else as the author of one for this review only."""

    name: str
    session: str | None = None
    author: tuple[Tool, Model] | None = None


class NotAsShown(VibesError):
    """An annotation's lines are not those that the reviewer was shown; nothing was recorded."""

    code = "not-as-shown"


_SHARED_MEMBER: Final = {ReviewScope.PROMPT: "prompt_hash", ReviewScope.SESSION: "session_id"}


def record_review(context: RecordingContext, request: RecordReview) -> tuple[Draft, Reviewed]:
    """Return a review, in a session of its own unless an AI reviews in a session that exists.

    An annotation is not reviewed again when its last review has the same verdict, reviewer, kind
    and note for the same text.

    Raises:
        UnknownId: No annotation or no session has one of the ids.
        WrongArgument: No annotation is there to review, or arguments contradict one another.
        NotAsShown: The reviewer was shown something else.
        UnreadableFile: The file cannot be read.
    """
    reviewer = _reviewer(context, request)
    with ProjectLocator(context.trail) as locator:
        chosen, left_out = _Selection(context, request, locator).select()
    entries = Entries(context)
    shared: Members = present(
        {
            "verdict": str(request.verdict),
            "reviewer": reviewer.name,
            "kind": request.reviewer_kind,
            "note": entries.clean_or_none(request.note),
        }
    )
    metadata = {identifier: shared | place.members for identifier, place in chosen.items()}
    edges = {
        identifier: _same_review(context, identifier, metadata[identifier]) for identifier in chosen
    }
    draft = Draft(context.timestamp, reviewer.session)
    if None in edges.values():
        session = draft.session_id = reviewer.session or context.new_id()
        if reviewer.author is not None:
            environment = entries.environment(*reviewer.author)
            agent = HUMAN if request.reviewer_kind == "human" else _AI
            add_start(
                draft,
                context,
                session,
                environment,
                agent_name=reviewer.name,
                agent_type=agent,
            )
        for identifier in [chosen_id for chosen_id, edge in edges.items() if edge is None]:
            source = Node(identifier, NodeType.ANNOTATION)
            edges[identifier] = draft.edge(
                EdgeType.REVIEWED_BY, source, Node(session, NodeType.SESSION), metadata[identifier]
            )
        if reviewer.author is not None:
            add_end(draft, session, context.timestamp)
    return draft, Reviewed(
        tuple(chosen), tuple(edge for edge in edges.values() if edge is not None), left_out
    )


def git_user(project: Path) -> str:
    """Return git's `user.name` in a project.

    Raises:
        WrongArgument: There is none.
    """
    name = git_setting(project, "user.name")
    if not name:
        raise WrongArgument("reviewer", "is required: git knows no user.name here")
    return name


def _same_review(context: RecordingContext, identifier: str, metadata: Members) -> str | None:
    """Return the edge of an annotation's last review if it has the same metadata."""
    lineage = context.trail.lineage_of(identifier)
    last = next(reversed(context.trail.reviews_of(lineage)), None) if lineage is not None else None
    return last.edge.record.id if last is not None and _metadata(last) == metadata else None


def _metadata(review: Review) -> Members:
    return {
        name: value
        for name, value in review.edge.metadata.items()
        if name in {"verdict", "reviewer", "kind", "text", "note"}
    }


def _reviewer(context: RecordingContext, request: RecordReview) -> _Reviewer:
    """Return who reviews: a person, by default git's user; an AI by its session or tool and model.

    Raises:
        UnknownId: The session was never started.
        WrongArgument: The arguments describe neither a person nor an AI.
    """
    session, tool, model = request.session_id, request.tool, request.model
    if request.reviewer_kind == "human":
        named = {"session_id": session, "tool": tool, "model": model}
        for member in (name for name, value in named.items() if value is not None):
            raise WrongArgument(
                member,
                "is for an AI that reviews (reviewer_kind ai); a person has a session of their own",
            )
        author = Tool(REVIEWER_TOOL, __version__), Model(NO_MODEL, NO_MODEL)
        return _Reviewer(request.reviewer or git_user(context.project), author=author)
    if session is not None:
        if tool is not None or model is not None:
            raise WrongArgument(
                "tool" if tool is not None else "model",
                "is the session's, and not given with session_id",
            )
        return _in_session(context, session, request.reviewer)
    if tool is None or model is None:
        raise WrongArgument(
            "tool" if tool is None else "model",
            "is required of an AI that reviews, or its session_id",
        )
    if model.name == NO_MODEL:
        raise WrongArgument("model.name", f"must not be {NO_MODEL!r}, which stands for a person")
    return _Reviewer(request.reviewer or model.name, author=(tool, model))


def _in_session(context: RecordingContext, identifier: str, name: str | None) -> _Reviewer:
    session = context.session(identifier)
    environment = context.entry_of(context.environment_of(session)) or {}
    model = text(environment, "model_name")
    if session.text("agent_type") == HUMAN or model == NO_MODEL:
        raise WrongArgument("session_id", f"{identifier!r} is a person's session")
    return _Reviewer(name or session.text("agent_name") or model or "unknown", identifier)


@dataclass(frozen=True, slots=True)
class _PlacedLines:
    """The lines of an annotation, 1-based and inclusive, with their digest.

    `is_reviewable` is False for what only an id selects: what `Placement.is_claim` excludes, and
    what is only probably here. If `is_hidden`, the digest is not recorded.
    """

    ids: frozenset[str]
    start: int
    end: int
    digest: str
    is_reviewable: bool
    is_hidden: bool

    @property
    def members(self) -> Members:
        """What the edge of a review has of the lines (R6)."""
        return {} if self.is_hidden else {"text": self.digest}


@dataclass(frozen=True, slots=True)
class _Selection:
    """Selects the annotations of one review."""

    context: RecordingContext
    request: RecordReview
    locator: ProjectLocator
    _placed_by_path: dict[str, dict[str, _PlacedLines]] = field(default_factory=dict)

    def select(self) -> tuple[dict[str, _PlacedLines], tuple[str, ...]]:
        """Return the lines of the selected annotations, and the ids that were not found.

        Raises:
            UnknownId: No annotation has one of the ids.
            WrongArgument: No annotation is there to review.
            NotAsShown: The reviewer was shown something else.
            UnreadableFile: The file cannot be read.
        """
        chosen, left_out = self._in_scope()
        for identifier, shown in self.request.shown.items():
            current = self._lineage(identifier).current.id
            lines = [place for place in chosen.values() if current in place.ids]
            if any(place.digest != shown.text for place in lines):
                raise NotAsShown(
                    f"{shown.file_path}: the lines of {identifier[:8]} have changed "
                    "since they were shown",
                    hint="look again",
                )
        return chosen, left_out

    def _in_scope(self) -> tuple[dict[str, _PlacedLines], tuple[str, ...]]:
        if self.request.scope == ReviewScope.FILE:
            path = required_path(self.context.project, self.request.path or "")
            reviewable = {
                identifier: place
                for identifier, place in self._place(path).items()
                if place.is_reviewable
            }
            if not reviewable:
                raise WrongArgument("file", f"no annotation is placed in {path}")
            return reviewable, ()
        chosen = self._named()
        if self.request.scope == ReviewScope.ANNOTATION:
            return chosen, ()
        shared = self._sharing(chosen, _SHARED_MEMBER[self.request.scope])
        for path in dict.fromkeys(shared.values()):
            chosen.update(self._readable(path, shared))
        known = {identifier for place in chosen.values() for identifier in place.ids}
        return chosen, tuple(identifier for identifier in shared if identifier not in known)

    def _named(self) -> dict[str, _PlacedLines]:
        """Return the annotations with the given ids, or on the given lines."""
        if self.request.annotation_ids:
            return dict(
                placed
                for identifier in self.request.annotation_ids
                for placed in self._by_id(identifier)
            )
        if self.request.path is None or self.request.lines is None:
            raise WrongArgument("annotation_ids", "are required, or a file and lines")
        path = required_path(self.context.project, self.request.path)
        first, last = self.request.lines
        touched = {
            identifier: place
            for identifier, place in self._place(path).items()
            if place.is_reviewable and place.start <= last and first <= place.end
        }
        if not touched:
            lines = f"line {first}" if first == last else f"lines {first} to {last}"
            raise WrongArgument("range", f"no annotation is on {lines} of {path}")
        return touched

    def _by_id(self, identifier: str) -> Iterator[tuple[str, _PlacedLines]]:
        """Yield an annotation, or the hunks of an edit (R32), where they are found."""
        lineages = self.context.trail.lineages_of_edit(identifier) or [self._lineage(identifier)]
        recorded = normal_path(lineages[0].current.text("file_path") or "")
        shown = self.request.shown.get(identifier)
        named = [recorded] if shown is None else [shown.file_path, recorded]
        paths = [*self._own_path, *(required_path(self.context.project, path) for path in named)]
        is_found = False
        for lineage in lineages:
            for path in dict.fromkeys(paths):
                placed = self._place(path).items()
                match = next(
                    (entry for entry in placed if lineage.current.id in entry[1].ids), None
                )
                if match is not None:
                    is_found = True
                    yield match
                    break
        if not is_found:
            raise WrongArgument(
                "annotation_ids", f"the lines of {identifier} are not found in {recorded}"
            )

    def _lineage(self, identifier: str) -> Lineage:
        lineage = self.context.trail.lineage_of(identifier)
        if lineage is None:
            raise UnknownId(
                f"annotation_ids: no annotation has the id {identifier}", hint="give whole ids"
            )
        return lineage

    @property
    def _own_path(self) -> Sequence[str]:
        """The request's file, if any: an annotation may have moved to it from another."""
        return (
            ()
            if self.request.path is None
            else (required_path(self.context.project, self.request.path),)
        )

    def _sharing(self, chosen: Iterable[str], member: str) -> dict[str, str]:
        """Return the current annotations with the same value of a member, with their files.

        Raises:
            WrongArgument: The selected annotations have no such member.
        """
        trail = self.context.trail
        lineages = [
            lineage
            for identifier in chosen
            if (lineage := trail.lineage_of(identifier)) is not None
        ]
        values = {
            value for lineage in lineages if (value := lineage.current.text(member)) is not None
        }
        if not values:
            raise WrongArgument("scope", f"cannot be used: the annotation has no {member}")
        return {
            lineage.current.id: normal_path(lineage.current.text("file_path") or "")
            for lineage in trail.lineages()
            if _may_be_shared(lineage) and lineage.current.text(member) in values
        }

    def _readable(self, path: str, wanted: Collection[str]) -> dict[str, _PlacedLines]:
        """Return the wanted annotations of a file; none where it cannot be read (R19)."""
        try:
            placed = self._place(required_path(self.context.project, path))
        except (WrongArgument, UnreadableFile):
            return {}
        return {
            identifier: place
            for identifier, place in placed.items()
            if place.is_reviewable and not place.ids.isdisjoint(wanted)
        }

    def _place(self, path: str) -> dict[str, _PlacedLines]:
        """Return the annotations that are placed in a file."""
        if path not in self._placed_by_path:
            requested = (
                self.request.text if path in self._own_path or self.request.path is None else None
            )
            text = requested_text(self.context.project, path, requested)
            is_hidden = self.context.hides(path, text)
            placed: dict[str, _PlacedLines] = {}
            for placement in self.locator.locate(path, text):
                start, end = placement.located.start, placement.located.end
                if not placement.is_history and start is not None and end is not None:
                    is_reviewable = placement.is_claim and not placement.is_guess
                    digest = range_hash(text.lines[start - 1 : end])
                    ids = frozenset(placement.lineage.ids)
                    placed[placement.current.id] = _PlacedLines(
                        ids, start, end, digest, is_reviewable, is_hidden
                    )
            self._placed_by_path[path] = placed
        return self._placed_by_path[path]


def _may_be_shared(lineage: Lineage) -> bool:
    """Return whether a scope covers an annotation: not one whose lines were removed."""
    return not (lineage.superseded_by or lineage.is_review or lineage.action == Action.DELETE)
