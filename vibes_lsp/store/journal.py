"""The journal (RFC 9.3, R10): entries that wait in `wal/` to be folded into the manifest, one JSON object per line.

Our writers share one file, under the lock that the log has, too. A reader that looks at the journal first and at the manifest
then misses nothing, for entries only ever move that way. Files of other tools are read and folded, but never removed: no lock
tells whether their writers are still at work.
"""

from __future__ import annotations

import stat
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

import msgspec

from vibes_lsp.errors import MalformedJson, RefusedWrite, UnreadableFile, VibesError
from vibes_lsp.store.appending import Extent, append_lines
from vibes_lsp.store.disk import read_file
from vibes_lsp.store.durability import refusal
from vibes_lsp.store.entry_lines import entries_by_line
from vibes_lsp.store.layout import AuditDir
from vibes_lsp.store.locks import Held

OWN_NAME: Final = "entries.jsonl"
"""The file that our writers share; it is gone when nothing waits."""


@dataclass(frozen=True, slots=True)
class Journal:
    """What waits.

    Attributes:
        entries: The entries' bytes by key.
        problems: Files that could not be read, or not all of them, and why.
        own: What our own file holds; None when it is not there.
    """

    entries: dict[str, msgspec.Raw] = field(default_factory=dict)
    problems: tuple[tuple[str, VibesError], ...] = ()
    own: OwnFile | None = None

    @property
    def own_size(self) -> int | None:
        """Bytes of our own file; None when it is not there."""
        return None if self.own is None else len(self.own.data)


@dataclass(frozen=True, slots=True)
class OwnFile:
    """The file that our writers share, as it was read.

    Attributes:
        data: Its bytes.
        whole: How many of them are whole lines.
        entries: What is in those.
        strays: How many of them are no entry.
    """

    data: bytes
    whole: int
    entries: dict[str, msgspec.Raw]
    strays: int


def own_file(directory: AuditDir) -> Path:
    """Return the path of the file that our writers share."""
    return directory.journal / OWN_NAME


def journal_files(directory: AuditDir) -> list[Path]:
    """Return the journal's files, ours and others', in the order in which they are read."""
    try:
        return sorted(path for path in directory.journal.glob("*.jsonl") if path.is_file())
    except OSError:
        return []


def read_journal(directory: AuditDir, previous: Journal | None = None) -> Journal:
    """Return all that waits; an unfinished last line waits for its end. Of our own file, what the previous one had is not taken apart again. Never raises."""
    entries: dict[str, msgspec.Raw] = {}
    problems: list[tuple[str, VibesError]] = []
    own = None
    for path in journal_files(directory):
        try:
            data = read_file(path) or b""
        except UnreadableFile as error:
            problems.append((path.name, error))
            continue
        if path.name == OWN_NAME:
            own = _read_own(data, None if previous is None else previous.own)
            found, strays = own.entries, own.strays
        else:
            found, strays = entries_by_line(data.rpartition(b"\n")[0])
        entries.update(found)
        if strays:
            reason = f"{strays} line is no context entry" if strays == 1 else f"{strays} lines are no context entries"
            problems.append((path.name, MalformedJson(reason)))
    return Journal(entries, tuple(problems), own)


def _read_own(data: bytes, previous: OwnFile | None) -> OwnFile:
    """Take our file apart, from where the previous one ends if it only grew."""
    begun = previous if previous is not None and data.startswith(previous.data[: previous.whole]) else OwnFile(b"", 0, {}, 0)
    whole = data.rfind(b"\n") + 1
    found, strays = entries_by_line(data[begun.whole : whole])
    return OwnFile(data, whole, {**begun.entries, **found}, begun.strays + strays)


def append_entries(own: Path, entries: Mapping[str, bytes], held: Held, *, durable: bool = False) -> Extent:
    """Append entries, given as JSON on one line each, to our file, and return how far it reaches then.

    Raises:
        RefusedWrite: The folder does not allow it, or the disk is full; the journal is as it was.
    """
    make_folder(own.parent)
    lines = b"".join(b'{"%s":%s}\n' % (key.encode(), entry) for key, entry in entries.items())
    return append_lines(own, lines, held, durable=durable)


def make_folder(folder: Path) -> None:
    """Create a folder of the audit directory unless it is there.

    Raises:
        RefusedWrite: The audit directory does not allow it, or something else, such as a link, is in its place.
    """
    try:
        if stat.S_ISDIR(folder.lstat().st_mode):
            return
    except FileNotFoundError:
        try:
            folder.mkdir(exist_ok=True)
        except OSError as error:
            raise refusal(folder, error) from error
        return
    except OSError as error:
        raise refusal(folder, error) from error
    raise RefusedWrite(f"{folder} is not a folder", hint="move it away; a folder is expected in its place, and a link could lead elsewhere")
