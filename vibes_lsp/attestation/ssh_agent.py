"""Sign with an Ed25519 key that an SSH agent holds; its private half never reaches this program.

asyncssh speaks the agent's protocol. An agent signs any bytes with an Ed25519 key, so it signs the
encoding of an envelope as a key file does.
"""

from __future__ import annotations

import asyncio
import base64
import hashlib
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Final

import asyncssh

from vibes_lsp.attestation.keys import SIGNATURE_BYTES, PublicKey, parse_public_key
from vibes_lsp.errors import BadKey

PREFIX: Final = "agent:"
"""How an agent's key is named where a key file could be."""

_ALGORITHM: Final = b"ssh-ed25519"
_SIGNATURE_HEAD: Final = (
    len(_ALGORITHM).to_bytes(4) + _ALGORITHM + SIGNATURE_BYTES.to_bytes(4)
)  # RFC 8709, section 6
_HINT: Final = "start one and add the key with `ssh-add`; `ssh-add -l` lists what it holds"


@dataclass(frozen=True, slots=True)
class AgentKey:
    """A key in an agent; it signs as a private key does.

    Attributes:
        public: Its public key.
        blob: The same as the agent names it.
    """

    public: PublicKey
    blob: bytes

    @property
    def key_id(self) -> str:
        """The identifier of the public key."""
        return self.public.key_id

    @property
    def fingerprint(self) -> str:
        """The fingerprint as `ssh-add -l` prints it."""
        digest = base64.b64encode(hashlib.sha256(self.blob).digest()).decode()
        return f"SHA256:{digest.rstrip('=')}"

    def sign(self, message: bytes) -> bytes:
        """Return the signature of a message; the agent may ask its user first.

        Raises:
            BadKey: The agent refuses, is gone, or made something else.
        """
        try:
            answer = asyncio.run(_sign(self.blob, message))
        except (OSError, ValueError) as error:
            raise BadKey(
                f"the SSH agent did not sign with {self.fingerprint}: {error}",
                hint="it may have asked for a confirmation, or be locked",
            ) from None
        signature = answer.removeprefix(_SIGNATURE_HEAD)
        if not self.public.verifies(signature, message):
            raise BadKey(f"the SSH agent's signature with {self.fingerprint} is no Ed25519 one")
        return signature


def find_agent_key(name: str) -> AgentKey:
    """Return the key of the user's agent that has this name.

    Args:
        name: A fingerprint as `ssh-add -l` prints it, or the key's identifier in envelopes.

    Raises:
        BadKey: There is no agent, or it holds no such key.
    """
    try:
        blobs = asyncio.run(_blobs())
    except (OSError, ValueError) as error:
        raise BadKey(f"there is no SSH agent: {error}", hint=_HINT) from None
    keys = []
    for blob in blobs:
        with suppress(BadKey):  # of another algorithm
            public = parse_public_key(_ALGORITHM + b" " + base64.b64encode(blob))
            keys.append(AgentKey(public, blob))
    for key in keys:
        if name in {key.fingerprint, key.key_id}:
            return key
    listed = ", ".join(key.fingerprint for key in keys) or "no Ed25519 key"
    raise BadKey(f"the SSH agent has no Ed25519 key {name[:80]!r}; it has {listed}", hint=_HINT)


async def _blobs() -> Sequence[bytes]:
    async with asyncssh.connect_agent() as agent:
        return [key.public_data for key in await agent.get_keys()]


async def _sign(blob: bytes, message: bytes) -> bytes:
    async with asyncssh.connect_agent() as agent:
        signature: bytes = await agent.sign(blob, message)
        return signature
