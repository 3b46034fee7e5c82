"""Which annotations a review is about, and what stands on their lines: as the reviewer saw them, with all that git's history knows (R6)."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import ClassVar, Final

from pydantic import ConfigDict

from vibes_lsp.anchors.create_anchors import range_hash
from vibes_lsp.anchors.text import Text
from vibes_lsp.errors import UnknownId, UnreadableFile, VibesError
from vibes_lsp.index.lineage import Lineage
from vibes_lsp.index.project_locator import ProjectLocator
from vibes_lsp.model.paths import normal_path
from vibes_lsp.model.vocabulary import Action, ReviewerKind
from vibes_lsp.recording.arguments import FORM, Model, Tool, WrongArgument
from vibes_lsp.recording.context import RecordingContext
from vibes_lsp.recording.paths import required_path, source_text


class ReviewScope(StrEnum):
    """How far a review reaches: the annotations that are named, all of the file, all with the same prompt, all of the same session."""

    ANNOTATION = "annotation"
    FILE = "file"
    PROMPT = "prompt"
    SESSION = "session"


_SHARED: Final = {ReviewScope.PROMPT: "prompt_hash", ReviewScope.SESSION: "session_id"}


class NotAsShown(VibesError):
    """The lines of an annotation are not those that the reviewer was shown; nothing was recorded."""

    code = "not-as-shown"


@dataclass(frozen=True, slots=True)
class Shown:
    """What a reviewer was shown of an annotation.

    Attributes:
        file_path: The file that it is in, relative to the project.
        text: The anchor hash of its lines (R14).
    """

    __pydantic_config__: ClassVar[ConfigDict] = FORM
    file_path: str
    text: str


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
        scope: How far it reaches from there; for all of a file neither lines nor annotations need be given.
        kind: Whether a person reviews, or an AI.
        session_id: The session of an AI that reviews.
        tool: The tool of an AI that reviews without a session.
        model: Its model, given together with the tool.
        shown: What the reviewer was shown, by annotation: where that is no longer so, nothing is recorded.
    """

    verdict: str
    path: str | None = None
    lines: tuple[int, int] | None = None
    annotation_ids: Sequence[str] = ()
    note: str | None = None
    reviewer: str | None = None
    text: str | None = None
    scope: ReviewScope = ReviewScope.ANNOTATION
    kind: ReviewerKind = ReviewerKind.HUMAN
    session_id: str | None = None
    tool: Tool | None = None
    model: Model | None = None
    shown: Mapping[str, Shown] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class _Place:
    """The lines of an annotation, 1-based and inclusive, and the digest of what stands there.

    `is_judged` is False for what only its id reaches: what is no item (`Placement.is_claim`), and what only may be here.
    """

    start: int
    end: int
    digest: str
    is_judged: bool


@dataclass(frozen=True, slots=True)
class Chooser:
    """Finds the annotations of one review."""

    situation: RecordingContext
    reviewing: Reviewing
    locator: ProjectLocator
    _looked: dict[str, dict[str, _Place]] = field(default_factory=dict)

    def choose(self) -> tuple[dict[str, str], tuple[str, ...]]:
        """Return the annotations that are meant, each with the digest of its lines, and those of the scope whose lines are not found.

        Raises:
            UnknownId: No annotation has one of the ids.
            WrongArgument: Nothing is there to be reviewed.
            NotAsShown: The reviewer was shown something else.
            UnreadableFile: The file cannot be read.
        """
        chosen, left_out = self._meant()
        for identifier, shown in self.reviewing.shown.items():
            current = self._lineage(identifier).current.id
            if chosen.get(current, shown.text) != shown.text:
                raise NotAsShown(
                    f"{shown.file_path}: the lines of {identifier[:8]} have changed since they were shown",
                    hint="look again",
                )
        return chosen, left_out

    def _meant(self) -> tuple[dict[str, str], tuple[str, ...]]:
        if self.reviewing.scope == ReviewScope.FILE:
            path = required_path(self.situation.project, self.reviewing.path or "")
            found = {
                identifier: place.digest
                for identifier, place in self._placed(path).items()
                if place.is_judged
            }
            if not found:
                raise WrongArgument("file", f"no annotation is placed in {path}")
            return found, ()
        chosen = self._named()
        if self.reviewing.scope == ReviewScope.ANNOTATION:
            return chosen, ()
        meant = self._sharing(chosen, _SHARED[self.reviewing.scope])
        for path in dict.fromkeys(meant.values()):
            chosen.update(self._readable(path, meant))
        return chosen, tuple(identifier for identifier in meant if identifier not in chosen)

    def _named(self) -> dict[str, str]:
        """Return the annotations that are named by their ids or by lines."""
        if self.reviewing.annotation_ids:
            return dict(map(self._by_id, self.reviewing.annotation_ids))
        if self.reviewing.path is None or self.reviewing.lines is None:
            raise WrongArgument("annotation_ids", "are required, or a file and lines")
        path = required_path(self.situation.project, self.reviewing.path)
        first, last = self.reviewing.lines
        touched = {
            identifier: place.digest
            for identifier, place in self._placed(path).items()
            if place.is_judged and place.start <= last and first <= place.end
        }
        if not touched:
            raise WrongArgument("range", f"no annotation is on lines {first} to {last} of {path}")
        return touched

    def _by_id(self, identifier: str) -> tuple[str, str]:
        lineage = self._lineage(identifier)
        recorded = normal_path(lineage.current.text("file_path") or "")
        shown = self.reviewing.shown.get(identifier)
        looked = [recorded] if shown is None else [shown.file_path, recorded]
        for path in dict.fromkeys(
            [*self._given, *(required_path(self.situation.project, each) for each in looked)]
        ):
            place = self._placed(path).get(lineage.current.id)
            if place is not None:
                return lineage.current.id, place.digest
        raise WrongArgument(
            "annotation_ids", f"the lines of {identifier} are not found in {recorded}"
        )

    def _lineage(self, identifier: str) -> Lineage:
        lineage = self.situation.trail.lineage_of(identifier)
        if lineage is None:
            raise UnknownId(
                f"annotation_ids: no annotation has the id {identifier}", hint="give whole ids"
            )
        return lineage

    @property
    def _given(self) -> Sequence[str]:
        """The file that is named, if one is: an annotation may have come to it from another."""
        return (
            ()
            if self.reviewing.path is None
            else (required_path(self.situation.project, self.reviewing.path),)
        )

    def _sharing(self, chosen: Iterable[str], member: str) -> dict[str, str]:
        """Return the current annotations that have a member in common with some, with their files.

        Raises:
            WrongArgument: Those have no such member.
        """
        trail = self.situation.trail
        lineages = [
            lineage
            for identifier in chosen
            if (lineage := trail.lineage_of(identifier)) is not None
        ]
        values = {
            value for lineage in lineages if (value := lineage.current.text(member)) is not None
        }
        if not values:
            raise WrongArgument("scope", f"means nothing: the annotation has no {member}")
        return {
            lineage.current.id: normal_path(lineage.current.text("file_path") or "")
            for lineage in trail.lineages()
            if _may_be_shared(lineage) and lineage.current.text(member) in values
        }

    def _readable(self, path: str, wanted: Collection[str]) -> dict[str, str]:
        """Return the annotations of a file among some; none where it cannot be read, or is not in this checkout (R19)."""
        try:
            placed = self._placed(required_path(self.situation.project, path))
        except (WrongArgument, UnreadableFile):
            return {}
        return {
            identifier: place.digest
            for identifier, place in placed.items()
            if place.is_judged and identifier in wanted
        }

    def _placed(self, path: str) -> dict[str, _Place]:
        """Return the annotations that are somewhere in a file."""
        if path not in self._looked:
            given = (
                self.reviewing.text if path in self._given or self.reviewing.path is None else None
            )
            text = Text(given) if given is not None else source_text(self.situation.project, path)
            found: dict[str, _Place] = {}
            for placement in self.locator.locate(path, text):
                start, end = placement.located.start, placement.located.end
                if not placement.is_history and start is not None and end is not None:
                    is_judged = placement.is_claim and not placement.is_guess
                    digest = range_hash(text.lines[start - 1 : end])
                    found[placement.current.id] = _Place(start, end, digest, is_judged)
            self._looked[path] = found
        return self._looked[path]


def _may_be_shared(lineage: Lineage) -> bool:
    """Whether a scope reaches an annotation: of what is removed no lines are there to be looked at."""
    return not (lineage.superseded_by or lineage.is_review or lineage.action == Action.DELETE)
