"""The version gate (RFC 12.1, R11): files of an unknown major version are read, never written."""

from __future__ import annotations

import re
from typing import Final

from vibes_lsp.errors import UnsupportedVersion
from vibes_lsp.model.members import text
from vibes_lsp.store.config import LoadedConfig
from vibes_lsp.store.manifest import Manifest

SUPPORTED_MAJOR: Final = 1
CURRENT_VERSION: Final = "1.0"
STANDARD: Final = "VIBES"

_VERSION: Final = re.compile(r"(\d{1,9})(?:\.\d+)*(?:[-+].*)?\Z")


def major_version(declared: str) -> int | None:
    """Return the major version; None if the text is not a version."""
    match = _VERSION.match(declared.strip())
    return int(match[1]) if match else None


def may_write(declared: str) -> bool:
    """Whether data of this version may be changed: the major version is known, the minor is any."""
    return major_version(declared) == SUPPORTED_MAJOR


def unsupported_versions(config: LoadedConfig, manifest: Manifest) -> list[str]:
    """Return a message for each file that declares an unsupported version."""
    declared = (
        ("config.json", text(config.members, "standard_version")),
        ("manifest.json", manifest.version if isinstance(manifest.version, str) else None),
    )
    return [
        f"unsupported version {version[:40]!r} in {name}: expected {SUPPORTED_MAJOR}.x"
        for name, version in declared
        if version is not None and not may_write(version)
    ]


def refuse_unsupported(config: LoadedConfig, manifest: Manifest) -> None:
    """Refuse to write a trail of a version that only newer programs know.

    Raises:
        UnsupportedVersion: A file declares one.
    """
    for message in unsupported_versions(config, manifest):
        raise UnsupportedVersion(
            message, hint="nothing was changed; upgrade vibes, or correct the version"
        )
