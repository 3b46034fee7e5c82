"""The version gate over a whole directory (RFC 12.1, R11): what may be read as far as possible, and is never modified."""

from __future__ import annotations

from vibes_lsp.model.members import text
from vibes_lsp.model.versions import may_write
from vibes_lsp.store.config import LoadedConfig
from vibes_lsp.store.manifest import Manifest


def unsupported_versions(config: LoadedConfig, manifest: Manifest) -> list[str]:
    """Return, for each file that declares a version we do not know, a sentence about it."""
    declared = (
        ("config.json", text(config.members, "standard_version")),
        ("manifest.json", manifest.version if isinstance(manifest.version, str) else None),
    )
    return [
        f"{name} declares version {version[:40]!r} of the standard, which this program does not know"
        for name, version in declared
        if version is not None and not may_write(version)
    ]
