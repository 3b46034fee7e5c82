"""Settings and fixtures for all tests."""

from __future__ import annotations

import atexit
import gc
import json
import os
import shutil
import sys
import tempfile
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from itertools import count
from pathlib import Path

import pytest
from hypothesis import settings

from tests import leftovers
from tests.requirements import REPOSITORY, TOOLS, in_nightly
from vibes_lsp.cli.agents import VARIABLES
from vibes_lsp.patience import VARIABLE as PATIENCE

for _name in VARIABLES:  # a test run started by an agent must not look like the agent's work
    os.environ.pop(_name, None)

# Programs that the project has fetched, for those that the system lacks.
os.environ["PATH"] = os.pathsep.join([os.environ.get("PATH", os.defpath), str(TOOLS)])

# The tests start thousands of processes. Without bytecode files, each would compile every module
# that it imports, which takes half of its time.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)

# Never the user's own settings, agents and cache.
_HOME = tempfile.mkdtemp(prefix="vibes-home-")
atexit.register(shutil.rmtree, _HOME, ignore_errors=True)
os.environ |= {"HOME": _HOME, "USERPROFILE": _HOME, "XDG_CACHE_HOME": f"{_HOME}/cache"}
for _name in (
    "XDG_CONFIG_HOME",
    "XDG_DATA_HOME",
    "XDG_STATE_HOME",
    "CLAUDE_CONFIG_DIR",
    "CODEX_HOME",
    "COPILOT_HOME",
    "OPENCODE_CONFIG_DIR",
):
    os.environ.pop(_name, None)
_CACHES = count()

# On a busy machine any limit may pass. No file of a test's agent comes later than its event.
os.environ[PATIENCE] = "unlimited,saving=0"

_GITCONFIG = Path(_HOME, "gitconfig")
_GITCONFIG.write_text(
    "[include]\n\tpath = ~/.gitconfig\n"  # of the home folder that a test sets
    "[user]\n\tname = Test User\n\temail = test@example.org\n"
    "[gc]\n\tauto = 0\n[maintenance]\n\tauto = false\n"  # no process of git stays behind
    f"[safe]\n\tdirectory = {json.dumps(str(REPOSITORY))}\n",
    encoding="utf-8",
)
os.environ["GIT_CONFIG_GLOBAL"] = str(_GITCONFIG)
leftovers.mark_run()

# No deadlines: on a shared machine they measure other programs. Examples are fixed, so that a commit
# fails for its own changes only; `make test-nightly` searches for new ones.
settings.register_profile("fixed", deadline=None, derandomize=True)
settings.register_profile("nightly", deadline=None, max_examples=500, print_blob=True)
settings.load_profile("nightly" if in_nightly() else "fixed")


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out what only nightly runs do; a comment beside each mark has the reason."""
    if in_nightly():
        return
    nightly = [item for item in items if item.get_closest_marker("nightly")]
    if nightly:
        items[:] = [item for item in items if not item.get_closest_marker("nightly")]
        config.hook.pytest_deselected(items=nightly)


def pytest_collection_finish() -> None:
    """Leave the imported modules and the items out of the many collections that follow."""
    gc.collect()
    gc.freeze()


@pytest.hookimpl(wrapper=True)
def pytest_fixture_setup(
    fixturedef: pytest.FixtureDef[object],
) -> Generator[None, object, object]:
    """Share the processes of a fixture that outlives the module."""
    value = yield
    if sys.platform == "linux" and fixturedef.scope in {"session", "package"}:
        leftovers.shared.update(leftovers.marked_processes())
    return value


@pytest.fixture(scope="module", autouse=True)
def _module_leaves_nothing(request: pytest.FixtureRequest) -> Iterator[None]:
    """Give the fixtures of a module a cache of their own, and fail if a process stays behind."""
    failed = request.session.testsfailed
    with _own_cache():
        yield
    if sys.platform != "linux":
        return
    if leftovers.marked_processes():
        gc.collect()  # ends what only a cycle refers to
    if request.session.testsfailed > failed:
        leftovers.kill()  # the tracebacks refer to what would end them
    leftovers.wait_for_end()


@pytest.fixture(autouse=True)
def _test_leaves_nothing(
    request: pytest.FixtureRequest, _module_leaves_nothing: None
) -> Iterator[None]:
    """Give a test a cache of its own, and fail if it leaves a process, a socket or a file open."""
    if sys.platform != "linux":
        with _own_cache():
            yield
        return
    if "asyncio" in request.node.keywords:  # the sockets of the module's loop stay open
        request.getfixturevalue("_module_scoped_runner")
    files, children = leftovers.open_files(), leftovers.running_children()
    with _own_cache():
        yield
    request.node.funcargs.clear()  # what only they refer to is gone with them
    if left := leftovers.left_behind(files, children):
        pytest.fail("\n".join(["left behind:", *left]), pytrace=False)


@contextmanager
def _own_cache() -> Iterator[None]:
    before, folder = os.environ["XDG_CACHE_HOME"], f"{_HOME}/cache-{next(_CACHES)}"
    os.environ["XDG_CACHE_HOME"] = folder
    yield
    os.environ["XDG_CACHE_HOME"] = before
    shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture(scope="session")
def real_trail() -> Path:
    """A public project's audit trail beside the repository, which may not be copied into it.

    It is missing on most machines, CI included: then the test is skipped, which `-ra` shows.
    """
    trail = REPOSITORY.parent / "shared" / "data" / "maestro-2026-03"
    if not (trail / "manifest.json").is_file():
        pytest.skip("../shared/data/maestro-2026-03 is missing: not checked against a real trail")
    return trail
