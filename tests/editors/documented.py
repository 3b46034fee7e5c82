"""Configuration snippets of the documentation, which the tests run unchanged."""

from __future__ import annotations

import re

from tests.requirements import REPOSITORY


def block(page: str, heading: str, language: str) -> str:
    """Return the first block of a language under a heading of a page.

    Args:
        page: Name of a file in `docs/editors`.
        heading: Text of the heading, at any level.
        language: Language of the block.
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
    """Blank out code blocks, so that no line in them matches a heading; keep the length."""
    return re.sub(
        r"^```\w*\n.*?^```$",
        lambda found: re.sub("[^\n]", " ", found[0]),
        text,
        flags=re.MULTILINE | re.DOTALL,
    )
