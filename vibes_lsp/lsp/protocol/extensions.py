"""Our extensions of LSP: command names, `vibes/` messages, capabilities of clients."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Final

from lsprotocol import types

PROVENANCE: Final = "vibes/provenance"
PROVENANCE_CHANGED: Final = "vibes/provenanceChanged"
KNOWLEDGE_CHANGED: Final = "vibes/knowledgeChanged"


class CommandName(StrEnum):
    """The commands of `workspace/executeCommand`."""

    START_SESSION = "vibes.startSession"
    END_SESSION = "vibes.endSession"
    RECORD_ANNOTATION = "vibes.recordAnnotation"
    RECORD_INLINE_COMPLETION = "vibes.recordInlineCompletion"
    RECORD_PROMPT = "vibes.recordPrompt"
    RECORD_COMMAND = "vibes.recordCommand"
    RECORD_READ = "vibes.recordRead"
    RECORD_DECISION = "vibes.recordDecision"
    RECORD_DELEGATION = "vibes.recordDelegation"
    RECORD_EDGE = "vibes.recordEdge"
    REVIEW = "vibes.review"
    REANCHOR = "vibes.reanchor"
    MARK_LOST = "vibes.markLost"
    REMAP = "vibes.remap"
    LOOKUP = "vibes.lookup"
    QUEUE = "vibes.queue"
    FILES = "vibes.files"
    SHOW = "vibes.show"
    CHANGES = "vibes.changes"
    SHOW_PROMPT = "vibes.showPrompt"
    SHOW_HISTORY = "vibes.showHistory"
    OPEN_RECORD = "vibes.openRecord"
    OPEN_LINES = "vibes.openLines"
    CHECK = "vibes.check"
    VERIFY = "vibes.verify"
    ATTEST = "vibes.attest"
    KB = "vibes.kb"
    KB_AT = "vibes.kbAt"
    KB_PENDING = "vibes.kbPending"
    KB_PROPOSE = "vibes.kbPropose"
    KB_REANCHOR = "vibes.kbReanchor"
    KB_SHOW = "vibes.kbShow"


# Commands of clients, which they list under `experimental.vibes.commands`.

CLIENT_REJECT_WITH_NOTE: Final = "vibes.ui.rejectWithNote"
"""Asks for a note, then runs `vibes.review` with its argument and the `note`."""

CLIENT_SHOW_ANNOTATIONS: Final = "vibes.ui.showAnnotations"
"""Shows prompt and history of annotations in the client's own way, such as a peek or a float:
`{uri, annotationIds}`, newest first. Lenses have it instead of `vibes.showHistory`."""

CLIENT_KB_PROPOSE: Final = "vibes.ui.kbPropose"
"""Asks for a text, then runs `vibes.kbPropose` with its argument: `{uri, range, version}`."""

CLIENT_KB_REJECT: Final = "vibes.ui.kbReject"
"""Asks for a reason, then rejects: `{uri, proposalId}`."""

CLIENT_KB_SUPERSEDE: Final = "vibes.ui.kbSupersede"
"""Asks for the claim that supersedes one, and records that: `{uri, range, version, claimId}`."""

CLIENT_KB_CONTRADICT: Final = "vibes.ui.kbContradict"
"""Asks for the claim that contradicts one, and records that: `{uri, range, version, claimId}`."""

CLIENT_KB_SHOW: Final = "vibes.ui.kbShow"
"""Shows claims and proposals: `{uri, claimIds, proposalIds}`. Lenses have it."""


@dataclass(frozen=True, slots=True)
class ProjectArguments:
    """The argument of a command about a whole project.

    Attributes:
        uri: A file or folder of the project; by default the first workspace folder.
    """

    uri: str | None = None


@dataclass(frozen=True, slots=True)
class ProvenanceParams:
    """The parameters of `vibes/provenance`.

    Attributes:
        textDocument: The document.
        lines: Whether to add the kind of each line.
        runs: Whether to add the lines that each placement owns, and a `resultId`.
        previousResultId: The `resultId` of the last answer: only changes are sent.
    """

    textDocument: types.TextDocumentIdentifier  # noqa: N815  # its name on the wire
    lines: bool | None = None
    runs: bool | None = None
    previousResultId: str | None = None  # noqa: N815


@dataclass(frozen=True, slots=True)
class ProvenanceRequest:
    """The message `vibes/provenance`."""

    id: int | str
    params: ProvenanceParams
    method: str = PROVENANCE
    jsonrpc: str = "2.0"


def own_capability(capabilities: types.ClientCapabilities, name: str) -> Any:
    """Return what a client declares under `experimental.vibes`; None when it declares nothing."""
    experimental = capabilities.experimental
    ours = (
        experimental.get("vibes")
        if isinstance(experimental, dict)
        else getattr(experimental, "vibes", None)
    )
    return ours.get(name) if isinstance(ours, dict) else getattr(ours, name, None)


def has_client_command(capabilities: types.ClientCapabilities, command: str) -> bool:
    """Return whether a client lists a command of its own under `experimental.vibes.commands`."""
    named = own_capability(capabilities, "commands")
    return isinstance(named, list | tuple) and command in named
