"""Settings of section `vibes`, from `initializationOptions` and `workspace/configuration` alike; wrong values fall back, one by one."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from vibes_lsp.model.vocabulary import Band


@dataclass(frozen=True, slots=True)
class Settings:
    """What a user may choose. Defaults are quiet.

    Attributes:
        hover: Whether hovers answer.
        code_lens: Whether there are lenses.
        diagnostics: Whether anything is said in the list of problems.
        minimum_band: Risk from this band up is a problem.
        show_prompts: Whether prompt text is shown.
        use_git: Whether git's history is asked.
        preview_risk: Whether live scores are shown also where the project has not enabled them (R27).
        code_actions: Whether there are code actions.
        reviewer: Who reviews; None for git's user.
    """

    hover: bool = True
    code_lens: bool = True
    diagnostics: bool = True
    minimum_band: Band = Band.HIGH
    show_prompts: bool = True
    use_git: bool = True
    preview_risk: bool = False
    code_actions: bool = True
    reviewer: str | None = None


def read_settings(given: object) -> Settings:
    """Return the settings that a client gave: the section itself, or an object that has it as `vibes`."""
    section = _mapping(given)
    section = _mapping(section["vibes"]) if "vibes" in section else section
    diagnostics = _mapping(section.get("diagnostics"))
    band = diagnostics.get("minimumBand")
    reviewer = section.get("reviewer")
    return Settings(
        hover=_enabled(section, "hover"),
        code_lens=_enabled(section, "codeLens"),
        diagnostics=_enabled(section, "diagnostics"),
        minimum_band=Band(band)
        if isinstance(band, str) and band in set(Band)
        else Settings().minimum_band,
        show_prompts=_flag(_mapping(section.get("prompts")).get("show")),
        use_git=_flag(_mapping(section.get("history")).get("useGit")),
        preview_risk=_flag(_mapping(section.get("risk")).get("preview"), default=False),
        code_actions=_enabled(section, "codeActions"),
        reviewer=reviewer if isinstance(reviewer, str) and reviewer.strip() else None,
    )


def _enabled(section: Mapping[str, Any], surface: str) -> bool:
    return _flag(_mapping(section.get(surface)).get("enable"))


def _flag(value: object, *, default: bool = True) -> bool:
    return value if isinstance(value, bool) else default


def _mapping(value: object) -> Mapping[str, Any]:
    """Return a JSON object as a mapping; pygls hands some over as tuples with names."""
    if isinstance(value, Mapping):
        return value
    fields = getattr(value, "_asdict", None)
    return fields() if callable(fields) else {}
