"""Messages of our own: the request `vibes/provenance` and the notification `vibes/provenanceChanged`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from lsprotocol import types

PROVENANCE: Final = "vibes/provenance"
PROVENANCE_CHANGED: Final = "vibes/provenanceChanged"


@dataclass(frozen=True, slots=True)
class ProvenanceParams:
    """What `vibes/provenance` takes: a document, and whether to go line by line."""

    textDocument: types.TextDocumentIdentifier  # noqa: N815  # its name on the wire
    lines: bool | None = None


@dataclass(frozen=True, slots=True)
class ProvenanceRequest:
    """The request as it comes over the wire."""

    id: int | str
    params: ProvenanceParams
    method: str = PROVENANCE
    jsonrpc: str = "2.0"
