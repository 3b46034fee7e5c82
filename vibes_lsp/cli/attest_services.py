"""The services that `vibes attest` asks if told to: a cosigner, calendars, a registry."""

from __future__ import annotations

import functools
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final, TypeVar

import click

from vibes_lsp.cli.output import escape, print_line, print_warning
from vibes_lsp.cli.project import now
from vibes_lsp.cli.timestamp import calendar_option, create_timestamp
from vibes_lsp.errors import BadKey, VibesError
from vibes_lsp.model.members import Members
from vibes_lsp.verify.cosigning import cosign, request_cosignature
from vibes_lsp.verify.envelope import Envelope, EnvelopeSignature
from vibes_lsp.verify.http_client import check_url, read_token
from vibes_lsp.verify.keys import PublicKey, Signer
from vibes_lsp.verify.registry import submit
from vibes_lsp.verify.signature_checks import (
    SignatureTimes,
    SignatureVerdict,
    check_signatures,
)
from vibes_lsp.verify.trusted_keys import Role, TrustedKey, keys_for

_F = TypeVar("_F", bound=Callable[..., Any])

COSIGN_TOKEN: Final = "VIBES_COSIGN_TOKEN"
REGISTRY_TOKEN: Final = "VIBES_REGISTRY_TOKEN"


@dataclass(frozen=True, slots=True)
class AttestServices:
    """What the options of one call ask for; nothing by default.

    Attributes:
        cosign_url: The signing endpoint of a tool's provider.
        cosign_key: A provider's private key on this machine instead, a file or in an SSH agent.
        cosign_keyid: The identifier that the provider published that key under.
        timestamp: Whether calendars timestamp the attestation.
        calendars: The calendars; none for the public ones.
        registry: The registry to submit it to.
    """

    cosign_url: str | None
    cosign_key: str | None
    cosign_keyid: str | None
    timestamp: bool
    calendars: tuple[str, ...]
    registry: str | None

    def check(self) -> None:
        """Refuse options that exclude or need each other, and URLs that are not asked.

        Raises:
            VibesError: A URL may not be asked.
        """
        if self.cosign_url is not None and self.cosign_key is not None:
            raise click.UsageError("--cosign-url and --cosign-key exclude each other")
        if self.cosign_keyid is not None and self.cosign_key is None:
            raise click.UsageError("--cosign-keyid is only for use with --cosign-key")
        if self.calendars and not self.timestamp:
            raise click.UsageError("--calendar is only for use with --timestamp")
        for url in (self.cosign_url, self.registry, *self.calendars):
            if url is not None:
                check_url(url)

    def cosigned(
        self,
        envelope: Envelope,
        known: Sequence[TrustedKey],
        load: Callable[[str], Signer],
    ) -> tuple[Envelope, str | None]:
        """Return the envelope with a cosignature, and who made it; as it was if none is wanted.

        Args:
            envelope: What to sign.
            known: The keys that the user trusts; a cosignature that one of them disproves is
                refused.
            load: Returns the key that a name stands for.

        Raises:
            VibesError: There is no cosignature, or a bad one.
        """
        if self.cosign_url is not None:
            signature = request_cosignature(self.cosign_url, envelope, token_from(COSIGN_TOKEN))
        elif self.cosign_key is not None:
            key = load(self.cosign_key)
            signature = cosign(envelope, key, now(), key_id=self.cosign_keyid)
        else:
            return envelope, None
        _refuse_bad(envelope, signature, known)
        return envelope.with_signature(signature), signature.key_id

    def publish(self, path: Path, envelope: Envelope, keys: Sequence[PublicKey]) -> Members:
        """Timestamp and register a written attestation; return what to print as JSON.

        Raises:
            VibesError: A service refused; the attestation stays written.
        """
        try:
            results = create_timestamp(path, self.calendars) if self.timestamp else []
            entry = (
                submit(self.registry, envelope, token_from(REGISTRY_TOKEN), keys)
                if self.registry is not None
                else None
            )
        except VibesError as error:
            raise VibesError(f"{path} is written, but {error.message}", hint=error.hint) from None
        return {
            "calendars": [{"url": each.url, "problem": each.problem or None} for each in results],
            "registered": entry.as_json() if entry is not None else None,
        }

    def print_published(self, published: Members) -> None:
        """Print what `publish` did."""
        calendars = published["calendars"]
        for each in calendars if isinstance(calendars, list) else []:
            if isinstance(each, dict):
                problem = each["problem"]
                print_line(f"Timestamp: {escape(each['url'])}: {escape(problem or 'accepted it')}")
        if self.timestamp:
            print_line("Complete the timestamp in some hours: vibes timestamp upgrade")
        if self.registry is not None:
            print_line(f"Registered: {escape(self.registry)}")


def service_options(function: _F) -> _F:
    """Add the options of `AttestServices`, which the function gets as `services`."""

    @functools.wraps(function)
    def wrapped(
        *arguments: Any,
        cosign_url: str | None,
        cosign_key: str | None,
        cosign_keyid: str | None,
        timestamp: bool,
        calendars: tuple[str, ...],
        register_url: str | None,
        **others: Any,
    ) -> Any:
        services = AttestServices(
            cosign_url, cosign_key, cosign_keyid, timestamp, calendars, register_url
        )
        services.check()
        return function(*arguments, services=services, **others)

    found: Any = wrapped
    for option in reversed(
        (
            click.option("--cosign-url", metavar="URL", help="Signing endpoint of your tool."),
            click.option(
                "--cosign-key",
                metavar="KEY",
                help="Provider's private key on this machine.",
            ),
            click.option("--cosign-keyid", metavar="ID", help="Id that it is published under."),
            click.option("--timestamp", is_flag=True, help="Timestamp by OpenTimestamps."),
            calendar_option,
            click.option(
                "--register", "register_url", metavar="URL", help="Registry to submit it to."
            ),
        )
    ):
        found = option(found)
    registered: _F = found
    return registered


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
    envelope: Envelope, signature: EnvelopeSignature, known: Sequence[TrustedKey]
) -> None:
    providers = [each for each in known if each.role is Role.TOOL_PROVIDER]
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
