"""Regular expressions of the product mean the same in every Python that it supports."""

import re

from tests.requirements import REPOSITORY

_POSSESSIVE_GROUP = re.compile(r"\)(?:[*+?]|\{[0-9,{}]+\})\+")


def test_no_group_has_a_possessive_quantifier() -> None:
    """Python before 3.11.5, which Debian 12 has, matches `(?:a|b)*+` wrong; `(?>(?:a|b)*)` is right."""
    lines = [
        f"{path.relative_to(REPOSITORY)}:{number}: {line.strip()}"
        for path in sorted((REPOSITORY / "vibes_lsp").rglob("*.py"))
        for number, line in enumerate(path.read_text(encoding="utf-8").split("\n"), 1)
        if _POSSESSIVE_GROUP.search(line)
    ]
    assert lines == []
