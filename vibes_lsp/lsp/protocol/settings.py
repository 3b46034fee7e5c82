"""Settings of section `vibes`, from `initializationOptions` and `workspace/configuration` alike.

A wrong value falls back to its default, and leaves the others as they are.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from vibes_lsp.model.vocabulary import Band


@dataclass(frozen=True, slots=True)
class Settings:
    """The settings of a user.

    Attributes:
        hover: Whether hovers are answered.
        code_lens: Whether there are code lenses.
        lens_band: The lowest band of a risk that has a lens although nothing waits; `all` for a
            lens at every annotation.
        inlay_hints: Whether there are inlay hints; null for hints unless the client draws line ends
            itself.
        diagnostics: Whether there are diagnostics.
        minimum_band: The lowest band of a risk that is a diagnostic.
        show_prompts: Whether prompts are shown.
        use_git: Whether git history is looked up.
        preview_risk: Whether live scores are shown where the project has not enabled PRISM (R27).
        code_actions: Whether there are code actions.
        reviewer: The name in your reviews; null for git's `user.name`.
        notes: Whether hovers show git-ai's notes and commit trailers where there is no annotation.
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


@dataclass(frozen=True, slots=True)
class SettingMember:
    """A member of the section, and the setting that it gives.

    Attributes:
        field: The name in `Settings`.
        path: The members that lead to it, joined by dots.
        kind: What it may be, for people.
        read: Returns the setting for a value; for a wrong one the default, which it is given.
    """

    field: str
    path: str
    kind: str
    read: Callable[[object, Any], Any]


def _flag(value: object, default: bool | None) -> bool | None:  # noqa: FBT001
    return value if isinstance(value, bool) else default


def _band(value: object, default: Band) -> Band:
    return Band(value) if isinstance(value, str) and value in set(Band) else default


def _band_or_all(value: object, default: Band) -> Band | None:
    return None if value == "all" else _band(value, default)


def _name(value: object, default: str | None) -> str | None:
    return value if isinstance(value, str) and value.strip() else default


_FLAG: Final = "true or false"
_BANDS: Final = ", ".join(f"`{band}`" for band in Band)
MEMBERS: Final = (
    SettingMember("hover", "hover.enable", _FLAG, _flag),
    SettingMember("code_lens", "codeLens.enable", _FLAG, _flag),
    SettingMember("lens_band", "codeLens.minimumBand", f"{_BANDS} or `all`", _band_or_all),
    SettingMember("inlay_hints", "inlayHints.enable", f"{_FLAG}, or null", _flag),
    SettingMember("code_actions", "codeActions.enable", _FLAG, _flag),
    SettingMember("notes", "notes.enable", _FLAG, _flag),
    SettingMember("knowledge", "knowledge.enable", _FLAG, _flag),
    SettingMember("diagnostics", "diagnostics.enable", _FLAG, _flag),
    SettingMember("minimum_band", "diagnostics.minimumBand", _BANDS, _band),
    SettingMember("show_prompts", "prompts.show", _FLAG, _flag),
    SettingMember("use_git", "history.useGit", _FLAG, _flag),
    SettingMember("preview_risk", "risk.preview", _FLAG, _flag),
    SettingMember("reviewer", "reviewer", "a name or null", _name),
)


def read_settings(value: object) -> Settings:
    """Return the settings in the section itself, or in an object that has it as `vibes`."""
    section = _mapping(value)
    section = _mapping(section["vibes"]) if "vibes" in section else section
    defaults = Settings()
    return Settings(
        **{
            member.field: member.read(_at(section, member.path), getattr(defaults, member.field))
            for member in MEMBERS
        }
    )


def _at(section: Mapping[str, Any], path: str) -> object:
    *outer, last = path.split(".")
    for name in outer:
        section = _mapping(section.get(name))
    return section.get(last)


def _mapping(value: object) -> Mapping[str, Any]:
    """Return a JSON object as a mapping; pygls decodes some of them as named tuples."""
    if isinstance(value, Mapping):
        return value
    fields = getattr(value, "_asdict", None)
    return fields() if callable(fields) else {}
