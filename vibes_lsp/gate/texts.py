"""The texts that the gate judges for a file: as it is on disk, as HEAD has it where that differs, and as another reader could take either."""

from __future__ import annotations

import codecs
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from vibes_lsp.anchors.text import Text, encode
from vibes_lsp.errors import UnreadableFile
from vibes_lsp.history.objects import GitObjects
from vibes_lsp.index.project_files import read_source
from vibes_lsp.model.paths import can_be_below, normal_path

_POINTER: Final = "version https://git-lfs.github.com/spec/"
_MARKS: Final = (
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)


@dataclass
class Texts:
    """Reads files of a project; `differing` has those that are not on disk as HEAD has them.

    Attributes:
        project: The project's root.
        blobs: The objects of the repository; None where only the disk counts.
        head: HEAD's commit.
        base: The commit before the change.
        prefix: What git's names of the project's files begin with.
    """

    project: Path
    blobs: GitObjects | None = None
    head: str = ""
    base: str = ""
    prefix: str = ""
    differing: dict[str, None] = field(default_factory=dict)

    def on_disk(self, path: str) -> Text:
        """Return a file as it was checked out, or is being worked on.

        Raises:
            UnreadableFile: It cannot be read, or only stands for a text that is elsewhere.
        """
        text = read_source(self.project, path)
        if text.content.startswith(_POINTER):
            raise UnreadableFile(
                f"{path} is a pointer of Git LFS, and its text is not here",
                hint="fetch it with `git lfs pull`",
            )
        return text

    def committed(self, path: str) -> Text | None:
        """Return a file as HEAD has it, where that has other lines than the one on disk; None where it has none of its own."""
        if self.blobs is None or not can_be_below(path):
            return None
        held = self.blobs.contents(f"{self.head}:{self.prefix}{normal_path(path)}")
        if held is None:
            return None
        text = Text.from_bytes(held)
        try:
            is_same = read_source(self.project, path).lines == text.lines
        except UnreadableFile:
            is_same = False
        if is_same or text.content.startswith(_POINTER):
            return None
        self.differing[path] = None
        return text

    def in_base(self, path: str) -> Text:
        """Return a file as it was before the change; empty where it was not."""
        held = None
        if self.blobs is not None and can_be_below(path):
            held = self.blobs.contents(f"{self.base}:{self.prefix}{normal_path(path)}")
        return Text("") if held is None else Text.from_bytes(held)

    def all_readings(self, path: str) -> Iterator[Text]:
        """Give the texts that a file is on disk and in HEAD, and may be to other programs."""
        yield from self._plain(path)
        yield from self.other_readings(path)

    def other_readings(self, path: str) -> Iterator[Text]:
        """Give the texts that a file may be to a program that ends lines otherwise, or decodes it otherwise."""
        for text in self._plain(path):
            yield from _readings(text)

    def _plain(self, path: str) -> Iterator[Text]:
        with suppress(UnreadableFile):
            yield self.on_disk(path)
        committed = self.committed(path)
        if committed is not None:
            yield committed


def _readings(text: Text) -> Iterator[Text]:
    decoded = _decoded(text)
    if decoded is not None:
        yield decoded
    now = decoded or text
    lines = (
        now.content.splitlines()
    )  # also at a lone CR, a form feed, and what Unicode calls a line end
    if lines != now.lines:
        yield Text("\n".join([*lines, ""]))


def _decoded(text: Text) -> Text | None:
    """Return what a text is that was written with more than one byte for a letter; None where it was not."""
    if "\0" not in text.content:
        return None
    data = encode(text.content)
    for mark, encoding in _MARKS:
        if data.startswith(mark):
            return Text(data.decode(encoding, "replace"))
    return Text.from_bytes(data.replace(b"\0", b""))
