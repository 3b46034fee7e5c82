"""What three clients say that they can do: a current VS Code, Neovim 0.11, and one that can do nothing."""

from __future__ import annotations

from typing import Any, Final

from lsprotocol import types
from lsprotocol.converters import get_converter
from pytest_lsp import client_capabilities

PROFILES: Final = ("vscode_current", "neovim", "nothing")

_VSCODE: Final = {
    "workspace": {
        "applyEdit": True,
        "configuration": True,
        "didChangeConfiguration": {"dynamicRegistration": True},
        "didChangeWatchedFiles": {"dynamicRegistration": True, "relativePatternSupport": True},
        "codeLens": {"refreshSupport": True},
        "executeCommand": {"dynamicRegistration": True},
        "workspaceFolders": True,
        "semanticTokens": {"refreshSupport": True},
        "inlayHint": {"refreshSupport": True},
        "diagnostics": {"refreshSupport": True},
        "textDocumentContent": {"dynamicRegistration": True},
    },
    "textDocument": {
        "publishDiagnostics": {
            "relatedInformation": True,
            "versionSupport": False,
            "tagSupport": {"valueSet": [1, 2]},
            "dataSupport": True,
        },
        "synchronization": {
            "dynamicRegistration": True,
            "willSave": True,
            "willSaveWaitUntil": True,
            "didSave": True,
        },
        "hover": {"dynamicRegistration": True, "contentFormat": ["markdown", "plaintext"]},
        "codeLens": {"dynamicRegistration": True},
        "diagnostic": {"dynamicRegistration": True, "relatedDocumentSupport": False},
        "codeAction": {
            "dynamicRegistration": True,
            "isPreferredSupport": True,
            "disabledSupport": True,
            "dataSupport": True,
            "resolveSupport": {"properties": ["edit", "command"]},
            "codeActionLiteralSupport": {
                "codeActionKind": {"valueSet": ["", "quickfix", "refactor", "source"]}
            },
        },
        "references": {"dynamicRegistration": True},
        "definition": {"dynamicRegistration": True, "linkSupport": True},
        "callHierarchy": {"dynamicRegistration": True},
        "inlayHint": {
            "dynamicRegistration": True,
            "resolveSupport": {"properties": ["tooltip", "textEdits", "label.tooltip"]},
        },
        "documentLink": {"dynamicRegistration": True, "tooltipSupport": True},
        "selectionRange": {"dynamicRegistration": True},
    },
    "window": {
        "showDocument": {"support": True},
        "showMessage": {"messageActionItem": {"additionalPropertiesSupport": True}},
        "workDoneProgress": True,
    },
    "general": {
        "positionEncodings": ["utf-16"],
        "staleRequestSupport": {"cancel": True, "retryOnContentModified": []},
    },
}


def capabilities_of(profile: str) -> types.ClientCapabilities:
    """Return what a client of this profile sends with `initialize`."""
    if profile == "vscode_current":
        return get_converter().structure(_VSCODE, types.ClientCapabilities)
    return (
        client_capabilities("neovim@v0.11.0") if profile == "neovim" else types.ClientCapabilities()
    )


def members_of(profile: str) -> dict[str, Any]:
    """Return the same as it goes over the wire."""
    members: dict[str, Any] = get_converter().unstructure(
        capabilities_of(profile), types.ClientCapabilities
    )
    return members


def encoded(text: str, profile: str) -> int:
    """Return how many columns a text takes in the encoding that the server agrees on with this client."""
    return len(text.encode()) if profile == "neovim" else len(text.encode("utf-16-le")) // 2
