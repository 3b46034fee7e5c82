"""Code and documentation use the standard terms: no archaic words, no personified code, no overlong lines."""

from __future__ import annotations

import ast
import io
import json
import re
import tokenize
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pytest

from tests.architecture import source_tree
from tests.requirements import REPOSITORY

LONGEST_LINE: Final = 100

# Only words without a legitimate use here; a reader finds the rest in review.
BANNED: Final = re.compile(
    r"\b(?:anew|aright|herein|lest|thereof|whence|whereabouts"
    r"|nobody|somebody|whoever|whatever"
    r"|(?:is|are|was|were) meant|that (?:is|are) wanted"
    r"|(?:bring|brings|brought) to rest|(?:passes|passed) over|(?:holds?|held) against"
    r"|knows? of|believes?|forgets?|forgot|remembers?|likes to|stands? whole|said so)\b",
    re.IGNORECASE,
)

PAGES: Final = tuple(
    path
    for path in source_tree.files()
    if (path.suffix == ".md" and path.parts[0] in {"docs", "services"})
    or path.as_posix() == "README.md"
    or (path.name == "README.md" and path.parts[0] == "editors")
)
PACKAGE: Final = Path("editors/vscode/package.json")


def test_no_line_of_the_product_is_longer_than_the_limit() -> None:
    long = [
        f"{path.as_posix()}:{number}: {len(line)} columns"
        for path in source_tree.product_files()
        for number, line in enumerate((source_tree.text_of(path) or "").splitlines(), 1)
        if len(line) > LONGEST_LINE
    ]
    assert not long


def test_strings_and_comments_of_the_product_use_standard_terms() -> None:
    found = [
        f"{path.as_posix()}:{line}: {word}"
        for path in source_tree.product_files()
        for line, text in _texts((REPOSITORY / path).read_text(encoding="utf-8"))
        for word in BANNED.findall(text)
    ]
    assert not found, "say it with the standard term"


def test_the_documentation_uses_standard_terms() -> None:
    found = [
        f"{path.as_posix()}:{number}: {word}"
        for path in PAGES
        for number, line in enumerate((source_tree.text_of(path) or "").splitlines(), 1)
        for word in BANNED.findall(_prose(line))
    ]
    assert not found, "say it with the standard term"


def test_the_texts_of_the_extension_use_standard_terms() -> None:
    package = json.loads((REPOSITORY / PACKAGE).read_text(encoding="utf-8"))
    found = [f"{text}: {word}" for text in _strings(package) for word in BANNED.findall(text)]
    assert not found, "say it with the standard term"


@pytest.mark.parametrize("text", ["Made anew.", "# Nobody knows of it.", "what is meant"])
def test_the_search_finds_words(text: str) -> None:
    assert BANNED.search(text)


def test_the_search_reads_strings_and_comments_but_not_names() -> None:
    source = '"""One."""\nanew = f"two {lest} three"  # four\n'
    assert [text for _, text in _texts(source)] == ["One.", "two ", " three", "# four"]
    assert _prose("a `lest` b") == "a  b"


def _texts(source: str) -> Iterator[tuple[int, str]]:
    """Yield each string and comment with its line."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield node.lineno, node.value
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type == tokenize.COMMENT:
            yield token.start[0], token.string


def _prose(line: str) -> str:
    """Return a line of Markdown without its code spans, which quote names."""
    return re.sub(r"`[^`]*`", "", line)


def _strings(value: object) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for each in value.values():
            yield from _strings(each)
    elif isinstance(value, list):
        for each in value:
            yield from _strings(each)
