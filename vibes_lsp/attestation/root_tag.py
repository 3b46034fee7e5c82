"""A signed git tag with the Merkle root over the manifest of its commit (RFC 13.2)."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from vibes_lsp.attestation.merkle import ALGORITHM, EntryTree, attested_tree, entry_tree
from vibes_lsp.errors import HistoryUnavailable
from vibes_lsp.git.repository import Repository
from vibes_lsp.git.signed_tags import (
    SignedTag,
    TagVerdict,
    check_signed_tag,
    create_signed_tag,
)
from vibes_lsp.model.members import Members
from vibes_lsp.store.audit_dir import AuditDir
from vibes_lsp.store.manifest import ManifestForm, parse_manifest, read_manifest

_ROOT_LINE: Final = re.compile(
    rf"^Vibes-Manifest-Root: {ALGORITHM}:(?P<root>[0-9a-f]{{64}}) (?P<size>\d{{1,12}})$",
    re.MULTILINE,
)


@dataclass(frozen=True, slots=True)
class RootTag:
    """A signed tag, and what its root covers.

    Attributes:
        tag: The tag with its signature.
        root: The root that its message has; None without one.
        size: The number of entries of that root.
        of_commit: Whether it is the root of the manifest in the tagged commit.
        added: The number of entries that the present manifest has besides those; None if these are
            not all there, or were changed.
    """

    tag: SignedTag
    root: str | None
    size: int
    of_commit: bool
    added: int | None

    @property
    def passed(self) -> bool:
        """Whether the signature is good and covers entries that are all unchanged."""
        return self.tag.verdict is TagVerdict.GOOD and self.of_commit and self.added is not None

    def as_json(self) -> Members:
        """Return the shape of `vibes verify --tag NAME --json`."""
        return {
            "tag": self.tag.name,
            "commit": self.tag.commit,
            "verdict": self.tag.verdict.value,
            "reason": self.tag.reason,
            "root": self.root,
            "entries": self.size,
            "ofCommit": self.of_commit,
            "added": self.added,
        }


def tag_root(repository: Repository, directory: AuditDir, name: str, revision: str) -> RootTag:
    """Create a signed tag with the root over the manifest of a commit, and read it back.

    Raises:
        HistoryUnavailable: The revision names no commit, or the commit has no manifest.
        MalformedJson: An entry cannot be hashed (R1).
        RefusedWrite: The tag exists, its name is invalid, or git cannot sign.
    """
    commit = repository.resolve(revision)
    tree = _tree_of_commit(repository, directory, commit)
    if tree is None:
        raise HistoryUnavailable(
            f"commit {commit[:8]} has no manifest that can be read",
            hint="commit .ai-audit/manifest.json first",
        )
    message = (
        f"Audit trail of {commit[:12]}: {tree.size:,} entries\n\n"
        f"Vibes-Manifest-Root: {ALGORITHM}:{tree.root} {tree.size}\n"
    )
    create_signed_tag(repository, name, message, commit)
    return verify_root_tag(repository, directory, name)


def verify_root_tag(
    repository: Repository, directory: AuditDir, name: str, allowed_signers: Path | None = None
) -> RootTag:
    """Check a tag's signature, and its root against the tagged commit and the present manifest.

    Args:
        repository: The repository.
        directory: The trail.
        name: The name of the tag.
        allowed_signers: The file of SSH keys that count; by default that of the user's own
            configuration.

    Raises:
        HistoryUnavailable: There is no such tag.
        MalformedJson: An entry of the present manifest cannot be hashed (R1).
    """
    tag = check_signed_tag(repository, name, allowed_signers)
    root_line = _ROOT_LINE.search(tag.message)
    if root_line is None:
        return RootTag(tag, None, 0, of_commit=False, added=None)
    root, size = root_line["root"], int(root_line["size"])
    tagged = _tree_of_commit(repository, directory, tag.commit)
    of_commit = tagged is not None and (tagged.root, tagged.size) == (root, size)
    manifest = read_manifest(directory, waiting=False)
    present = entry_tree(manifest)
    covered = tagged if of_commit else attested_tree(manifest, present, root, size)
    added = None
    if covered is not None and covered.leaves.items() <= present.leaves.items():
        added = present.size - covered.size
    return RootTag(tag, root, size, of_commit, added)


def _tree_of_commit(repository: Repository, directory: AuditDir, commit: str) -> EntryTree | None:
    content = repository.read_file_below(commit, directory.path, directory.manifest.name)
    manifest = parse_manifest(content)
    if manifest.form in {ManifestForm.ABSENT, ManifestForm.BROKEN}:
        return None
    return entry_tree(manifest)
