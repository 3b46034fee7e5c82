"""What is said of a context entry."""

from __future__ import annotations

import pytest

from vibes_lsp.reports.record_text import is_selected


@pytest.mark.parametrize(
    ("decision", "option", "selected"),
    [
        ({"selected": "a"}, {"id": "a"}, True),
        ({"selected": "a"}, {"id": "b"}, False),
        ({"selected": "a"}, {"description": "one"}, False),
        ({}, {"description": "one"}, False),
        ({"selected": 0}, {"id": 0}, False),
    ],
)
def test_an_option_is_selected_only_by_its_id(
    decision: dict[str, object], option: dict[str, object], selected: bool
) -> None:
    assert is_selected(decision, option) is selected  # type: ignore[arg-type]  # as JSON has them
