"""Is the trail on disk the one that HEAD holds? Attributes and filters can make one file of another on checkout; git's objects are what is merged."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from vibes_lsp.checks import catalogue
from vibes_lsp.checks.finding import Finding, Severity, counted
from vibes_lsp.checks.subject import Subject
from vibes_lsp.errors import UnreadableFile
from vibes_lsp.history.objects import TreeEntry, list_tree
from vibes_lsp.history.repository import Repository
from vibes_lsp.model.canonical import same_value
from vibes_lsp.model.members import Members
from vibes_lsp.store.config import LoadedConfig, parse_config
from vibes_lsp.store.disk import read_file
from vibes_lsp.store.layout import AUDIT_DIR_NAME, CONFIG_NAME, LOG_NAME, MANIFEST_NAME, AuditDir
from vibes_lsp.store.manifest import ManifestForm, parse_manifest

_NOTHING = TreeEntry("000000", "")
_NAMES = (CONFIG_NAME, LOG_NAME, MANIFEST_NAME)


@dataclass(frozen=True, slots=True)
class CheckoutSides:
    """What a change is compared by.

    Attributes:
        repository: Where both are.
        base: The commit that counts, a whole hash.
        head: The commit of HEAD.
    """

    repository: Repository
    base: str
    head: str


def lines_of(data: bytes | None) -> list[bytes]:
    """Return the lines of a log, whatever line ends a checkout has given them."""
    return [line.rstrip(b"\r") for line in (data or b"").split(b"\n")]


def read_trail(repository: Repository, directory: AuditDir, commit: str, name: str) -> bytes | None:
    """Return a file of the trail as a commit has it; what a link of that name leads to now does not matter."""
    return repository.read_below(commit, directory.project, f"{directory.path.name}/{name}")


def same_entry(one: Members | None, other: Members | None) -> bool:
    """Whether two entries are one but for the time at which they were recorded, which no key covers (RFC 5.2) and merges choose."""
    if one is None or other is None:
        return False
    return same_value({**one, "created_at": None}, {**other, "created_at": None})


def log_on_disk(directory: AuditDir) -> list[bytes]:
    """Return the lines of the log as it is; none where it cannot be read."""
    try:
        return lines_of(read_file(directory.log))
    except UnreadableFile:
        return []


def committed_policy(subject: Subject, sides: CheckoutSides) -> LoadedConfig | None:
    """Return the policy that HEAD holds, where the one on disk is another."""
    held = read_trail(sides.repository, subject.directory, sides.head, CONFIG_NAME)
    if held is None or lines_of(held) == lines_of(subject.config.data):
        return None
    return parse_config(held)


def check_checkout(subject: Subject, sides: CheckoutSides) -> Iterator[Finding]:
    """Findings about what HEAD holds and the disk does not, about trails in folders, and about files that are none in git.

    Raises:
        HistoryUnavailable: Git cannot answer.
    """
    project = subject.directory.project
    before, now = (
        list_tree(sides.repository, commit, project) for commit in (sides.base, sides.head)
    )
    yield from _kinds(subject, before, now)
    yield from _nested(subject, before, now)
    yield from _log(subject, sides)
    yield from _manifest(subject, sides)


def _kinds(
    subject: Subject, before: Mapping[str, TreeEntry], now: Mapping[str, TreeEntry]
) -> Iterator[Finding]:
    folder = subject.directory.path.name
    whole = now.get(folder)
    if (
        whole is not None
        and before.get(folder, _NOTHING).mode != whole.mode
        and not subject.directory.path.is_symlink()
    ):
        yield Finding(catalogue.BASE_FILE, f"the audit directory is {_kind(whole)} in HEAD", folder)
    for name in _NAMES:
        entry = now.get(f"{folder}/{name}")
        if (
            entry is None
            or entry.is_file
            or before.get(f"{folder}/{name}", _NOTHING).mode == entry.mode
        ):
            continue
        if not (subject.directory.path / name).is_symlink():
            yield Finding(
                catalogue.BASE_FILE, f"{name} is {_kind(entry)} in HEAD", subject.file(name)
            )
    journal = f"{folder}/{subject.directory.journal.name}/"
    for path, entry in now.items():
        if path.startswith(journal) and before.get(path) != entry:
            yield Finding(
                catalogue.BASE_FILE,
                "the journal is part of the change: only programs of this machine write it",
                path,
            )


def _kind(entry: TreeEntry) -> str:
    return "a submodule" if entry.is_submodule else "no regular file"


def _nested(
    subject: Subject, before: Mapping[str, TreeEntry], now: Mapping[str, TreeEntry]
) -> Iterator[Finding]:
    """Give the trails of folders: whoever records there, records for them, and not for this one."""
    known, there = (_trails_below(tree, subject.directory.path.name) for tree in (before, now))
    for folder, held in there.items():
        if folder not in known:
            yield Finding(
                catalogue.BASE_TRAIL, "the change brings a trail of its own for this folder", folder
            )
        elif known[folder] != held:
            message = "the change adds to this trail, which is judged by a run in its own folder"
            yield Finding(catalogue.BASE_TRAIL, message, folder, override=Severity.WARNING)


def _trails_below(tree: Mapping[str, TreeEntry], own: str) -> Mapping[str, Mapping[str, TreeEntry]]:
    found: dict[str, dict[str, TreeEntry]] = {}
    for name, entry in tree.items():
        parts = name.split("/")
        at = next(
            (number for number, part in enumerate(parts) if part.casefold() == AUDIT_DIR_NAME), None
        )
        if at is not None and parts[: at + 1] != [own]:
            found.setdefault("/".join(parts[: at + 1]), {})[name] = entry
    return found


def _log(subject: Subject, sides: CheckoutSides) -> Iterator[Finding]:
    held = lines_of(read_trail(sides.repository, subject.directory, sides.head, LOG_NAME))
    there = frozenset(log_on_disk(subject.directory))
    known = frozenset(
        lines_of(read_trail(sides.repository, subject.directory, sides.base, LOG_NAME))
    )  # which have a finding of their own
    missing = sum(bool(line.strip()) and line not in there and line not in known for line in held)
    if missing:
        message = f"{counted(missing, 'line', 'lines')} of the log in HEAD {'does' if missing == 1 else 'do'} not stand on disk"
        yield subject.in_log(catalogue.BASE_CHECKOUT, message)


def _manifest(subject: Subject, sides: CheckoutSides) -> Iterator[Finding]:
    manifest = subject.trail.manifest
    held = read_trail(sides.repository, subject.directory, sides.head, MANIFEST_NAME)
    if held is None or lines_of(held) == lines_of(manifest.data):
        return
    committed = parse_manifest(held)
    known = parse_manifest(
        read_trail(sides.repository, subject.directory, sides.base, MANIFEST_NAME)
    )
    if committed.form == ManifestForm.BROKEN:
        yield Finding(
            catalogue.BASE_CHECKOUT, "the manifest in HEAD cannot be read", subject.manifest_name
        )
    for key in committed:
        is_known = key in known and known.raw(key) == committed.raw(
            key
        )  # which has a finding of its own
        if is_known or (key in manifest and committed.raw(key) == manifest.raw(key)):
            continue
        if not same_entry(committed.entry(key), manifest.entry(key)):
            yield subject.in_entry(
                catalogue.BASE_CHECKOUT, f"entry {key[:16]} in HEAD does not stand on disk", key
            )
