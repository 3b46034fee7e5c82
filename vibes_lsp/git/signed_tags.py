"""Signed git tags, made and checked by git with GPG or SSH keys.

Git runs a program to sign and to verify. Only the user's and the system's configuration may name
it, and whose keys count; a repository's configuration may not.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Final

from vibes_lsp.errors import HistoryUnavailable, RefusedWrite
from vibes_lsp.git.process import GitVerdict, git_setting, git_verdict, run_git, user_setting
from vibes_lsp.git.repository import Repository

_USERS_OWN: Final = {
    "gpg.program": "gpg",
    "gpg.openpgp.program": "gpg",
    "gpg.x509.program": "gpgsm",
    "gpg.ssh.program": "ssh-keygen",
    "gpg.ssh.defaultKeyCommand": "",
    "gpg.ssh.allowedSignersFile": os.devnull,
    "gpg.ssh.revocationFile": os.devnull,
    "gpg.minTrustLevel": "undefined",
}
"""Settings that name programs or decide whose signature is good, and git's defaults."""
_BAD: Final = ("[GNUPG:] BADSIG", "incorrect signature", "Signature verification failed")
_MAX_REASON: Final = 200


class TagVerdict(StrEnum):
    """The result of checking the signature of a tag."""

    GOOD = "good"
    BAD = "bad"
    UNCHECKED = "unchecked"


@dataclass(frozen=True, slots=True)
class SignedTag:
    """A tag object with the result of checking its signature.

    Attributes:
        name: Its name.
        commit: The commit that it names, a full hash.
        message: Its message without the signature.
        verdict: The result.
        reason: What git says of the signature.
    """

    name: str
    commit: str
    message: str
    verdict: TagVerdict
    reason: str


def create_signed_tag(repository: Repository, name: str, message: str, commit: str) -> None:
    """Create a signed tag; an existing tag is never replaced.

    Args:
        repository: The repository.
        name: The name of the tag.
        message: Its message.
        commit: The commit to tag, a full hash.

    Raises:
        RefusedWrite: The name is invalid or taken, or there is no key to sign with.
    """
    _require_tag_name(repository, name)
    settings = _settings(repository)
    is_ssh = git_setting(repository.root, "gpg.format") == "ssh"
    if is_ssh and not (
        git_setting(repository.root, "user.signingkey") or settings["gpg.ssh.defaultKeyCommand"]
    ):
        raise RefusedWrite(
            "git has no key to sign with: user.signingkey is not set",
            hint="git config --global user.signingkey ~/.ssh/id_ed25519.pub",
        )
    try:
        run_git(
            repository.root,
            *_as_options(settings),
            "tag",
            "--sign",
            "--message",
            message,
            name,
            commit,
        )
    except HistoryUnavailable as error:
        raise RefusedWrite(
            f"the tag {name!r} was not created: {error.message}",
            hint="`git tag --sign` must work: see gpg.format and user.signingkey in `git config`",
        ) from error


def check_signed_tag(
    repository: Repository, name: str, allowed_signers: Path | None = None
) -> SignedTag:
    """Read a tag and check its signature.

    Args:
        repository: The repository.
        name: The name of the tag.
        allowed_signers: The file of SSH keys that count, in place of the one that the user's
            configuration names.

    Raises:
        HistoryUnavailable: There is no such tag, or it is not annotated.
    """
    _require_tag_name(repository, name)
    ref = f"refs/tags/{name}"
    try:
        content = run_git(repository.root, "cat-file", "tag", ref).decode("utf-8", "replace")
        commit = repository.resolve(f"{ref}^{{commit}}")
    except HistoryUnavailable:
        raise HistoryUnavailable(
            f"there is no annotated tag {name!r}", hint="create one with `vibes attest --tag NAME`"
        ) from None
    settings = _settings(repository)
    if allowed_signers is not None:
        settings["gpg.ssh.allowedSignersFile"] = str(allowed_signers.absolute())
    verified = git_verdict(repository.root, *_as_options(settings), "verify-tag", "--raw", ref)
    message = content.partition("\n\n")[2]
    for armour in ("-----BEGIN PGP SIGNATURE", "-----BEGIN SSH SIGNATURE", "-----BEGIN SIGNED"):
        message = message.partition(armour)[0]
    return SignedTag(name, commit, message, *_judge(verified))


def _judge(verified: GitVerdict) -> tuple[TagVerdict, str]:
    said = verified.messages
    lines = [line.strip().removeprefix("error: ") for line in said.splitlines()]
    telling = [
        line.removeprefix("[GNUPG:] ")
        for line in lines
        if "SIG " in line or " signature with " in line or "incorrect signature" in line
    ]
    reason = (telling or [line for line in lines if line] or ["no signature found"])[0]
    reason = reason[:_MAX_REASON]
    if verified.succeeded:
        return TagVerdict.GOOD, reason
    if any(sign in said for sign in _BAD):
        return TagVerdict.BAD, reason
    if "No principal matched" in said:
        return TagVerdict.UNCHECKED, f"{reason}, which no file of allowed signers has"
    return TagVerdict.UNCHECKED, reason


def _require_tag_name(repository: Repository, name: str) -> None:
    checked = git_verdict(repository.root, "check-ref-format", f"refs/tags/{name}")
    if not checked.succeeded or name.startswith("-"):
        raise RefusedWrite(f"{name[:80]!r} is not a name for a tag")


def _settings(repository: Repository) -> dict[str, str]:
    """Return the settings in `_USERS_OWN` without what the repository's configuration says."""
    settings = {
        name: user_setting(name, repository.root) or default for name, default in _USERS_OWN.items()
    }
    if settings["gpg.openpgp.program"] == "gpg":  # it would override the older name
        settings["gpg.openpgp.program"] = settings["gpg.program"]
    return settings


def _as_options(settings: dict[str, str]) -> list[str]:
    return [part for name, value in settings.items() for part in ("-c", f"{name}={value}")]
