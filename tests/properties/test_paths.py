"""The kind of a path does not depend on how it is spelled (R19)."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from vibes_lsp.model.paths import path_kind

_NAMES = st.text("ab-_.0é \\:", max_size=3)


@given(st.lists(_NAMES, max_size=4).map("/".join))
def test_a_path_and_the_same_from_the_current_folder_are_of_one_kind(path: str) -> None:
    if path.strip() and not path.startswith(("/", "\\")) and path[1:2] != ":":
        assert path_kind(path) is path_kind(f"./{path}")
