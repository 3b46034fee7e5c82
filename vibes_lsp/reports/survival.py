"""What is left of what was written (`vibes stats --survival`): recorded lines that still stand as the AI wrote them, by model and file."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass

from vibes_lsp.anchors.located import State
from vibes_lsp.errors import UnreadableFile
from vibes_lsp.index.placements import Placement
from vibes_lsp.index.places import Places
from vibes_lsp.index.ranges import recorded_lines
from vibes_lsp.index.sources import read_source
from vibes_lsp.model.members import Members
from vibes_lsp.model.vocabulary import Action, RecordType
from vibes_lsp.reports.environments import Authors


@dataclass(frozen=True, slots=True)
class Survival:
    """How much of some annotations is left.

    Attributes:
        name: The model or file.
        recorded: Lines that were recorded and can be accounted for.
        intact: Of these, lines that are verified to stand as they were written.
        unknown: Lines that are claimed only: what became of them cannot be proven.
        lost_functions: Functions that are gone; how many lines they had is not recorded.
    """

    name: str
    recorded: int
    intact: int
    unknown: int
    lost_functions: int

    @property
    def share(self) -> float | None:
        """The part that is intact, 0 to 1; None where nothing can be accounted for."""
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
    """What is left in all, by model and by file; most lines first."""

    total: Survival
    models: list[Survival]
    files: list[Survival]

    def as_json(self) -> Members:
        """Return all numbers."""
        return {
            "total": self.total.as_json(),
            "models": [each.as_json() for each in self.models],
            "files": [each.as_json() for each in self.files],
        }


def survival(places: Places) -> SurvivalReport:
    """Return what is left of the current annotations of this checkout's files; what was removed on purpose does not count."""
    authors = Authors(places.trail)
    places.read_ahead()
    models: dict[str, list[Placement]] = defaultdict(list)
    files: dict[str, list[Placement]] = defaultdict(list)
    for path in places.annotated_files():
        try:
            text = read_source(places.trail.directory.project, path)
        except UnreadableFile:
            continue
        for placement in places.of(path, text):
            if _is_lines(placement) or _is_function(placement):
                models[authors.of(placement.current.text("environment_hash")).label].append(placement)
                files[path].append(placement)
    everything = [placement for placements in files.values() for placement in placements]
    return SurvivalReport(_counted("in all", everything), _ordered(models), _ordered(files))


def _ordered(groups: dict[str, list[Placement]]) -> list[Survival]:
    return sorted((_counted(name, group) for name, group in groups.items()), key=lambda each: (-each.recorded, each.name))


def _is_lines(placement: Placement) -> bool:
    """Whether an annotation is that of lines, which were recorded and may be gone or only claimed now."""
    lineage = placement.lineage
    is_code = not (placement.is_history or lineage.is_review or lineage.action == Action.DELETE)
    return is_code and not placement.shown.placeholder and placement.current.type == RecordType.LINE


def _is_function(placement: Placement) -> bool:
    """Whether an annotation is that of a function: its lines are not recorded, but that it is gone can be told."""
    is_code = placement.is_item and placement.lineage.action != Action.DELETE
    return is_code and placement.current.type == RecordType.FUNCTION


def _left(placement: Placement) -> int | None:
    """Return how many lines stand as they were written; None where that is not verified."""
    located = placement.located
    if located.state == State.LOST:
        return 0
    return located.intact if located.is_proven else None


def _counted(name: str, placements: Iterable[Placement]) -> Survival:
    recorded = intact = unknown = lost = 0
    for placement in placements:
        if _is_function(placement):
            lost += placement.located.state == State.LOST
            continue
        lines = recorded_lines(placement.current)
        if lines is None or placement.lineage.action == Action.DELETE:
            continue
        count = lines[1] - lines[0] + 1
        left = _left(placement)
        if left is None:
            unknown += count
        else:
            recorded, intact = recorded + count, intact + min(left, count)
    return Survival(name, recorded, intact, unknown, lost)
