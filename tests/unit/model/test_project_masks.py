"""What the masks of a project match is masked and nothing else, whatever the masks are."""

from __future__ import annotations

import re

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from vibes_lsp.model.config import Redaction, validate_config
from vibes_lsp.model.secrets import MASK, mask_secrets


@pytest.mark.parametrize("text", ["key acme-1", "acme- x", "   ", ""])
@pytest.mark.parametrize("mask", [" acme-*", "acme-* ", "acme -*", "     *", "****", "*", ""])
def test_a_mask_that_no_word_contains_masks_nothing(mask: str, text: str) -> None:
    assert mask_secrets(text, Redaction(mask=[mask], allow=[mask])) == (text, 0)


MASKS = [
    "acme-*",
    "*.corp",
    "wxyz*end*",
    "hide this",
    " acme",
    "*ked]]",
    "ed]*=",
    " acme-*",
    "acme-* ",
    "acme -*",
    "\u2003acme-*",
    "****",
]
"""Masks that a project may set, some that it may not, and some that match beside other masks."""
PLAIN_LINES = ["a line", "is it", "some other words, of which none ends in corp"]
PIECES_OF_LINES = [
    "key ",
    "acme-",
    "acme",
    "db.corp",
    "wxyz",
    "end",
    "hide this",
    " ",
    "]",
    "=",
    "1",
    MASK,
    "AKIAIOSFODNN7EXAMPLE",
    "-----END RSA PRIVATE KEY-----",
]


@given(
    st.lists(st.sampled_from(MASKS) | st.text("ac*]- \t", min_size=4, max_size=8), max_size=4),
    st.lists(
        st.sampled_from(PLAIN_LINES)
        | st.lists(st.sampled_from(PIECES_OF_LINES), max_size=5).map("".join)
    ),
    st.sampled_from(["\n", "\r\n"]),
)
@example(["*ked]]", "hide this"], ["a line", "hide this]", PIECES_OF_LINES[-1], "is it"], "\n")
def test_masks_of_a_project_mask_what_they_match_and_nothing_else(
    masks: list[str], lines: list[str], line_end: str
) -> None:
    config, _ = validate_config({"redaction": {"mask": [*masks]}})
    valid = config.redaction.mask
    masked, _ = mask_secrets(line_end.join(lines), Redaction(mask=valid))
    assert [found for mask in valid for found in _matches(mask, masked)] == []
    plain = {line for line in PLAIN_LINES if not any(_matches(mask, line) for mask in valid)}
    before = [line for line in lines if line in plain]
    assert [line for line in masked.split(line_end) if line in plain] == before


def _matches(mask: str, text: str) -> list[str]:
    """Return what a mask matches in a text, but what lies in a `MASK`."""
    parts = [re.escape(part) for part in mask.split("*")]
    pattern = r"\S*?".join(parts) + (r"(?!\S)" if mask.endswith("*") else "")
    found = [match for match in re.finditer(pattern, text) if match[0] not in MASK]
    return [match[0] for match in found]
