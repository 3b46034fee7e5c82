"""Keys: RFC 8032's vectors, RFC 11.3's identifier and files, PEM and OpenSSH in and out."""

from __future__ import annotations

import base64
import errno
import hashlib
import os
import signal
import stat
import subprocess
from pathlib import Path
from typing import Any

import pytest
from cryptography.hazmat.primitives.asymmetric import ec, ed448, rsa, x25519
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    NoEncryption,
    PrivateFormat,
    PublicFormat,
)
from hypothesis import given
from hypothesis import strategies as st

from tests.requirements import require
from tests.unit.attestation.attested_trail import private_key, public_key
from vibes_lsp.attestation.key_files import load_private_key, load_public_key, save_key_pair
from vibes_lsp.attestation.keys import (
    PrivateKey,
    PublicKey,
    generate_private_key,
    parse_private_key,
    parse_public_key,
)
from vibes_lsp.attestation.trusted_keys import parse_trusted_key
from vibes_lsp.errors import BadKey, RefusedWrite
from vibes_lsp.model.members import Members

VECTORS = [  # RFC 8032, 7.1: secret key, public key, message, signature
    (
        "9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60",
        "d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a",
        "",
        "e5564300c360ac729086e2cc806e828a84877f1eb8e5d974d873e065224901555fb8821590a33bacc61e39701cf9b46bd25bf5f0595bbe24655141438e7a100b",
    ),
    (
        "4ccd089b28ff96da9db6c346ec114e0f5b8a319f35aba624da8cf6ed4fb8a6fb",
        "3d4017c3e843895a92b70aa74d1b7ebc9c982ccf2ec4968cc0cd55f12af4660c",
        "72",
        "92a009a9f0d4cab8720e820b5f642540a2b27b5416503f8fb3762223ebdb69da085ac1e43e15996e458f3613d0f11d8c387b2eaeb4302aeeb00d291612bb0c00",
    ),
    (
        "c5aa8df43f9f837bedb7442f31dcb7b166d38535076f094b85ce3a2e0b4458f7",
        "fc51cd8e6218a1a38da47ed00230f0580816ed13ba3303ac5deb911548908025",
        "af82",
        "6291d657deec24024827e69c3abe01a30ce548a284743a445e3680d7db5ac3ac18ff9b538d16f290ae67f760984dc6594a7c15e9716ed28dc027beceea1ec40a",
    ),
    (
        "833fe62409237b9d62ec77587520911e9a759cec1d19755b7da901b96dca3d42",
        "ec172b93ad5e563bf4932c70e1245034c35467ef2efd4d64ebf819683467e2bf",
        hashlib.sha512(b"abc").hexdigest(),
        "dc2a4459e7369633a52b1bf277839a00201009a3efbf3ecb69bea2186c26b58909351fc9ac90b3ecfdfbc7c66431e0303dca179c138ac17ad9bef1177331a704",
    ),
]


@pytest.mark.parametrize(("secret", "public", "message", "signature"), VECTORS)
def test_signatures_are_those_of_rfc_8032(
    secret: str, public: str, message: str, signature: str
) -> None:
    key = PrivateKey(Ed25519PrivateKey.from_private_bytes(bytes.fromhex(secret)))
    assert key.public.raw.hex() == public
    assert key.sign(bytes.fromhex(message)).hex() == signature
    assert key.public.verifies(bytes.fromhex(signature), bytes.fromhex(message))
    assert not key.public.verifies(bytes.fromhex(signature), bytes.fromhex(message) + b"\0")


def test_a_signature_has_one_form_only() -> None:
    """S plus the group's order is refused (RFC 8032, 5.1.7): no second signature can be derived."""
    order = 2**252 + 27742317777372353535851937790883648493
    signature = private_key(1).sign(b"m")
    scalar = int.from_bytes(signature[32:], "little") + order
    assert not public_key(1).verifies(signature[:32] + scalar.to_bytes(32, "little"), b"m")


def test_the_identifier_is_the_beginning_of_the_digest_of_the_der_encoding() -> None:
    text = "".join(public_key(1).pem.splitlines()[1:-1])
    der = base64.b64decode(text)
    assert der.startswith(bytes.fromhex("302a300506032b6570032100")), "Ed25519 (RFC 8410, 4)"
    assert public_key(1).key_id == hashlib.sha256(der).hexdigest()[:16]


@pytest.mark.skipif(os.name != "posix", reason="modes of POSIX")
def test_the_files_have_the_modes_of_the_standard(tmp_path: Path) -> None:
    folder = tmp_path / "new" / "keys"
    save_key_pair(folder, generate_private_key())
    modes = {path.name: stat.S_IMODE(path.stat().st_mode) for path in folder.iterdir()}
    assert modes == {"vibescheck.key": 0o600, "vibescheck.pub": 0o644}
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700


def test_a_key_is_replaced_only_when_told(tmp_path: Path) -> None:
    save_key_pair(tmp_path, PrivateKey(private_key(1)))
    with pytest.raises(RefusedWrite, match="exists"):
        save_key_pair(tmp_path, PrivateKey(private_key(2)))
    assert load_private_key(tmp_path / "vibescheck.key").public == public_key(1)
    save_key_pair(tmp_path, PrivateKey(private_key(2)), replace=True)
    assert load_public_key(tmp_path / "vibescheck.pub") == public_key(2)


@pytest.mark.parametrize("flushes", [0, 1])
def test_on_a_full_disk_the_key_pair_stays_as_it_was(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, flushes: int
) -> None:
    save_key_pair(tmp_path, PrivateKey(private_key(1)))
    before = {path: path.read_bytes() for path in tmp_path.iterdir()}
    left = [flushes]

    def flush(_: int) -> None:
        left[0] -= 1
        if left[0] < 0:
            raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr("vibes_lsp.store.files.flush_to_disk", flush)
    with pytest.raises(RefusedWrite, match="No space left"):
        save_key_pair(tmp_path, PrivateKey(private_key(2)), replace=True)
    assert {path: path.read_bytes() for path in tmp_path.iterdir()} == before


@pytest.mark.skipif(not hasattr(os, "fork"), reason="kills forked processes")
@pytest.mark.parametrize("replaced", [0, 1])
def test_what_a_killed_program_left_of_a_key_pair_is_in_nobodys_way(
    tmp_path: Path, replaced: int
) -> None:
    child = os.fork()
    if child == 0:
        real, left = os.replace, [replaced]

        def replace(*paths: Any) -> None:
            if left[0] == 0:
                os.kill(os.getpid(), signal.SIGKILL)
            left[0] -= 1
            real(*paths)

        os.replace = replace  # type: ignore[assignment]
        save_key_pair(tmp_path, PrivateKey(private_key(1)))
        os._exit(0)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == -signal.SIGKILL
    assert any(path.suffix == ".tmp" for path in tmp_path.iterdir())
    save_key_pair(tmp_path, PrivateKey(private_key(2)))
    assert {path.name for path in tmp_path.iterdir()} == {"vibescheck.key", "vibescheck.pub"}
    assert load_public_key(tmp_path / "vibescheck.pub") == public_key(2)


@pytest.mark.skipif(os.name != "posix", reason="modes of POSIX")
@pytest.mark.parametrize("mode", [0o640, 0o604, 0o666])
def test_a_private_key_that_others_can_read_is_refused(tmp_path: Path, mode: int) -> None:
    save_key_pair(tmp_path, PrivateKey(private_key(1)))
    (tmp_path / "vibescheck.key").chmod(mode)
    with pytest.raises(BadKey, match="can be read by others"):
        load_private_key(tmp_path / "vibescheck.key")


@pytest.mark.parametrize("openssh", [False, True])
@pytest.mark.parametrize("passphrase", [None, "correct horse"])
def test_a_private_key_survives_writing_and_reading(openssh: bool, passphrase: str | None) -> None:
    key = PrivateKey(private_key(1))
    data = key.openssh(passphrase) if openssh else key.pem(passphrase)
    assert parse_private_key(data, passphrase=lambda: passphrase).public == key.public
    if passphrase:
        assert passphrase.encode() not in data
        with pytest.raises(BadKey, match="wrong passphrase"):
            parse_private_key(data, passphrase=lambda: "wrong")
        with pytest.raises(BadKey, match="no passphrase"):
            parse_private_key(data)


def test_keys_of_openssh_are_read(tmp_path: Path) -> None:
    require("ssh-keygen", "makes a key of OpenSSH")
    path = tmp_path / "id_ed25519"
    command = ["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(path), "-C", "ada@example"]
    subprocess.run(command, check=True)
    assert load_private_key(path).public == load_public_key(path.with_suffix(".pub"))


def _other_keys() -> dict[str, bytes]:
    keys: dict[str, Any] = {
        "RSA": rsa.generate_private_key(public_exponent=65537, key_size=2048),
        "EC": ec.generate_private_key(ec.SECP256R1()),
        "Ed448": ed448.Ed448PrivateKey.generate(),
        "X25519": x25519.X25519PrivateKey.generate(),
    }
    return {
        name: key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
        + key.public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo)
        for name, key in keys.items()
    }


@pytest.mark.parametrize(("name", "data"), _other_keys().items(), ids=lambda value: str(value)[:9])
def test_a_key_for_another_algorithm_is_refused(name: str, data: bytes) -> None:
    private, _, public = data.partition(b"-----BEGIN PUBLIC")
    with pytest.raises(BadKey, match=f"{name}.*expected Ed25519"):
        parse_private_key(private)
    with pytest.raises(BadKey, match=f"{name}.*expected Ed25519"):
        parse_public_key(b"-----BEGIN PUBLIC" + public)


def test_a_private_key_is_never_taken_for_a_public_one() -> None:
    with pytest.raises(BadKey, match="is a private key"):
        parse_public_key(PrivateKey(private_key(1)).pem())
    assert "raw" not in repr(PrivateKey(private_key(1)))


@given(st.binary(max_size=200))
def test_any_bytes_are_a_key_or_are_refused(data: bytes) -> None:
    for head in (
        b"",
        b"-----BEGIN PUBLIC KEY-----\n",
        b"ssh-ed25519 ",
        b"-----BEGIN PRIVATE KEY-----\n",
    ):
        for parse in (parse_public_key, parse_private_key):
            try:
                found = parse(head + data)
            except BadKey:
                continue
            assert isinstance(found, PublicKey | PrivateKey)


WEAK = [
    "00" * 32,
    "01" + "00" * 31,
    "01" + "00" * 30 + "80",
    "26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05",
    "26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc85",
    "c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a",
    "ec" + "ff" * 30 + "7f",
]


@pytest.mark.parametrize("raw", WEAK)
def test_a_key_whose_signatures_anyone_can_make_is_refused(raw: str) -> None:
    """Such a key accepts the signature R = identity, S = 0, which needs no private key."""
    weak = PublicKey(bytes.fromhex(raw))
    forged = bytes([1]) + bytes(63)
    assert any(weak.verifies(forged, b"%d" % number) for number in range(500))
    with pytest.raises(BadKey, match="no one's key"):
        parse_public_key(weak.pem.encode())
    with pytest.raises(BadKey, match="no one's key"):
        parse_public_key(weak.openssh.encode())


def test_a_trusted_key_with_text_that_is_no_unicode_is_refused() -> None:
    key: Members = {
        "algorithm": "Ed25519",
        "role": "tool-provider",
        "public_key_pem": "-----B \ud800",
    }
    with pytest.raises(BadKey, match=r"keys\[0\]\.public_key_pem is not a public key"):
        parse_trusted_key(key, "keys[0]")
