"""Settings and fixtures that every test may use."""

import atexit
import os
import shutil
import tempfile
from pathlib import Path

import pytest
from hypothesis import settings

from tests.requirements import REPOSITORY, in_ci
from vibes_lsp.cli.agents import VARIABLES

for _name in VARIABLES:  # a test run that an agent starts must not look like an agent's work
    os.environ.pop(_name, None)

_CACHE = tempfile.mkdtemp(prefix="vibes-cache-")  # never the user's own cache
os.environ["XDG_CACHE_HOME"] = _CACHE
atexit.register(shutil.rmtree, _CACHE, ignore_errors=True)

# No deadlines: on a shared machine they measure the neighbours. In CI a commit fails for its own
# changes only, so its examples are fixed; `make test-nightly` searches for new ones.
settings.register_profile("local", deadline=None)
settings.register_profile("ci", deadline=None, derandomize=True, print_blob=True)
settings.register_profile("nightly", deadline=None, max_examples=500, print_blob=True)
settings.load_profile("ci" if in_ci() else "local")


@pytest.fixture(scope="session")
def real_trail() -> Path:
    """The audit trail of a public project, kept beside the repository; it is not ours to copy into it.

    Absent on most machines, CI included: that is a skip, which `-ra` shows in the summary.
    """
    trail = REPOSITORY.parent / "shared" / "data" / "maestro-2026-03"
    if not (trail / "manifest.json").is_file():
        pytest.skip(
            "../shared/data/maestro-2026-03 is absent: nothing here was checked against a real audit trail"
        )
    return trail
