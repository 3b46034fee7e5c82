"""Three functions that an AI or a person writes, and what waits for the commit of their lines."""

from __future__ import annotations

from tests.cli.run_vibes import vibes
from tests.stories.workspace import Workspace

ALPHA = "def alpha_function(first):\n    return first * 1001\n"
BETA = "\n\ndef beta_function(second):\n    return second * 2002\n"
GAMMA = "\n\ndef gamma_function(third):\n    return third * 3003\n"


def waiting(work: Workspace) -> list[str]:
    """Return the ids that `vibes log --waiting` shows."""
    done = vibes("log", "--waiting", "--json", cwd=work.path)
    assert done.code == 0, done.err
    return [record["id"] for record in done.json["records"]]
