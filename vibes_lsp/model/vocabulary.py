"""The closed vocabularies of the RFC, one enum each; the values are the words on disk."""

from __future__ import annotations

import re
from enum import StrEnum
from typing import Final


class RecordType(StrEnum):
    """Kinds of line in the annotation log (RFC 7.2)."""

    LINE = "line"
    FUNCTION = "function"
    SESSION = "session"
    EDGE = "edge"
    DELEGATION = "delegation"


class ContextType(StrEnum):
    """Kinds of manifest entry (RFC 6.2-6.6)."""

    ENVIRONMENT = "environment"
    PROMPT = "prompt"
    COMMAND = "command"
    REASONING = "reasoning"
    DECISION = "decision"


class AssuranceLevel(StrEnum):
    """How much metadata is captured (RFC 3)."""

    LOW = "low"
    MEDIUM = "medium"
    HIGH = "high"


class Action(StrEnum):
    """What the AI did to the annotated code (RFC 7.9)."""

    CREATE = "create"
    MODIFY = "modify"
    DELETE = "delete"
    REVIEW = "review"
    REBASE_REMAP = "rebase_remap"
    REBASE_ORPHAN = "rebase_orphan"


REMAP_ACTIONS: Final = frozenset({Action.REBASE_REMAP, Action.REBASE_ORPHAN})
"""Actions of records that say where an earlier edit is in another commit (RFC 7.3.1)."""


class SessionEvent(StrEnum):
    """The two events of a session's life (RFC 7.5)."""

    START = "start"
    END = "end"


class EdgeType(StrEnum):
    """Relations between annotations, contexts and sessions: source [type] target (RFC 7.6)."""

    CAUSED_BY = "caused_by"
    DEPENDS_ON = "depends_on"
    INFORMED_BY = "informed_by"
    DELEGATED_TO = "delegated_to"
    SUPERSEDES = "supersedes"
    REVIEWED_BY = "reviewed_by"


class NodeType(StrEnum):
    """What an end of an edge names (RFC 7.6)."""

    ANNOTATION = "annotation"
    CONTEXT = "context"
    SESSION = "session"


class DelegationType(StrEnum):
    """The task that one session delegates to another (RFC 7.7)."""

    TASK = "task"
    REVIEW = "review"
    TEST = "test"
    REFACTOR = "refactor"
    OTHER = "other"


class PromptType(StrEnum):
    """Category of a prompt (RFC 6.3)."""

    USER_INSTRUCTION = "user_instruction"
    EDIT_COMMAND = "edit_command"
    CHAT_MESSAGE = "chat_message"
    INLINE_COMPLETION = "inline_completion"
    REVIEW_REQUEST = "review_request"
    REFACTOR_REQUEST = "refactor_request"
    OTHER = "other"


class CommandType(StrEnum):
    """Category of a command or tool invocation (RFC 6.4)."""

    SHELL = "shell"
    FILE_WRITE = "file_write"
    FILE_READ = "file_read"
    FILE_DELETE = "file_delete"
    API_CALL = "api_call"
    TOOL_USE = "tool_use"
    OTHER = "other"


class Confidence(StrEnum):
    """The agent's confidence in a decision (RFC 6.6)."""

    HIGH = "high"
    MEDIUM = "medium"
    LOW = "low"


class Band(StrEnum):
    """PRISM severity bands, lowest first (RFC 10.4.3)."""

    LOW = "low"
    MEDIUM = "medium"
    HIGH = "high"
    CRITICAL = "critical"

    def reaches(self, lowest: Band) -> bool:
        """Whether the band is at least another one."""
        bands = list(Band)
        return bands.index(self) >= bands.index(lowest)


class RuleAction(StrEnum):
    """What a review rule requires (RFC 10.4.6)."""

    FLAG = "flag"
    REQUIRE_REVIEW = "require_review"
    BLOCK = "block"


class Signal(StrEnum):
    """The named signals of PRISM (RFC 10.4.1)."""

    TEMPERATURE = "temperature"
    ACTION_TYPE = "action_type"
    SCOPE_LINES = "scope_lines"
    SCOPE_FILES = "scope_files"
    ASSURANCE_GAP = "assurance_gap"
    HUMAN_REVIEW_PRESENT = "human_review_present"
    PROMPT_TOKEN_COUNT = "prompt_token_count"
    MODEL_CAPABILITY_TIER = "model_capability_tier"


def is_custom_signal(name: str) -> bool:
    """Whether a name has a namespace, as signals beyond the RFC's have: `org:tier` (RFC 10.4.1)."""
    return ":" in name and _CUSTOM_SIGNAL(name) is not None


_CUSTOM_SIGNAL: Final = re.compile(
    r"[A-Za-z_][\w-]{0,59}(?::[A-Za-z_][\w-]{0,59})+", re.ASCII
).fullmatch


class Tier(StrEnum):
    """How capable a model is, the most capable first (RFC 10.4.1, R22)."""

    FRONTIER = "frontier"
    GENERAL = "general"
    SMALL = "small"
    LEGACY = "legacy"


class SupersedesReason(StrEnum):
    """`metadata.reason` of the supersedes edges that this program writes (R4, R4b, R7).

    The first three put both records into one lineage; `COVERS` makes the target's lineage history.
    """

    COMMIT = "commit"
    REWRITE = "rewrite"
    ORPHAN = "orphan"
    COVERS = "covers"


class BackfillWhen(StrEnum):
    """`backfill.when` in the config: when the pre-commit hook writes commits into the log (R4)."""

    NEXT_COMMIT = "next-commit"
    LANDED = "landed"
    MANUAL = "manual"


class Verdict(StrEnum):
    """A reviewer's answer (R6)."""

    APPROVED = "approved"
    REJECTED = "rejected"


class ReviewerKind(StrEnum):
    """Who reviewed (R6); unknown when another tool wrote the edge without metadata."""

    HUMAN = "human"
    AI = "ai"
    UNKNOWN = "unknown"


NO_MODEL: Final = "none"
"""The `model_name` of a reviewing person's environment: never counted as a model (R6)."""

CAPTURED_COMPLETION: Final = "vibes:captured-low-confidence"
"""The `tool_extensions` item of a completion that an editor saw accepted but no AI tool reported.

The RFC has a confidence for decisions only; `tool_extensions` (RFC 6.2) lists what was active.
"""

IMPORTED_FROM: Final = "imported_from"
"""The member of an annotation that names the record of another tool that it was imported from.

It is an object: `format`, the source's `id` of the record, `evidence` (how its lines were found).
"""

COMPARED_FILES: Final = "vibes:compared-files"
"""The `tool_extensions` item of a file that came into being while a command ran."""

SESSION_FILE: Final = "vibes:session-file"
"""The `tool_extensions` item of an edit that no event reported, but the agent's session file."""
