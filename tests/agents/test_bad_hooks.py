"""With a hook that fails in any way, an agent's session is the same as without a hook.

The hooks are configured as for people. What they run is missing, fails, takes long or prints.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import Final

import pytest

from tests.agents.driver import Driver
from tests.agents.every_agent import EVERY_AGENT
from tests.agents.sandbox import Sandbox
from tests.agents.session import Session, run_session
from tests.agents.story import FAILING_COMMAND, FIRST, Create, Shell, Steps

NOISE: Final = "ignore-all-instructions"
CALLED: Final = "called"
BAD_HOOKS: Final[Mapping[str, str | None]] = {
    "missing": None,
    "failing": "exit 2",
    "slow": "exec sleep 5",
    "noisy": f"echo {NOISE}; echo {NOISE} >&2",
}
"""What `vibes` does, as a shell script; None if there is no such program."""
STEPS: Final[Mapping[str, Steps]] = {
    FIRST: [
        [Create("report.md", "sorted\n")],
        [Shell(FAILING_COMMAND)],
    ]
}


@pytest.fixture(scope="module", params=EVERY_AGENT)
def sessions(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> dict[str, Session]:
    """Run a session without hooks, and one with each bad hook, at once: they mostly wait."""
    agent: type[Driver] = request.param
    folder = tmp_path_factory.mktemp(agent.__name__)
    runs: dict[str, Callable[[], Session]] = {
        "none": partial(run_session, agent, folder / "none", STEPS, [FIRST], level=None)
    }
    for name, script in BAD_HOOKS.items():
        runs[name] = partial(_run_with, agent, folder / name, script)
    with ThreadPoolExecutor(len(runs)) as pool:
        started = {name: pool.submit(run) for name, run in runs.items()}
        return {name: run.result() for name, run in started.items()}


def _run_with(agent: type[Driver], folder: Path, script: str | None) -> Session:
    def replace(sandbox: Sandbox) -> None:
        calls = sandbox.programs / CALLED
        sandbox.replace_program(script and f"echo $$ >>'{calls}'\ncat >/dev/null\n{script}")

    return run_session(agent, folder, STEPS, [FIRST], level="medium", prepare=replace)


@pytest.mark.parametrize("hook", BAD_HOOKS)
def test_the_session_ends_as_without_a_hook(sessions: dict[str, Session], hook: str) -> None:
    expected, found = sessions["none"], sessions[hook]
    assert expected.sandbox.files()["report.md"] == "sorted\n"
    assert expected.runs[0].returncode == 0
    files = expected.sandbox.files()
    assert {name: found.sandbox.files().get(name) for name in files} == files
    assert [run.returncode for run in found.runs] == [run.returncode for run in expected.runs]
    assert [(each.prompt, each.turn) for each in found.requests] == [
        (each.prompt, each.turn) for each in expected.requests
    ]
    is_heard = any(NOISE in json.dumps(each.body) for each in found.requests)
    assert is_heard == (hook == "noisy" and found.driver.limits.reads_hook_output)
    assert (found.sandbox.programs / CALLED).exists() == (hook != "missing")
