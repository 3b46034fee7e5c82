"""Files of which we write the whole text: a plugin, or an executable hook. Pure functions.

A mark with the SHA-256 of the text shows that a file is ours and unmodified, in any version.
"""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass
from typing import Final

from vibes_lsp.agents.setup.hook_configuration import HookState
from vibes_lsp.errors import VibesError

_MARK: Final = re.compile(
    r"(?P<before>(?:(?:#!|// @)[^\n]*\n)?)"
    r"(?:#|//) Written by `vibes init --agents`, sha256 of what follows: (?P<digest>[0-9a-f]{64})\n"
)
_RUNS_HOOK: Final = re.compile(r"\bvibes\b.{0,20}\bhook\b", re.DOTALL)


class ForeignFile(VibesError):
    """A file that vibes did not write, or that was modified, has the name of ours."""

    code = "foreign-file"


@dataclass(frozen=True, slots=True)
class WholeFile:
    """A file that is ours as a whole.

    Attributes:
        body: The text, without first line and mark.
        comment: What starts a comment.
        first_line: A line before the mark, such as `#!/bin/sh` or `// @NAME`; empty for none.
        is_executable: Whether it needs the permission to be executed.
    """

    body: str
    comment: str
    first_line: str = ""
    is_executable: bool = False

    @property
    def text(self) -> str:
        """The whole text."""
        digest = hashlib.sha256(self.body.encode()).hexdigest()
        mark = f"{self.comment} Written by `vibes init --agents`, sha256 of what follows: {digest}"
        return f"{self.first_line}{mark}\n{self.body}"

    def add(self, text: str | None) -> str:
        """Return the text to write.

        Raises:
            ForeignFile: The file that is there is not ours, or was modified.
        """
        if text is not None and not self._is_ours(text):
            raise ForeignFile("it is not as `vibes init --agents` writes it")
        return self.text

    def remove(self, text: str) -> str | None:
        """Return None, to delete the file, if it is ours; else its text.

        Raises:
            ForeignFile: It runs `vibes hook`, but was modified.
        """
        if self._is_ours(text):
            return None
        if self.inspect(text) is HookState.HANDWRITTEN:
            raise ForeignFile("it is not as `vibes init --agents` writes it")
        return text

    def inspect(self, text: str) -> HookState:
        """Return whether the file runs `vibes hook`."""
        if text == self.text:
            return HookState.CURRENT
        if self._is_ours(text):
            return HookState.OUTDATED
        return HookState.HANDWRITTEN if _RUNS_HOOK.search(text) else HookState.ABSENT

    def _is_ours(self, text: str) -> bool:
        mark = _MARK.match(text)
        body = "" if mark is None else text[mark.end() :]
        return mark is not None and hashlib.sha256(body.encode()).hexdigest() == mark["digest"]
