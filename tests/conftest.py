"""Settings and fixtures for all tests."""

import atexit
import json
import os
import shutil
import tempfile
from pathlib import Path

import pytest
from hypothesis import settings

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

_CACHE = tempfile.mkdtemp(prefix="vibes-cache-")  # never the user's own cache
os.environ["XDG_CACHE_HOME"] = _CACHE
atexit.register(shutil.rmtree, _CACHE, ignore_errors=True)

# On a busy machine any limit may pass. No file of a test's agent comes later than its event.
os.environ[PATIENCE] = "unlimited,saving=0"

# A machine without a git identity runs the same tests; the user's own settings still count.
_GITCONFIG = Path(_CACHE, "gitconfig")
_GITCONFIG.write_text(
    f"[include]\n\tpath = {json.dumps(os.environ.get('GIT_CONFIG_GLOBAL', '~/.gitconfig'))}\n"
    "[user]\n\tname = Test User\n\temail = test@example.org\n",
    encoding="utf-8",
)
os.environ["GIT_CONFIG_GLOBAL"] = str(_GITCONFIG)

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


@pytest.fixture(scope="session")
def real_trail() -> Path:
    """A public project's audit trail beside the repository, which may not be copied into it.

    It is missing on most machines, CI included: then the test is skipped, which `-ra` shows.
    """
    trail = REPOSITORY.parent / "shared" / "data" / "maestro-2026-03"
    if not (trail / "manifest.json").is_file():
        pytest.skip("../shared/data/maestro-2026-03 is missing: not checked against a real trail")
    return trail
