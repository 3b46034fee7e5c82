"""A subject that records nothing: what is judged then is the generator itself."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from tests.git_life.subject import Claim, Edit


class Nothing:
    """Records nothing and says nothing."""

    def __init__(self, environment: dict[str, str]) -> None:
        self.environment = environment

    def init(self, root: Path) -> None:
        """Do nothing."""

    def join(self, root: Path) -> None:
        """Do nothing."""

    def record(self, root: Path, edit: Edit) -> None:
        """Do nothing."""

    def owners(self, root: Path, path: str) -> Mapping[int, Claim]:  # noqa: ARG002
        """Say nothing."""
        return {}

    def unreviewed(self, root: Path, base: str) -> set[tuple[str, int]] | None:  # noqa: ARG002
        """Say that there is no gate."""
        return None

    def settle(self, root: Path) -> None:
        """Do nothing."""

    def close(self) -> None:
        """Do nothing."""
