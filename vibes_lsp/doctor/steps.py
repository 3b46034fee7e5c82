"""What a diagnosis consists of (`vibes doctor`): steps, each about one thing, in groups. Pure."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from enum import StrEnum

from vibes_lsp.model.members import Members


class Health(StrEnum):
    """The result of a diagnosis step."""

    OK = "ok"
    NOTE = "note"
    PROBLEM = "problem"


class Group(StrEnum):
    """What a step belongs to, in the order of a diagnosis."""

    PROGRAM = "program"
    TRAIL = "trail"
    GIT = "git"
    AGENTS = "agents"
    RECORDING = "recording"
    FILE = "file"


@dataclass(frozen=True, slots=True)
class Step:
    """One step of the diagnosis.

    Attributes:
        group: What it belongs to.
        about: What was tested.
        health: The result.
        message: What was found.
        hint: What to do; empty if nothing.
    """

    group: Group
    about: str
    health: Health
    message: str
    hint: str = ""

    def as_json(self) -> Members:
        """Return the attributes by their names."""
        return asdict(self)
