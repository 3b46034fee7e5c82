"""All kinds of histories: importing this module fills `KINDS`."""

from __future__ import annotations

from tests.git_life import (
    kinds_branches,
    kinds_edits,
    kinds_forms,
    kinds_places,
    kinds_real_code,
    kinds_rewrites,
    kinds_walks,
)
from tests.git_life.life import KINDS

__all__ = [
    "KINDS",
    "kinds_branches",
    "kinds_edits",
    "kinds_forms",
    "kinds_places",
    "kinds_real_code",
    "kinds_rewrites",
    "kinds_walks",
]
