"""What a method needs: the knowledge base, the actor, and the dialect of results."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from vibes_lsp.errors import VibesError
from vibes_lsp.knowledge.knowledge_base import KnowledgeBase
from vibes_lsp.knowledge.object_index import ObjectIndex
from vibes_lsp.knowledge.review_gate import ReviewGate


class Dialect(StrEnum):
    """Whose types results have where two versions exclude each other."""

    SPEC = "spec"
    VOUCH_01 = "vouch-0.1"
    VOUCH_15 = "vouch-1.5"


@dataclass(frozen=True, slots=True)
class MethodContext:
    """For whom methods are answered.

    Attributes:
        knowledge: The knowledge base.
        actor: Who calls.
        dialect: Whose types results have.
        now: The clock.
        index: The index.
        gate: The review gate.
        methods: The names of all methods.
        may_approve_own: Whether the actor may approve own proposals; None for the setting.
    """

    knowledge: KnowledgeBase
    actor: str
    dialect: Dialect
    now: Callable[[], datetime]
    index: ObjectIndex
    gate: ReviewGate
    methods: tuple[str, ...]
    may_approve_own: bool | None = None


class MissingParameter(VibesError):
    """A required parameter is absent or null."""

    code = "missing-parameter"


class InvalidParameter(VibesError):
    """A parameter has a wrong type or value."""

    code = "invalid-parameter"


class UnknownMethod(VibesError):
    """There is no such method."""

    code = "unknown-method"
