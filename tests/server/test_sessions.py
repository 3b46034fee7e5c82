"""The sessions of tests end, whatever happens within them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.server.sessions import session

if TYPE_CHECKING:
    from pathlib import Path

    from tests.server.project import Project


async def test_a_failure_within_a_session_ends_the_server(project: Project, tmp_path: Path) -> None:
    file = project.annotated()

    async def fail() -> None:
        async with session(tmp_path, [project.root]) as editor:
            await editor.open_known(file)
            raise AssertionError("within")

    with pytest.raises(AssertionError, match="within"):
        await fail()
