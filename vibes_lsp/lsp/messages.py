"""What is our own of the protocol: the request `vibes/provenance`, the notification `vibes/provenanceChanged`, capabilities of clients."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

from lsprotocol import types

PROVENANCE: Final = "vibes/provenance"
PROVENANCE_CHANGED: Final = "vibes/provenanceChanged"


@dataclass(frozen=True, slots=True)
class ProvenanceParams:
    """What `vibes/provenance` takes: a document; whether to go line by line; whether by runs of lines, and since which answer."""

    textDocument: types.TextDocumentIdentifier  # noqa: N815  # its name on the wire
    lines: bool | None = None
    runs: bool | None = None
    previousResultId: str | None = None  # noqa: N815


@dataclass(frozen=True, slots=True)
class ProvenanceRequest:
    """The request as it comes over the wire."""

    id: int | str
    params: ProvenanceParams
    method: str = PROVENANCE
    jsonrpc: str = "2.0"


def own_capability(capabilities: types.ClientCapabilities, name: str) -> Any:
    """Return what a client says under `experimental.vibes`; None when it says nothing."""
    experimental = capabilities.experimental
    ours = (
        experimental.get("vibes")
        if isinstance(experimental, dict)
        else getattr(experimental, "vibes", None)
    )
    return ours.get(name) if isinstance(ours, dict) else getattr(ours, name, None)
