"""Ed25519 keys (RFC 11.3): their identifier and their encodings.

Signatures are made and checked by securesystemslib and cryptography. Files are read and written by
`attestation.key_files`.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final, Protocol

from cryptography.exceptions import InvalidKey, UnsupportedAlgorithm
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey
from cryptography.hazmat.primitives.serialization import (
    BestAvailableEncryption,
    Encoding,
    KeySerializationEncryption,
    NoEncryption,
    PrivateFormat,
    PublicFormat,
    load_der_public_key,
    load_pem_private_key,
    load_pem_public_key,
    load_ssh_private_key,
    load_ssh_public_key,
)
from securesystemslib.exceptions import UnverifiedSignatureError, VerificationError
from securesystemslib.signer import CryptoSigner, Signature, SSlibKey

from vibes_lsp.errors import BadKey

SIGNATURE_BYTES: Final = 64
"""Length of every Ed25519 signature (RFC 8032)."""

MAX_KEY_FILE: Final = 64 << 10
"""Largest key file that is read, in bytes."""

_SMALL_ORDER: Final = frozenset(
    bytes.fromhex(point)
    for point in (
        "00" * 32,
        "01" + "00" * 31,
        "26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05",
        "c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a",
        "ec" + "ff" * 30 + "7f",
        "ed" + "ff" * 30 + "7f",
        "ee" + "ff" * 30 + "7f",
    )
)
"""The points of small order, without their sign bit: one signature fits many messages."""

_OPENSSH_PRIVATE: Final = b"-----BEGIN OPENSSH PRIVATE KEY-----"
_PEM: Final = re.compile(rb"-----BEGIN ([A-Z0-9 ]+)-----")
_KEY_FAILURES: Final = (ValueError, TypeError, InvalidKey, UnsupportedAlgorithm)


class Signer(Protocol):
    """Makes signatures: a private key, or an agent that holds one."""

    @property
    def key_id(self) -> str:
        """The identifier that goes into the envelope."""
        ...

    @property
    def public(self) -> PublicKey:
        """The public key that verifies the signatures."""
        ...

    def sign(self, message: bytes) -> bytes:
        """Return the signature of a message.

        Raises:
            VibesError: It cannot be made.
        """
        ...


@dataclass(frozen=True, slots=True)
class PublicKey:
    """An Ed25519 public key.

    Attributes:
        raw: Its 32 bytes.
    """

    raw: bytes

    @property
    def key_id(self) -> str:
        """The first 16 hexadecimal digits of SHA-256 over the DER encoding (RFC 11.3, R23)."""
        return self.fingerprint[:16]

    @property
    def fingerprint(self) -> str:
        """All of that digest: 64 bits can be found by search, so people compare this."""
        return hashlib.sha256(self.der).hexdigest()

    @property
    def der(self) -> bytes:
        """The SPKI structure as DER."""
        return self._key.public_bytes(Encoding.DER, PublicFormat.SubjectPublicKeyInfo)

    @property
    def pem(self) -> str:
        """The SPKI structure as PEM, as in `vibescheck.pub`."""
        return self._key.public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo).decode()

    @property
    def openssh(self) -> str:
        """The line of an OpenSSH `.pub` file."""
        return self._key.public_bytes(Encoding.OpenSSH, PublicFormat.OpenSSH).decode()

    @property
    def _key(self) -> Ed25519PublicKey:
        return Ed25519PublicKey.from_public_bytes(self.raw)

    def verifies(self, signature: bytes, message: bytes) -> bool:
        """Whether a signature of a message was made with the private key of this one."""
        if len(signature) != SIGNATURE_BYTES:
            return False
        key = SSlibKey.from_crypto(self._key, keyid=self.key_id)
        try:
            key.verify_signature(Signature(self.key_id, signature.hex()), message)
        except (UnverifiedSignatureError, VerificationError):
            return False
        return True


@dataclass(frozen=True, slots=True)
class PrivateKey:
    """An Ed25519 private key; it signs, and its value is never printed."""

    _key: Ed25519PrivateKey = field(repr=False)

    @property
    def public(self) -> PublicKey:
        """The public key."""
        return PublicKey(self._key.public_key().public_bytes_raw())

    @property
    def key_id(self) -> str:
        """The identifier of the public key."""
        return self.public.key_id

    def sign(self, message: bytes) -> bytes:
        """Return the signature of a message."""
        key = SSlibKey.from_crypto(self._key.public_key(), keyid=self.key_id)
        return bytes.fromhex(CryptoSigner(self._key, key).sign(message).signature)

    def pem(self, passphrase: str | None = None) -> bytes:
        """Return the PKCS8 structure as PEM, encrypted if there is a passphrase (RFC 11.3)."""
        return self._key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, _encryption(passphrase))

    def openssh(self, passphrase: str | None = None) -> bytes:
        """Return the key as an OpenSSH private key file."""
        return self._key.private_bytes(Encoding.PEM, PrivateFormat.OpenSSH, _encryption(passphrase))


def generate_private_key() -> PrivateKey:
    """Return a new private key from the system's random numbers."""
    return PrivateKey(Ed25519PrivateKey.generate())


def parse_public_key(content: bytes, name: str = "the key") -> PublicKey:
    """Read a public key: SPKI as PEM or DER, or a line of OpenSSH.

    Args:
        content: The content of a file.
        name: What to call it in errors.

    Raises:
        BadKey: It is no public key, not Ed25519, or a private key.
    """
    if _is_private(content):
        raise BadKey(
            f"{name} is a private key, expected a public key",
            hint="keep it secret; name the .pub file that belongs to it",
        )
    try:
        if content.lstrip().startswith(b"-----"):
            key: object = load_pem_public_key(content)
        elif content.lstrip().startswith((b"ssh-", b"ecdsa-", b"sk-")):
            key = load_ssh_public_key(content.strip())
        else:
            key = load_der_public_key(content)
    except _KEY_FAILURES:
        raise BadKey(
            f"{name} is not a public key", hint="expected SPKI as PEM or DER, or OpenSSH"
        ) from None
    if not isinstance(key, Ed25519PublicKey):
        raise BadKey(f"{name} is {_algorithm(key)}, expected Ed25519")
    raw = key.public_bytes_raw()
    if raw[:-1] + bytes([raw[-1] & 0x7F]) in _SMALL_ORDER:
        raise BadKey(f"{name} is no one's key: its signatures can be made without a private key")
    return PublicKey(raw)


def parse_private_key(
    content: bytes, name: str = "the key", passphrase: Callable[[], str | None] = lambda: None
) -> PrivateKey:
    """Read a private key: PKCS8 as PEM, or OpenSSH.

    Args:
        content: The content of a file.
        name: What to call it in errors.
        passphrase: Called only if the key is encrypted.

    Raises:
        BadKey: It is no private key, not Ed25519, or the passphrase is missing or wrong.
    """
    if not _is_private(content):
        raise BadKey(f"{name} is not a private key", hint="expected PKCS8 as PEM, or OpenSSH")
    load = load_ssh_private_key if _OPENSSH_PRIVATE in content else load_pem_private_key
    key: object
    try:
        key = load(content, password=None)
    except TypeError:  # it is encrypted
        key = _decrypt(load, content, name, passphrase())
    except _KEY_FAILURES:
        key = _decrypt(load, content, name, passphrase()) if _looks_encrypted(content) else None
    if key is None:
        raise BadKey(f"{name} is damaged", hint="expected PKCS8 as PEM, or OpenSSH")
    if not isinstance(key, Ed25519PrivateKey):
        raise BadKey(f"{name} is {_algorithm(key)}, expected Ed25519")
    return PrivateKey(key)


def _decrypt(
    load: Callable[..., object], content: bytes, name: str, passphrase: str | None
) -> object:
    if not passphrase:
        raise BadKey(f"{name} is encrypted and there is no passphrase")
    try:
        return load(content, password=passphrase.encode())
    except _KEY_FAILURES:
        raise BadKey(f"{name}: wrong passphrase") from None


def _encryption(passphrase: str | None) -> KeySerializationEncryption:
    return BestAvailableEncryption(passphrase.encode()) if passphrase else NoEncryption()


def _is_private(content: bytes) -> bool:
    return any(label.endswith(b"PRIVATE KEY") for label in _PEM.findall(content))


def _looks_encrypted(content: bytes) -> bool:
    return b"ENCRYPTED" in content


def _algorithm(key: object) -> str:
    """Return what a key is, such as `a key for RSA`."""
    name = type(key).__name__.lstrip("_")
    for part in ("Key", "Public", "Private", "OpenSSL"):
        name = name.replace(part, "")
    return f"a key for {name}"
