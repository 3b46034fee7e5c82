"""Instructions for agents without hooks: a block in a file that agents read. Pure functions.

The block begins and ends with a mark. What is before and after it is never changed, and a removal
restores the same text.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.resources import files
from pathlib import PurePosixPath
from typing import Final

from vibes_lsp.agents.setup.hook_configuration import HookState
from vibes_lsp.agents.setup.whole_files import ForeignFile
from vibes_lsp.errors import VibesError

_BEGIN: Final = re.compile(
    r"^<!-- begin vibes, sha256 of what follows: ([0-9a-f]{64}) -->\r?\n", re.MULTILINE
)
_MARKS: Final = re.compile(r"^<!-- (?:begin|end) vibes\b", re.MULTILINE)
_END: Final = "<!-- end vibes -->"
_SUFFIXES: Final = {".md", ".mdc", ".markdown"}
_NAMES: Final = {".cursorrules", ".windsurfrules", ".clinerules", ".goosehints"}
_FRONT_MATTERS: Final[Mapping[str, str]] = {
    ".cursor": "---\ndescription: Audit trail of AI changes\nalwaysApply: true\n---\n\n",
    ".continue": "---\nname: Audit trail of AI changes\nalwaysApply: true\n---\n\n",
    ".windsurf": "---\ntrigger: always_on\n---\n\n",
    ".github": '---\napplyTo: "**"\n---\n\n',
}
"""What a new file with rules must begin with, by its first folder."""


class WrongInstructionFile(VibesError):
    """A file is not one that agents read for instructions."""

    code = "wrong-instruction-file"


@dataclass(frozen=True, slots=True)
class InstructionBlock:
    """The block in a file.

    Attributes:
        body: The instructions.
        front_matter: What a new file begins with; empty for nothing.
    """

    body: str
    front_matter: str = ""

    @property
    def text(self) -> str:
        """The block with its marks, without a final line end."""
        digest = hashlib.sha256(self.body.encode()).hexdigest()
        return f"<!-- begin vibes, sha256 of what follows: {digest} -->\n{self.body}{_END}"

    def add(self, text: str | None) -> str:
        """Return the text of a file with the block.

        Raises:
            ForeignFile: The block that is there was modified, or its marks do not fit together.
        """
        if text is None:
            return f"{self.front_matter}{self.text}\n"
        span = _find(text)
        if span is not None:
            block = self.text.replace("\n", _line_end(text[slice(*span)]))
            return text[: span[0]] + block + text[span[1] :]
        line_end = _line_end(text)
        block = self.text.replace("\n", line_end)
        if not text:
            return block
        if text.endswith("\n"):
            return f"{text}{line_end}{block}{line_end}"
        return f"{text}{line_end}{line_end}{block}"  # no line end: this is how `remove` detects it

    def remove(self, text: str) -> str | None:
        """Return the text without the block; None if the file has nothing else.

        Raises:
            ForeignFile: As for `add`.
        """
        span = _find(text)
        if span is None:
            return text
        before, after = text[: span[0]], text[span[1] :]
        if before in ("", self.front_matter) and after == "\n":
            return None
        line_end = _line_end(text[slice(*span)])
        before = before.removesuffix(line_end)
        return before + after.removeprefix(line_end) if after else before.removesuffix(line_end)

    def inspect(self, text: str) -> HookState:
        """Return whether the block is in a text."""
        try:
            span = _find(text)
        except ForeignFile:
            return HookState.HANDWRITTEN
        if span is None:
            return HookState.ABSENT
        return HookState.CURRENT if self.add(text) == text else HookState.OUTDATED


def instructions_for(path: str) -> InstructionBlock:
    """Return the block for a file, by its path in the project.

    Raises:
        WrongInstructionFile: No agent reads such a file for instructions.
    """
    pure = PurePosixPath(path)
    if pure.suffix.lower() not in _SUFFIXES and pure.name not in _NAMES:
        raise WrongInstructionFile(
            f"no agent reads {path} for instructions: expected a Markdown file such as AGENTS.md,"
            " CLAUDE.md or .github/copilot-instructions.md"
        )
    is_rule = len(pure.parts) > 1 and pure.name != "copilot-instructions.md"
    body = (files("vibes_lsp.agents.setup") / "instructions.md").read_text(encoding="utf-8")
    return InstructionBlock(body, _FRONT_MATTERS.get(pure.parts[0], "") if is_rule else "")


def _find(text: str) -> tuple[int, int] | None:
    """Return where the block begins and ends."""
    marks = _MARKS.findall(text)
    if not marks:
        return None
    begin = _BEGIN.search(text)
    end = -1 if begin is None else text.find(_END, begin.end())
    if begin is None or end < 0 or len(marks) != 2:
        raise ForeignFile("its marks of vibes do not fit together")
    body = text[begin.end() : end].replace("\r\n", "\n")
    if hashlib.sha256(body.encode()).hexdigest() != begin[1]:
        raise ForeignFile("the block of vibes was modified")
    return begin.start(), end + len(_END)


def _line_end(text: str) -> str:
    return "\r\n" if "\r\n" in text else "\n"
