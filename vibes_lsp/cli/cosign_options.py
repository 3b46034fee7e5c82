"""The options of `vibes attest` for a second signature, by the provider of the tool."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Final

import click

from vibes_lsp.attestation.cosigning import cosign, request_cosignature
from vibes_lsp.attestation.envelope import Envelope, EnvelopeSignature
from vibes_lsp.attestation.http_client import check_url, read_token
from vibes_lsp.attestation.keys import Signer
from vibes_lsp.attestation.signature_checks import (
    SignatureTimes,
    SignatureVerdict,
    check_signatures,
)
from vibes_lsp.attestation.trusted_keys import Role, TrustedKey, keys_for
from vibes_lsp.cli.output import escape, print_warning
from vibes_lsp.cli.project import now
from vibes_lsp.errors import BadKey, VibesError

COSIGN_TOKEN: Final = "VIBES_COSIGN_TOKEN"


@dataclass(frozen=True, slots=True)
class CosignOptions:
    """Who cosigns by the options of one call; no one by default.

    Attributes:
        url: The signing endpoint of a tool's provider.
        key: A provider's private key on this machine instead, a file or in an SSH agent.
        key_id: The identifier that the provider published that key under.
    """

    url: str | None
    key: str | None
    key_id: str | None

    def check(self) -> None:
        """Refuse options that exclude or need each other, and a URL that is not asked.

        Raises:
            VibesError: The URL may not be asked.
        """
        if self.url is not None and self.key is not None:
            raise click.UsageError("--cosign-url and --cosign-key exclude each other")
        if self.key_id is not None and self.key is None:
            raise click.UsageError("--cosign-keyid is only for use with --cosign-key")
        if self.url is not None:
            check_url(self.url)

    def cosigned(
        self,
        envelope: Envelope,
        trusted_keys: Sequence[TrustedKey],
        load: Callable[[str], Signer],
    ) -> tuple[Envelope, str | None]:
        """Return the envelope with a cosignature, and who made it; as it was if none is wanted.

        Args:
            envelope: What to sign.
            trusted_keys: The keys that the user trusts; a cosignature that one of them disproves is
                refused.
            load: Returns the key that a name stands for.

        Raises:
            VibesError: There is no cosignature, or a bad one.
        """
        if self.url is not None:
            signature = request_cosignature(self.url, envelope, token_from(COSIGN_TOKEN))
        elif self.key is not None:
            signature = cosign(envelope, load(self.key), now(), key_id=self.key_id)
        else:
            return envelope, None
        _refuse_bad(envelope, signature, trusted_keys)
        return envelope.with_signature(signature), signature.key_id


def token_from(variable: str) -> str | None:
    """Return the token in an environment variable; None if it is not set.

    Raises:
        VibesError: It cannot be a token.
    """
    value = os.environ.get(variable)
    try:
        return None if value is None else read_token(value)
    except VibesError as error:
        raise VibesError(f"{variable}: {error.message}") from None


def _refuse_bad(
    envelope: Envelope, signature: EnvelopeSignature, trusted_keys: Sequence[TrustedKey]
) -> None:
    providers = [key for key in trusted_keys if key.role is Role.TOOL_PROVIDER]
    alone = replace(envelope, signatures=(signature,))
    [check] = check_signatures(alone, providers, SignatureTimes(now()))
    is_known = bool(keys_for(providers, signature.key_id))
    if check.verdict is SignatureVerdict.BAD or (
        check.verdict is SignatureVerdict.UNCHECKED and is_known
    ):
        raise BadKey(
            f"the cosignature of {signature.key_id[:40]} does not count: {check.reason}",
            hint="nothing was written; ask the provider, or leave it out",
        )
    if check.verdict is SignatureVerdict.UNCHECKED:
        print_warning(
            f"the cosignature of {escape(signature.key_id, 40)} was not checked: trust the"
            " provider's keys first with `vibes keys trust URL`"
        )
