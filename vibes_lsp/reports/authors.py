"""The tool and model behind annotations and sessions, from their environment entries (RFC 6.2)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from vibes_lsp.model.members import Members, text, texts
from vibes_lsp.model.vocabulary import CAPTURED_COMPLETION, COMPARED_FILES, NO_MODEL, ContextType
from vibes_lsp.trail.trail import Trail

UNKNOWN: Final = "unknown"


@dataclass(frozen=True, slots=True)
class Author:
    """A tool and a model.

    Attributes:
        tool: Name of the tool.
        tool_version: Its version.
        model: Name of the model.
        model_version: Its version.
        is_captured: Whether an editor captured an accepted completion and no tool reported it; tool
            and model are then what a person entered, or unknown.
        is_compared: Whether no event reported the edit: the file came into being while a command
            of the tool ran.
    """

    tool: str = UNKNOWN
    tool_version: str = UNKNOWN
    model: str = UNKNOWN
    model_version: str = UNKNOWN
    is_captured: bool = False
    is_compared: bool = False

    def as_json_source(self) -> Members:
        """Return the members that say that no event reported the edit."""
        captured: Members = {"captured": True} if self.is_captured else {}
        compared: Members = {"comparedFiles": True} if self.is_compared else {}
        return captured | compared

    @property
    def label(self) -> str:
        """The name in a list."""
        return "a person" if self.is_human else f"{self.model} ({self.tool})"

    @property
    def short_label(self) -> str:
        """The name in a narrow column."""
        return "a person" if self.is_human else author_name(self.model, self.tool)

    @property
    def is_human(self) -> bool:
        """Whether this is a person who reviews (R6)."""
        return self.model == NO_MODEL


def author_name(model: str | None, tool: str | None) -> str:
    """Return the name of the model; that of the tool where the model is not known."""
    names = (name for name in (model, tool) if name not in {None, "", UNKNOWN})
    return next(names, None) or UNKNOWN


class Authors:
    """Looks up authors by environment hash and caches them."""

    def __init__(self, trail: Trail) -> None:
        self._trail = trail
        self._authors: dict[str | None, Author] = {}

    def of(self, environment_hash: str | None) -> Author:
        """Return the author of an environment entry; unknown where there is no such entry."""
        if environment_hash not in self._authors:
            entry = self._trail.manifest.entry(environment_hash) if environment_hash else None
            named = (
                entry if entry is not None and entry.get("type") == ContextType.ENVIRONMENT else {}
            )
            self._authors[environment_hash] = Author(
                tool=text(named, "tool_name") or UNKNOWN,
                tool_version=text(named, "tool_version") or UNKNOWN,
                model=text(named, "model_name") or UNKNOWN,
                model_version=text(named, "model_version") or UNKNOWN,
                is_captured=CAPTURED_COMPLETION in texts(named, "tool_extensions"),
                is_compared=COMPARED_FILES in texts(named, "tool_extensions"),
            )
        return self._authors[environment_hash]
