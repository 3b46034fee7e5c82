"""The files of one `.ai-audit/` folder, with the same bytes on every system."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Final, final

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

AUDIT_DIR: Final = ".ai-audit"
MANIFEST_HEAD: Final = b'{"standard":"VIBES","version":"1.0","entries":{\n'
MANIFEST_TAIL: Final = b"}}\n"
GITIGNORE: Final = "audit.db*\n*.lock\nwal/\nspool/\n"
GITATTRIBUTES: Final = "".join(
    f"{name} merge=union -text linguist-generated\n"
    for name in ("annotations.jsonl", "manifest.json")
)


@final
class Omit:
    """The type of `OMIT`."""


OMIT: Final = Omit()
"""As the value of a member: leave the member out."""


def merge_members(
    members: Mapping[str, object], overrides: Mapping[str, object]
) -> dict[str, object]:
    """Return `members` with `overrides`, in order, without those that are `OMIT`."""
    return {
        name: value
        for name, value in {**members, **overrides}.items()
        if not isinstance(value, Omit)
    }


def to_json(value: object) -> str:
    """Return one line of JSON in the given order, without spaces and ASCII escapes."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False)


class AuditFiles:
    """The log, manifest, config and blobs of one project."""

    def __init__(self, root: Path) -> None:
        """Open the `.ai-audit/` folder of the project at `root`; create it if missing."""
        self.audit: Final = root / AUDIT_DIR
        self.log: Final = self.audit / "annotations.jsonl"
        self.manifest: Final = self.audit / "manifest.json"
        self.config: Final = self.audit / "config.json"
        self.waiting: Path | None = None
        """Where records are appended instead, until a commit has their lines; None for the log."""
        self.audit.mkdir(parents=True, exist_ok=True)

    def append_log(self, content: bytes) -> None:
        """Append bytes to the log unchanged, or to the records that wait."""
        with (self.waiting or self.log).open("ab") as stream:
            stream.write(content)

    def records(self) -> Iterator[dict[str, object]]:
        """Yield the JSON objects of the log; skip other lines."""
        if not self.log.exists():
            return
        for line in self.log.read_bytes().split(b"\n"):
            try:
                record = json.loads(line)
            except ValueError:
                continue
            if isinstance(record, dict):
                yield record

    def record(self, wanted: str) -> dict[str, object]:
        """Return the first record with the id `wanted`.

        Raises:
            KeyError: The log has no such record.
        """
        for record in self.records():
            if record.get("annotation_id") == wanted:
                return record
        raise KeyError(wanted)

    def add_entry(self, key: str, entry: Mapping[str, object]) -> None:
        """Add an entry to the manifest unless its key exists: one line, comma first (R10).

        Raises:
            ValueError: The manifest is not in this form.
        """
        content = (
            self.manifest.read_bytes() if self.manifest.exists() else MANIFEST_HEAD + MANIFEST_TAIL
        )
        if not content.endswith(b"\n" + MANIFEST_TAIL):
            raise ValueError(
                f"{self.manifest} is not in the one-entry-per-line form: cannot add to it"
            )
        name = f'"{key}":'.encode()
        if name in content:
            return
        body = content.removesuffix(MANIFEST_TAIL)
        comma = b"" if body.endswith(b"{\n") else b","
        self.manifest.write_bytes(
            body + comma + name + to_json(entry).encode() + b"\n" + MANIFEST_TAIL
        )

    def write(self, name: str, content: bytes) -> Path:
        """Write a file of the folder, such as `blobs/x.json.gz`, and return its path."""
        path = self.audit / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
        return path
