"""How capable a model is (RFC 10.4.1, R22): a small table by name, which a project's policy overrides and extends.

The tiers are coarse on purpose: the table says what a family of models is sold as, not how one of them does on a task.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from fnmatch import fnmatchcase
from functools import lru_cache
from typing import Final

from vibes_lsp.model.vocabulary import Tier

TIER_VALUES: Final[Mapping[str, float]] = {
    Tier.FRONTIER: 0.2,
    Tier.GENERAL: 0.5,
    Tier.SMALL: 0.8,
    Tier.LEGACY: 1.0,
}
"""What each tier is worth: a smaller or older model is a higher risk."""

PACKAGED: Final[Mapping[str, str]] = {
    "claude-*": Tier.GENERAL,
    "claude-opus-*": Tier.FRONTIER,
    "claude-sonnet-*": Tier.FRONTIER,
    "claude-haiku-*": Tier.SMALL,
    "claude-1*": Tier.LEGACY,
    "claude-2*": Tier.LEGACY,
    "claude-3-*": Tier.GENERAL,
    "claude-3-haiku*": Tier.SMALL,
    "claude-3-5-haiku*": Tier.SMALL,
    "claude-3.5-haiku*": Tier.SMALL,
    "claude-instant*": Tier.LEGACY,
    "gpt-5*": Tier.FRONTIER,
    "gpt-5*-mini*": Tier.SMALL,
    "gpt-5*-nano*": Tier.SMALL,
    "gpt-4*": Tier.GENERAL,
    "gpt-4*-mini*": Tier.SMALL,
    "gpt-4*-nano*": Tier.SMALL,
    "gpt-3*": Tier.LEGACY,
    "o1*": Tier.GENERAL,
    "o3*": Tier.FRONTIER,
    "o?-mini*": Tier.SMALL,
    "o4*": Tier.FRONTIER,
    "codex-*": Tier.GENERAL,
    "gemini-*": Tier.GENERAL,
    "gemini-*-pro*": Tier.FRONTIER,
    "gemini-*-flash-lite*": Tier.SMALL,
    "gemini-1.?-*": Tier.LEGACY,
    "gemini-1.?-pro*": Tier.LEGACY,
    "gemini-1.?-flash*": Tier.LEGACY,
    "grok-*": Tier.GENERAL,
    "grok-4*": Tier.FRONTIER,
    "grok-*-mini*": Tier.SMALL,
    "deepseek-*": Tier.GENERAL,
    "qwen*": Tier.GENERAL,
    "qwen*-?b*": Tier.SMALL,
    "kimi-*": Tier.GENERAL,
    "glm-*": Tier.GENERAL,
    "mistral-*": Tier.GENERAL,
    "mistral-7b*": Tier.SMALL,
    "mistral-small*": Tier.SMALL,
    "ministral-*": Tier.SMALL,
    "codestral*": Tier.GENERAL,
    "devstral*": Tier.SMALL,
    "llama-*": Tier.GENERAL,
    "llama-*-8b*": Tier.SMALL,
    "llama-2*": Tier.LEGACY,
    "codellama*": Tier.LEGACY,
    "gemma*": Tier.SMALL,
    "phi-*": Tier.SMALL,
    "starcoder*": Tier.LEGACY,
}
"""Tiers by patterns of names, `*` for anything and `?` for one character."""

_SEPARATORS: Final = re.compile(r"[\s_]+")
_MAX_NAME: Final = 200


def tier_of(model: str, overrides: Mapping[str, str] = {}) -> str | None:
    """Return the tier of a model; None for one that no pattern knows.

    Names are compared in lower case, with hyphens for blanks, and without the provider before the last slash. Of several patterns the longest
    counts, whatever their order; any of the policy's goes before all of the table's.

    Args:
        model: The model's name, as its environment entry has it.
        overrides: The policy's tiers by patterns.
    """
    return _tier(model[:_MAX_NAME], tuple(overrides.items()))


@lru_cache(maxsize=256)  # a trail has many annotations and few models
def _tier(model: str, overrides: tuple[tuple[str, str], ...]) -> str | None:
    name = _plain(model).rpartition("/")[2]
    for table in (dict(overrides), PACKAGED):
        fitting = [pattern for pattern in table if fnmatchcase(name, _plain(pattern))]
        if fitting:
            return table[max(fitting, key=lambda pattern: (len(pattern), pattern))]
    return None


def _plain(name: str) -> str:
    return _SEPARATORS.sub("-", name.strip().lower())
