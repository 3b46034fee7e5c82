"""Immutable values that answers are made from: a trail at one generation, and a document in it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Final

from vibes_lsp.anchors.text import Text
from vibes_lsp.exchange.brought_lines import BroughtLines
from vibes_lsp.exchange.note_overlay import LineNote
from vibes_lsp.git.agent_trailers import AgentTrailer
from vibes_lsp.git.commit_resolution import ResolvedCommit
from vibes_lsp.git.objects import Commit
from vibes_lsp.knowledge.ai_lines import AiLines, count_ai_lines
from vibes_lsp.lsp.protocol.open_documents import Document
from vibes_lsp.model.paths import normal_path
from vibes_lsp.placing.live_risk import Scorer
from vibes_lsp.placing.placements import Placement
from vibes_lsp.placing.project_owners import KnownFile, place_file
from vibes_lsp.reports.placements import PlacementReport, is_settled
from vibes_lsp.risk.policy import Policy
from vibes_lsp.store.config import LoadedConfig
from vibes_lsp.trail.pending_completions import PendingCompletions
from vibes_lsp.trail.trail import Trail


@dataclass(frozen=True, slots=True)
class LookedUpFile:
    """The result of one lookup about one file.

    Attributes:
        known: Whose its lines are.
        resolved_commits: The commits of its annotations, by first record id.
        notes: What git-ai's notes say about it; None if nothing.
        trailers: The agents in the trailers of the commits of its lines; None if none.
        subjects: The subjects of the commits of its annotations.
        commits: The commits of lines that no record names; None if not asked.
    """

    known: KnownFile = field(default_factory=KnownFile)
    resolved_commits: Mapping[str, ResolvedCommit] = field(default_factory=dict)
    notes: BroughtLines[LineNote] | None = None
    trailers: BroughtLines[AgentTrailer] | None = None
    subjects: Mapping[str, str] = field(default_factory=dict)
    commits: BroughtLines[Commit] | None = None


_NOT_LOOKED_UP: Final = LookedUpFile()


@dataclass(frozen=True, slots=True)
class HistorySnapshot:
    """What git says of a project.

    Attributes:
        is_done: False before the first lookup.
        has_git: Whether the project is in a git repository.
        files: What is known of each open document, by path.
        new_names: The names that renamed files have now, by the recorded ones.
        nearest: The nearest ancestor of HEAD among each set of commits that was asked about (R7).
        commits: The commits of all annotations, by the id of their first record. Answers about
            files that are not open read them each time.
    """

    is_done: bool = False
    has_git: bool = False
    files: Mapping[str, LookedUpFile] = field(default_factory=dict)
    new_names: Mapping[str, str] = field(default_factory=dict)
    nearest: Mapping[tuple[str, ...], str | None] = field(default_factory=dict)
    commits: Mapping[str, ResolvedCommit] = field(default_factory=dict, compare=False)


@dataclass(frozen=True, slots=True)
class TrailSnapshot:
    """What answers about a trail depend on, at one generation.

    Records are read from `trail` and `pending` when they are needed: both only change in
    `Project.refresh`, which increments the generation.

    Attributes:
        trail: The log and the manifest.
        pending: Inline completions that are not in the log yet.
        config: The policy of the project.
        generation: Incremented by every change of the trail, the policy or the git history.
        previews_risk: Whether live scores are shown where the project has not enabled them (R27).
        history: What git says.
        renamed: New paths by old ones, of files that the client renamed.
        is_indexing: Whether the log is being indexed; `trail` is empty until that is done.
    """

    trail: Trail
    pending: PendingCompletions
    config: LoadedConfig
    generation: int = 0
    previews_risk: bool = False
    history: HistorySnapshot = field(default_factory=HistorySnapshot)
    renamed: Mapping[str, str] = field(default_factory=dict)
    is_indexing: bool = False

    @property
    def policy(self) -> Policy:
        """The policy that scores are computed and shown by (R27)."""
        return self.config.policy.preview if self.previews_risk else self.config.policy

    def later(self, **changes: Any) -> TrailSnapshot:
        """Return the snapshot of the next generation, with some attributes changed."""
        return replace(self, generation=self.generation + 1, **changes)

    def with_renamed(self, old: str, new: str) -> TrailSnapshot:
        """Return the next generation, in which a file or folder has another path."""
        paths = {path: path for path in map(normal_path, self.trail.annotated_paths())} | dict(
            self.renamed
        )
        moved = {
            recorded: new + path.removeprefix(old)
            for recorded, path in paths.items()
            if path == old or path.startswith(f"{old}/")
        }
        renamed = {
            recorded: path
            for recorded, path in (dict(self.renamed) | moved).items()
            if path != recorded
        }
        return self.later(renamed=renamed)

    @property
    def new_names(self) -> Mapping[str, str]:
        """The names that renamed files have now, by the recorded ones, as far as known."""
        return {**self.history.new_names, **self.renamed}

    def names_of(self, path: str) -> tuple[str, ...]:
        """Return the name of a file and those that it had before, as far as they are known."""
        former = (old for old, new in self.new_names.items() if new == path)
        return tuple(dict.fromkeys((path, *former)))

    def looked_up(self, path: str) -> LookedUpFile:
        """Return what git says about an open file; nothing before its first lookup."""
        return self.history.files.get(path, _NOT_LOOKED_UP)

    def place(self, path: str, text: Text, known: KnownFile) -> list[Placement]:
        """Return where the annotations of a file are in a text; see `placing.project_owners`."""
        names, pending = self.names_of(path), self.pending.lineages_in(path)
        return place_file(self.trail, names, text, known, pending=pending)


@dataclass(frozen=True, slots=True)
class DocumentSnapshot:
    """One version of a document with its placements.

    Attributes:
        trail: The trail that owns the file.
        path: Relative to the project.
        uri: The URI.
        version: The client's version; None for a file that is not open.
        text: The text.
        placements: Where its annotations are in the text.
        report: The placements as JSON, with scores and reviews.
        is_provisional: Whether git history has still to be looked up for this text.
    """

    trail: TrailSnapshot
    path: str
    uri: str
    version: int | None
    text: Text
    placements: tuple[Placement, ...]
    report: PlacementReport
    is_provisional: bool

    def ai_lines(self, first: int, last: int) -> AiLines:
        """Count the lines that an AI wrote, from `first` to `last`, 1-based and inclusive."""

        def is_reviewed(placement: Placement) -> bool:
            return is_settled(self.report.placement(placement)["review"])

        return count_ai_lines(self.placements, first, last, is_reviewed)

    @property
    def _looked_up(self) -> LookedUpFile:
        return _NOT_LOOKED_UP if self.version is None else self.trail.looked_up(self.path)

    def subject(self, commit: str) -> str | None:
        """Return the subject of the commit of an annotation, if it was looked up."""
        return self._looked_up.subjects.get(commit)

    def note_at(self, line: int) -> LineNote | None:
        """Return what git-ai's notes say about a line, 1-based; None where they say nothing."""
        notes = self._looked_up.notes
        return None if notes is None else notes.at(self.text, line)

    def trailer_at(self, line: int) -> AgentTrailer | None:
        """Return the trailer of a line's commit that names an agent; the line is 1-based."""
        trailers = self._looked_up.trailers
        return None if trailers is None else trailers.at(self.text, line)

    def commit_at(self, line: int) -> Commit | None:
        """Return the commit of a line that no record names, if git was asked; 1-based."""
        commits = self._looked_up.commits
        return None if commits is None else commits.at(self.text, line)

    def placements_at(self, line: int) -> list[Placement]:
        """Return the placements whose range includes a line, 1-based."""
        return [placement for placement in self.placements if placement.located.touches(line, line)]

    def owners_at(self, line: int) -> list[Placement]:
        """Return the placements that a line, 1-based, belongs to; else all whose range has it."""
        placements = self.placements_at(line)
        return [placement for placement in placements if owns_line(placement, line)] or placements

    def placement_with(self, identifier: object) -> Placement | None:
        """Return the placement of an annotation, by the id of one of its records."""
        matches = (
            placement for placement in self.placements if identifier in placement.lineage.ids
        )
        return next(matches, None)


def owns_line(placement: Placement, line: int) -> bool:
    """Whether a line, 1-based, belongs to a placement."""
    return any(start <= line <= end for start, end in placement.owned_ranges)


def snapshot_of_document(
    trail: TrailSnapshot,
    path: str,
    document: Document,
    placements: tuple[Placement, ...],
    *,
    is_provisional: bool,
) -> DocumentSnapshot:
    """Return the snapshot of an open document."""
    history = trail.history.files.get(path)
    commits = trail.history.commits if history is None else history.resolved_commits
    uri, version, text = document.uri, document.version, document.text
    report = _report(trail, text, commits)
    return DocumentSnapshot(trail, path, uri, version, text, placements, report, is_provisional)


def snapshot_of_file(
    trail: TrailSnapshot, path: str, uri: str, text: Text, *, is_provisional: bool
) -> DocumentSnapshot:
    """Return the snapshot of a file that is not open."""
    placements = tuple(trail.place(path, text, KnownFile()))
    report = _report(trail, text, trail.history.commits)
    return DocumentSnapshot(trail, path, uri, None, text, placements, report, is_provisional)


def _report(
    trail: TrailSnapshot, text: Text, resolved_commits: Mapping[str, ResolvedCommit]
) -> PlacementReport:
    scorer = Scorer(trail.trail, trail.policy)
    return PlacementReport(trail.trail, text, scorer=scorer, resolved_commits=resolved_commits)
