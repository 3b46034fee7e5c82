"""Settings of section `vibes`, from `initializationOptions` and `workspace/configuration` alike.

A wrong value falls back to its default, and leaves the others as they are.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

from vibes_lsp.model.vocabulary import Band

_T = TypeVar("_T")


@dataclass(frozen=True, slots=True)
class Settings:
    """The settings of a user.

    Attributes:
        hover: Whether hovers are answered.
        code_lens: Whether there are code lenses.
        lens_band: The lowest band of a risk that has a lens although nothing waits; None for a lens
            at every annotation.
        inlay_hints: Whether there are inlay hints; None for what suits the client.
        diagnostics: Whether there are diagnostics.
        minimum_band: The lowest band of a risk that is a diagnostic.
        show_prompts: Whether prompts are shown.
        use_git: Whether git history is looked up.
        preview_risk: Whether live scores are shown where the project has not enabled them (R27).
        code_actions: Whether there are code actions.
        reviewer: The name for reviews; None for git's user.
        notes: Whether git-ai's notes and commit trailers are shown where there is no annotation.
        knowledge: Whether claims of a knowledge base are shown.
    """

    hover: bool = True
    code_lens: bool = True
    lens_band: Band | None = Band.HIGH
    inlay_hints: bool | None = None
    diagnostics: bool = True
    minimum_band: Band = Band.HIGH
    show_prompts: bool = True
    use_git: bool = True
    preview_risk: bool = False
    code_actions: bool = True
    reviewer: str | None = None
    notes: bool = True
    knowledge: bool = True


def read_settings(value: object) -> Settings:
    """Return the settings in the section itself, or in an object that has it as `vibes`."""
    section = _mapping(value)
    section = _mapping(section["vibes"]) if "vibes" in section else section
    lens_band = _mapping(section.get("codeLens")).get("minimumBand")
    reviewer = section.get("reviewer")
    return Settings(
        hover=_enabled(section, "hover"),
        code_lens=_enabled(section, "codeLens"),
        lens_band=None if lens_band == "all" else _band(section, "codeLens", Settings().lens_band),
        inlay_hints=_choice(_mapping(section.get("inlayHints")).get("enable")),
        diagnostics=_enabled(section, "diagnostics"),
        minimum_band=_band(section, "diagnostics", Settings().minimum_band),
        show_prompts=_flag(_mapping(section.get("prompts")).get("show")),
        use_git=_flag(_mapping(section.get("history")).get("useGit")),
        preview_risk=_flag(_mapping(section.get("risk")).get("preview"), default=False),
        code_actions=_enabled(section, "codeActions"),
        reviewer=reviewer if isinstance(reviewer, str) and reviewer.strip() else None,
        notes=_enabled(section, "notes"),
        knowledge=_enabled(section, "knowledge"),
    )


def _enabled(section: Mapping[str, Any], feature: str) -> bool:
    return _flag(_mapping(section.get(feature)).get("enable"))


def _band(section: Mapping[str, Any], feature: str, default: _T) -> Band | _T:
    band = _mapping(section.get(feature)).get("minimumBand")
    return Band(band) if isinstance(band, str) and band in set(Band) else default


def _flag(value: object, *, default: bool = True) -> bool:
    return value if isinstance(value, bool) else default


def _choice(value: object) -> bool | None:
    return value if isinstance(value, bool) else None


def _mapping(value: object) -> Mapping[str, Any]:
    """Return a JSON object as a mapping; pygls decodes some of them as named tuples."""
    if isinstance(value, Mapping):
        return value
    fields = getattr(value, "_asdict", None)
    return fields() if callable(fields) else {}
