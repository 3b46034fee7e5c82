"""Who wrote: tool and model of annotations and sessions, as their environment entries name them (RFC 6.2)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from vibes_lsp.index.trail import Trail
from vibes_lsp.model.members import text, texts
from vibes_lsp.model.vocabulary import CAPTURED_COMPLETION, NO_MODEL, ContextType

UNKNOWN: Final = "unknown"


@dataclass(frozen=True, slots=True)
class Author:
    """A tool and a model.

    Attributes:
        tool: Name of the tool.
        tool_version: Its version.
        model: Name of the model.
        model_version: Its version.
        is_captured: Whether an editor only saw it being accepted: no tool told of it, so tool and model are a person's word or unknown.
    """

    tool: str = UNKNOWN
    tool_version: str = UNKNOWN
    model: str = UNKNOWN
    model_version: str = UNKNOWN
    is_captured: bool = False

    @property
    def label(self) -> str:
        """What to call the author in a list."""
        return "a person" if self.is_human else f"{self.model} ({self.tool})"

    @property
    def is_human(self) -> bool:
        """Whether this stands for a person who reviews (R6)."""
        return self.model == NO_MODEL


class Authors:
    """Looks authors up by environment hash, each read once."""

    def __init__(self, trail: Trail) -> None:
        self._trail = trail
        self._known: dict[str | None, Author] = {}

    def of(self, environment_hash: str | None) -> Author:
        """Return who an environment names; unknown where it is absent or no environment."""
        if environment_hash not in self._known:
            entry = self._trail.manifest.entry(environment_hash) if environment_hash else None
            named = (
                entry if entry is not None and entry.get("type") == ContextType.ENVIRONMENT else {}
            )
            self._known[environment_hash] = Author(
                tool=text(named, "tool_name") or UNKNOWN,
                tool_version=text(named, "tool_version") or UNKNOWN,
                model=text(named, "model_name") or UNKNOWN,
                model_version=text(named, "model_version") or UNKNOWN,
                is_captured=CAPTURED_COMPLETION in texts(named, "tool_extensions"),
            )
        return self._known[environment_hash]
