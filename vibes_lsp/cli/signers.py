"""The keys that sign for a command: files outside the project, or keys of an SSH agent."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from vibes_lsp.attestation.key_files import load_private_key
from vibes_lsp.attestation.keys import Signer
from vibes_lsp.cli.keys import ask_passphrase
from vibes_lsp.errors import BadKey
from vibes_lsp.store.files import is_inside

_AGENT: Final = "agent:"


def load_signer(name: str, project: Path) -> Signer:
    """Return the key that an option names.

    Args:
        name: A key file, or `agent:` and the fingerprint of a key in the SSH agent.
        project: The folder of the trail that is signed.

    Raises:
        BadKey: There is none, it cannot be used, or the file is in the project.
        ModuleNotFoundError: The package for agents is not installed.
    """
    if name.startswith(_AGENT):
        from vibes_lsp.attestation.ssh_agent import find_agent_key  # noqa: PLC0415

        return find_agent_key(name.removeprefix(_AGENT))
    path = Path(name)
    if is_inside(path.absolute(), project):
        raise BadKey(
            f"{path} is in the project, where a commit could publish it",
            hint="move the private key out of the project",
        )
    return load_private_key(path, lambda: ask_passphrase(path))
