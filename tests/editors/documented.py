"""What the documentation tells people to put into their editors' files: the tests run those very lines."""

from __future__ import annotations

import re

from tests.requirements import REPOSITORY


def block(page: str, heading: str, language: str) -> str:
    """Return the first block of a language under a heading of a page.

    Args:
        page: Name of a file in `docs/editors`.
        heading: The heading's text, whatever its level.
        language: The language that the block is marked as.
    """
    text = (REPOSITORY / "docs/editors" / page).read_text(encoding="utf-8")
    section = re.search(
        rf"^(#+) {re.escape(heading)}\n(.*?)(?=^#+ |\Z)",
        _without_blocks(text),
        re.MULTILINE | re.DOTALL,
    )
    assert section is not None, f"{page} has no heading {heading!r}"
    found = re.search(
        rf"^```{language}\n(.*?)^```$",
        text[section.start() : section.end()],
        re.MULTILINE | re.DOTALL,
    )
    assert found is not None, f"{page} has no {language} under {heading!r}"
    return found[1]


def _without_blocks(text: str) -> str:
    """Return a text of the same length in which no line of a block looks like a heading."""
    return re.sub(
        r"^```\w*\n.*?^```$",
        lambda found: re.sub("[^\n]", " ", found[0]),
        text,
        flags=re.MULTILINE | re.DOTALL,
    )
