"""`vibes keys`: the keys that sign attestations, and whose keys are trusted."""

from __future__ import annotations

import os
import secrets
import sys
from contextlib import suppress
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Final

import click

from vibes_lsp.attestation.key_files import (
    PRIVATE_KEY_NAME,
    PUBLIC_KEY_NAME,
    default_key_folder,
    load_private_key,
    load_public_key,
    refuse_existing_key,
    save_key_pair,
    write_key_file,
)
from vibes_lsp.attestation.keys import PrivateKey, Signer, generate_private_key
from vibes_lsp.attestation.trusted_keys import (
    Role,
    TrustedKey,
    read_trusted_keys,
    trust_keys,
)
from vibes_lsp.cli.options import examples, json_option
from vibes_lsp.cli.output import escape, print_json, print_line, print_warning
from vibes_lsp.cli.tables import print_table
from vibes_lsp.errors import BadKey, VibesError
from vibes_lsp.store.files import is_inside, read_file

PASSPHRASE_VARIABLE: Final = "VIBES_KEY_PASSPHRASE"
_KEYRING_SERVICE: Final = "vibes"
_AGENT: Final = "agent:"

keys_dir_option: Final = click.option(
    "--keys-dir",
    type=click.Path(path_type=Path),
    metavar="DIR",
    help="Folder of keys.  [default: ~/.vibescheck/keys]",
)


def key_folder(keys_dir: Path | None) -> Path:
    """Return the folder that `--keys-dir` names, else that in the user's home."""
    return keys_dir if keys_dir is not None else default_key_folder()


def ask_passphrase(path: Path) -> str | None:
    """Return the passphrase of a key: from the environment, the keyring, or the terminal."""
    passphrase = os.environ.get(PASSPHRASE_VARIABLE) or _keyring_passphrase(path)
    if passphrase:
        return passphrase
    if not sys.stdin.isatty():
        raise BadKey(
            f"{path} is encrypted and there is no terminal to ask for the passphrase",
            hint=f"set {PASSPHRASE_VARIABLE}",
        )
    return str(click.prompt(f"Passphrase of {path}", hide_input=True, err=True))


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


def _keyring_passphrase(path: Path) -> str | None:
    """Return the passphrase that the system's keyring has for a key file; None without keyring."""
    try:
        import keyring  # noqa: PLC0415  # optional
        from keyring.errors import KeyringError  # noqa: PLC0415
    except ModuleNotFoundError:
        return None
    with suppress(KeyringError):
        return keyring.get_password(_KEYRING_SERVICE, str(path.absolute()))
    return None


def _store_in_keyring(path: Path, passphrase: str) -> None:
    """Store the passphrase of a key file in the system's keyring.

    Raises:
        VibesError: There is no keyring, or it refuses.
    """
    try:
        import keyring  # noqa: PLC0415  # optional
        from keyring.errors import KeyringError  # noqa: PLC0415
    except ModuleNotFoundError:
        raise VibesError(
            "the keyring needs the package keyring",
            hint="in a checkout of vibes-lsp, run `pip install '.[keyring]'`",
        ) from None
    try:
        keyring.set_password(_KEYRING_SERVICE, str(path.absolute()), passphrase)
    except KeyringError as error:
        raise VibesError(
            f"the system's keyring refuses: {error}", hint="use --passphrase instead"
        ) from None


def _forget_in_keyring(path: Path) -> None:
    """Delete the passphrase of the key that was in a file before: it is not that of the new one."""
    if not _keyring_passphrase(path):
        return
    import keyring  # noqa: PLC0415  # optional
    from keyring.errors import KeyringError  # noqa: PLC0415

    try:
        keyring.delete_password(_KEYRING_SERVICE, str(path.absolute()))
    except KeyringError as error:
        print_warning(f"the system's keyring keeps the passphrase of the former key: {error}")


def known_keys(folder: Path) -> tuple[TrustedKey, ...]:
    """Return the trusted keys, and the user's own.

    Raises:
        BadKey: A file cannot be parsed.
    """
    own = folder / PUBLIC_KEY_NAME
    own_keys = (TrustedKey(load_public_key(own), Role.USER, "you"),) if own.exists() else ()
    return (*own_keys, *read_trusted_keys(folder))


@click.group("keys", epilog=examples("vibes keys generate", "vibes keys trust ada.pub --name Ada"))
def command() -> None:
    """Manage the keys that sign attestations."""


@command.command(
    "generate",
    epilog=examples("vibes keys generate", "vibes keys generate --from ~/.ssh/id_ed25519"),
)
@click.option("--passphrase", is_flag=True, help="Encryption by a passphrase.")
@click.option("--keyring", is_flag=True, help="Encryption by the system's keyring.")
@click.option(
    "--from",
    "source",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Existing private key, PEM or OpenSSH, instead of a new one.",
)
@click.option("--replace", is_flag=True, help="Replace the existing key. This cannot be undone.")
@keys_dir_option
@json_option
def generate_command(  # noqa: PLR0917
    passphrase: bool,
    keyring: bool,
    source: Path | None,
    replace: bool,
    keys_dir: Path | None,
    as_json: bool,
) -> None:
    """Create your key pair.

    The private key can be read by you only. Give the public key to those who verify.
    """
    if passphrase and keyring:
        raise click.UsageError("give --passphrase or --keyring, not both")
    folder = key_folder(keys_dir)
    secret: str | None = None
    if source is None:
        key = generate_private_key()
    else:
        key, secret = _load_with_passphrase(source)
    private, public = folder / PRIVATE_KEY_NAME, folder / PUBLIC_KEY_NAME
    refuse_existing_key(folder, replace=replace)
    is_replaced = private.is_file()
    if keyring:
        secret = secrets.token_urlsafe(32)
    elif passphrase:
        secret = _new_passphrase()
    before = _keyring_passphrase(private) if keyring else None
    if keyring and secret:
        _store_in_keyring(private, secret)
    try:
        save_key_pair(folder, key, passphrase=secret, replace=replace)
    except VibesError:
        if keyring and before:  # the key that is still there needs it
            _store_in_keyring(private, before)
        raise
    if is_replaced and secret and not keyring:
        _forget_in_keyring(private)
    if as_json:
        print_json(
            {
                "keyId": key.key_id,
                "sha256": key.public.fingerprint,
                "privateKey": str(private),
                "publicKey": str(public),
            }
        )
        return
    print_line(f"Key {key.key_id}")
    print_line(f"  private  {escape(private)}")
    print_line(f"  public   {escape(public)}")
    print_line(f"  SHA-256  {key.public.fingerprint}")
    print_line("Keep the private key out of every repository; publish the public one.")


def _load_with_passphrase(path: Path) -> tuple[PrivateKey, str | None]:
    """Return a key and its passphrase, so that what was encrypted stays encrypted; else None."""
    passphrase = cache(lambda: ask_passphrase(path))
    key = load_private_key(path, passphrase)
    return key, passphrase() if passphrase.cache_info().currsize else None


def _new_passphrase() -> str:
    passphrase = os.environ.get(PASSPHRASE_VARIABLE)
    if passphrase:
        return passphrase
    if not sys.stdin.isatty():
        raise VibesError(
            "there is no terminal to ask for a passphrase", hint=f"set {PASSPHRASE_VARIABLE}"
        )
    return str(click.prompt("Passphrase", hide_input=True, confirmation_prompt=True, err=True))


@command.command("list")
@keys_dir_option
@json_option
def list_command(keys_dir: Path | None, as_json: bool) -> None:
    """List your key and those you trust."""
    keys = known_keys(key_folder(keys_dir))
    if as_json:
        print_json(
            {
                "keys": [
                    {**known_key.as_json(), "sha256": known_key.key.fingerprint}
                    for known_key in keys
                ]
            }
        )
        return
    if not keys:
        print_line("No keys. Create yours with `vibes keys generate`.")
        return
    print_table(
        ("key", "role", "status", "name", "SHA-256"),
        [
            (
                known_key.declared_id,
                known_key.role.value,
                known_key.status.value,
                known_key.name,
                known_key.key.fingerprint,
            )
            for known_key in keys
        ],
    )


@command.command("export", epilog=examples("vibes keys export --openssh"))
@click.option("--openssh", is_flag=True, help="OpenSSH encoding.  [default: PEM]")
@click.option("--output", type=click.Path(path_type=Path), metavar="FILE", help="File to write.")
@keys_dir_option
def export_command(openssh: bool, output: Path | None, keys_dir: Path | None) -> None:
    """Print your public key for those who verify."""
    public = load_public_key(key_folder(keys_dir) / PUBLIC_KEY_NAME)
    text = public.openssh + "\n" if openssh else public.pem
    if output is None:
        print_line(text.removesuffix("\n"))
    elif output.exists():
        raise VibesError(f"{output} exists", hint="name another file")
    else:
        write_key_file(output, text.encode())


@command.command(
    "trust",
    epilog=examples(
        "vibes keys trust ada.pub --name Ada",
        "vibes keys trust tool.pub --provider 'Example Inc.' --key-id example-2026-01",
        "vibes keys trust https://example.org/vibes/vibes-signing-keys.json",
    ),
)
@click.argument("source", metavar="FILE|URL")
@click.option("--name", metavar="NAME", help="Person whose key it is.")
@click.option("--provider", metavar="NAME", help="Tool provider whose key it is.")
@click.option("--key-id", metavar="ID", help="Id in its signatures.  [default: from the key]")
@keys_dir_option
@json_option
def trust_command(  # noqa: PLR0917
    source: str,
    name: str | None,
    provider: str | None,
    key_id: str | None,
    keys_dir: Path | None,
    as_json: bool,
) -> None:
    """Trust a public key that you got from its owner.

    Also takes the key document of a tool provider, as a URL or a file; it names the provider, and
    --provider replaces that name. Compare the printed SHA-256 with the owner in another way
    than the file came.
    """
    folder = key_folder(keys_dir)
    document = _key_document(source)
    if document is not None:
        if name is not None or key_id is not None:
            raise click.UsageError("--name and --key-id are not for a provider's key document")
        added = [
            replace(trusted_key, name=provider or trusted_key.name) for trusted_key in document
        ]
    elif (name is None) == (provider is None):
        raise click.UsageError("give --name or --provider")
    else:
        role = Role.USER if provider is None else Role.TOOL_PROVIDER
        key = load_public_key(Path(source))
        added = [TrustedKey(key, role, name or provider or "", key_id or "")]
    trust_keys(folder, added)
    if as_json:
        print_json({"keys": [trusted_key.as_json() for trusted_key in added]})
        return
    for trusted_key in added:
        print_line(
            f"Trusted: {trusted_key.declared_id} is the key of {escape(trusted_key.name, 100)}"
        )
        print_line(f"  SHA-256 of the key: {trusted_key.key.fingerprint}")


def _key_document(source: str) -> tuple[TrustedKey, ...] | None:
    """Return the keys of a provider's document, from a URL or a file; None for another file."""
    from vibes_lsp.attestation.cosigning import (  # noqa: PLC0415  # few calls need it
        MAX_KEY_DOCUMENT,
        fetch_key_document,
        parse_key_document,
    )

    if source.startswith(("https://", "http://")):
        return fetch_key_document(source)
    content = read_file(Path(source), limit=MAX_KEY_DOCUMENT) or b""
    return parse_key_document(content) if content.lstrip().startswith(b"{") else None
