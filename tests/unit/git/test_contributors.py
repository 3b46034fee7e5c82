"""Parse names and addresses as commit trailers have them."""

from __future__ import annotations

import pytest

from vibes_lsp.git.contributors import parse_identity


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("Ada Byron <ada@example.org>", {"ada byron", "ada@example.org"}),
        ("  Ada   Byron<ada@example.org>  ", {"ada byron", "ada@example.org"}),
        ("<ada@example.org>", {"ada@example.org"}),
        ("Ada <>", {"ada"}),
        ("Ada <x> <ada@example.org>", {"ada <x>", "ada@example.org"}),
        ("Ada <ada@example.org", {"ada <ada@example.org"}),
        ("Ada <a>b>", {"ada <a>b>"}),
        ("Ada ada@example.org>", {"ada ada@example.org>"}),
        ("Ada\nByron <ada@example.org>", {"ada byron <ada@example.org>"}),
        ("   ", set()),
    ],
)
def test_name_and_address_are_separated(text: str, names: set[str]) -> None:
    assert parse_identity(text) == names
