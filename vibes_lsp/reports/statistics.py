"""Numbers of the audit trail: what `vibes stats` prints."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable
from dataclasses import dataclass

from vibes_lsp.anchors.location import State
from vibes_lsp.git.project_files import count_foreign
from vibes_lsp.model.members import Members
from vibes_lsp.model.tracking import Tracking
from vibes_lsp.model.vocabulary import Action, RecordType
from vibes_lsp.placing.placements import Placement
from vibes_lsp.placing.project_locator import ProjectLocator
from vibes_lsp.reports.authors import Author, Authors
from vibes_lsp.reports.found_annotations import MAY_HAVE_MOVED
from vibes_lsp.trail.current_annotations import CurrentAnnotations, EditCount
from vibes_lsp.trail.records import LoggedSession
from vibes_lsp.trail.rows import LogLineKind
from vibes_lsp.trail.trail import Trail


@dataclass(frozen=True, slots=True)
class ModelShare:
    """The share of one tool and model in the current annotations.

    Attributes:
        author: Tool and model.
        annotations: Number of its current annotations, without reviews.
        files: Number of files with these.
        share: Share of all current annotations, 0 to 1.
    """

    author: Author
    annotations: int
    files: int
    share: float

    def as_json(self) -> Members:
        """Return the share under the names of environment entries."""
        return {
            "tool_name": self.author.tool,
            "tool_version": self.author.tool_version,
            "model_name": self.author.model,
            "model_version": self.author.model_version,
            "annotations": self.annotations,
            "files": self.files,
            "share": round(self.share, 4),
        }


class CurrentEdits:
    """Counts of all lineages, without decoding most of them.

    Args:
        trail: A refreshed trail.

    Attributes:
        lineages: Number of lineages.
        current: Number of those that are not superseded.
        files: Files of these, as recorded.
        actions: These by action.
        levels: These by assurance level.
    """

    def __init__(self, trail: Trail) -> None:
        self.files: set[str] = set()
        self.actions: Counter[str] = Counter()
        self.levels: Counter[str] = Counter()
        self._authors = Authors(trail)
        self._shares: Counter[str] = Counter()
        self._files_of: dict[str, set[str]] = defaultdict(set)
        annotations = CurrentAnnotations(trail.log, trail.nearest_commit)
        for edit in annotations.edits():
            self._add(edit)
        self.lineages = annotations.lineages
        self.current = self.actions.total()

    def _add(self, edit: EditCount) -> None:
        self.files.add(edit.path)
        self.actions[edit.action or "unknown"] += edit.count
        self.levels[edit.level or "unknown"] += edit.count
        if edit.action != Action.REVIEW:
            self._shares[edit.environment] += edit.count
            self._files_of[edit.environment].add(edit.path)

    def model_shares(self) -> list[ModelShare]:
        """Return the shares of all tools and models, largest first, without reviews."""
        shares: Counter[Author] = Counter()
        files: dict[Author, set[str]] = defaultdict(set)
        for environment, count in self._shares.items():
            author = self._authors.of(environment)
            if not author.is_human:
                shares[author] += count
                files[author] |= self._files_of[environment]
        total = shares.total()
        ordered = sorted(
            shares.items(),
            key=lambda share: (-share[1], share[0].model, share[0].tool, share[0].tool_version),
        )
        return [
            ModelShare(author, count, len(files[author]), count / total)
            for author, count in ordered
        ]


@dataclass(frozen=True, slots=True)
class SessionSummary:
    """One session.

    Attributes:
        session: The records of the session.
        author: Tool and model it started with.
        annotations: Number of annotations that name it; a backfilled or remapped record does not
            count again.
    """

    session: LoggedSession
    author: Author
    annotations: int

    @property
    def seconds(self) -> float | None:
        """The duration; None while the session is open or if its times are inconsistent."""
        if self.session.start is None or not self.session.ends:
            return None
        lasted = (self.session.ends[-1].moment - self.session.start.moment).total_seconds()
        return lasted if lasted >= 0 else None

    def as_json(self) -> Members:
        """Return the session under the names of session records."""
        first = self.session.start or (self.session.ends[0] if self.session.ends else None)
        return {
            "session_id": self.session.id,
            "start": self.session.start.text("timestamp") if self.session.start else None,
            "end": self.session.ends[-1].text("timestamp") if self.session.ends else None,
            "open": self.session.is_open,
            "environment_hash": self.session.text("environment_hash"),
            "assurance_level": self.session.text("assurance_level"),
            "description": self.session.text("description"),
            "parent_session_id": self.session.text("parent_session_id"),
            "agent_name": self.session.text("agent_name"),
            "agent_type": self.session.text("agent_type"),
            "tool_name": self.author.tool,
            "model_name": self.author.model,
            "annotations": self.annotations,
            "line": first.log_line if first else None,
        }


def session_summaries(trail: Trail) -> list[SessionSummary]:
    """Return all sessions in the order of the log."""
    authors = Authors(trail)
    counts = CurrentAnnotations(trail.log, trail.nearest_commit).by_session()
    return [
        SessionSummary(session, authors.of(session.text("environment_hash")), counts[session.id])
        for session in trail.log.sessions()
    ]


@dataclass(frozen=True, slots=True)
class Stats:
    """Numbers of an audit trail.

    Attributes:
        records: Records of the log.
        annotations: Lineages; a backfilled or remapped record does not count again.
        current: Lineages that are not superseded.
        files: Files with current annotations.
        foreign: Of these, files that are not in this checkout (R19).
        untracked: Of these, files that the project does not track (R26).
        sessions: Sessions.
        open_sessions: Sessions without an end.
        entries: Context entries of the manifest.
        actions: Current annotations by action.
        levels: Current annotations by assurance level.
        models: Shares of tools and models.
    """

    records: int
    annotations: int
    current: int
    files: int
    foreign: int
    untracked: int
    sessions: int
    open_sessions: int
    entries: int
    actions: dict[str, int]
    levels: dict[str, int]
    models: list[ModelShare]

    def as_json(self) -> Members:
        """Return the numbers in camelCase."""
        return {
            "records": self.records,
            "annotations": self.annotations,
            "current": self.current,
            "files": self.files,
            "foreignFiles": self.foreign,
            "untrackedFiles": self.untracked,
            "sessions": self.sessions,
            "openSessions": self.open_sessions,
            "entries": self.entries,
            "actions": dict(self.actions),
            "assuranceLevels": dict(self.levels),
            "models": [share.as_json() for share in self.models],
        }


def count_trail(trail: Trail, tracking: Tracking) -> Stats:
    """Count what is in a refreshed trail."""
    edits = CurrentEdits(trail)
    sessions = trail.log.sessions()
    return Stats(
        records=trail.count(*set(LogLineKind) - {LogLineKind.BLANK, LogLineKind.BROKEN}),
        annotations=edits.lineages,
        current=edits.current,
        files=len(edits.files),
        foreign=count_foreign(edits.files, trail.directory.project),
        untracked=sum(not tracking.tracks(path) for path in edits.files),
        sessions=len(sessions),
        open_sessions=sum(session.is_open for session in sessions),
        entries=len(trail.manifest),
        actions=dict(edits.actions.most_common()),
        levels=dict(edits.levels.most_common()),
        models=edits.model_shares(),
    )


@dataclass(frozen=True, slots=True)
class Survival:
    """How many recorded lines are still intact.

    Attributes:
        name: The model or file.
        recorded: Recorded lines whose state is known.
        intact: Of these, lines that are verified to be unchanged.
        unknown: Recorded lines whose state cannot be verified.
        lost_functions: Functions that are gone; their number of lines is not recorded.
    """

    name: str
    recorded: int
    intact: int
    unknown: int
    lost_functions: int

    @property
    def share(self) -> float | None:
        """The intact share of `recorded`, 0 to 1; None if that is 0."""
        return self.intact / self.recorded if self.recorded else None

    def as_json(self) -> Members:
        """Return the numbers with the name."""
        share = None if self.share is None else round(self.share, 4)
        return {
            "name": self.name,
            "lines": self.recorded,
            "intactLines": self.intact,
            "unknownLines": self.unknown,
            "lostFunctions": self.lost_functions,
            "share": share,
        }


@dataclass(frozen=True, slots=True)
class SurvivalReport:
    """Survival in total, by model and by file; most lines first."""

    total: Survival
    models: list[Survival]
    files: list[Survival]

    def as_json(self) -> Members:
        """Return all numbers."""
        return {
            "total": self.total.as_json(),
            "models": [survival.as_json() for survival in self.models],
            "files": [survival.as_json() for survival in self.files],
        }


def measure_survival(locator: ProjectLocator) -> SurvivalReport:
    """Measure how many lines of current annotations are intact in the files of this checkout.

    Deletions do not count. What moved to another file counts there, and once.
    """
    authors = Authors(locator.trail)
    everything = _measured(locator)
    moved = {placement.current.id for placement in everything if placement.moved_from is not None}
    models: dict[str, list[Placement]] = defaultdict(list)
    files: dict[str, list[Placement]] = defaultdict(list)
    for placement in everything:
        is_elsewhere = placement.moved_from is None and placement.current.id in moved
        if not (is_elsewhere and placement.located.state == State.LOST):
            author = authors.of(placement.current.text("environment_hash"))
            models[author.label].append(placement)
            files[placement.path].append(placement)
    kept = [placement for placements in files.values() for placement in placements]
    return SurvivalReport(_survival_of("in all", kept), _ordered(models), _ordered(files))


def _measured(locator: ProjectLocator) -> list[Placement]:
    """Return the current code of all files; of files without a record only if some is missing."""
    measured = [
        placement for path in locator.annotated_files() for placement in _code_in(locator, path)
    ]
    if locator.names.has_gone_files or any(
        placement.located.state in MAY_HAVE_MOVED for placement in measured
    ):
        for path in locator.other_files():
            measured += _code_in(locator, path)
    return measured


def _code_in(locator: ProjectLocator, path: str) -> list[Placement]:
    """Return the current lines and functions of a file; none if it cannot be read."""
    _, placements = locator.read_and_locate(path)
    return [
        placement for placement in placements if _is_lines(placement) or _is_function(placement)
    ]


def _ordered(groups: dict[str, list[Placement]]) -> list[Survival]:
    return sorted(
        (_survival_of(name, group) for name, group in groups.items()),
        key=lambda survival: (-survival.recorded, survival.name),
    )


def _is_lines(placement: Placement) -> bool:
    """Return whether a placement is a current range of code, found or not."""
    lineage = placement.lineage
    is_code = not (placement.is_history or lineage.is_review or lineage.action == Action.DELETE)
    return (
        is_code and not placement.shown.is_placeholder and placement.current.type == RecordType.LINE
    )


def _is_function(placement: Placement) -> bool:
    """Return whether a placement is a current function; its recorded length is unknown."""
    is_code = placement.is_claim and placement.lineage.action != Action.DELETE
    return is_code and placement.current.type == RecordType.FUNCTION


def _intact_lines(placement: Placement) -> int | None:
    """Return the number of unchanged lines; None where that cannot be verified."""
    located = placement.located
    if located.state == State.LOST:
        return 0
    return located.intact if located.is_proven else None


def _survival_of(name: str, placements: Iterable[Placement]) -> Survival:
    recorded = intact = unknown = lost = 0
    parts: dict[str, list[Placement]] = defaultdict(list)  # an edit may be in several files
    for placement in placements:
        if _is_function(placement):
            lost += placement.located.state == State.LOST
        elif placement.lineage.action != Action.DELETE:
            parts[placement.current.id].append(placement)
    for edit in parts.values():
        count = edit[0].lineage.line_count
        left = [lines for lines in map(_intact_lines, edit) if lines is not None]
        if count is None:
            continue
        if left:
            recorded, intact = recorded + count, intact + min(sum(left), count)
        else:
            unknown += count
    return Survival(name, recorded, intact, unknown, lost)
