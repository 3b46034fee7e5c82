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

for _name in VARIABLES:  # whoever runs the tests may be an agent; the people in them are none
    os.environ.pop(_name, None)

_CACHE = tempfile.mkdtemp(
    prefix="vibes-cache-"
)  # ours, and no part of what the user of this machine keeps
os.environ["XDG_CACHE_HOME"] = _CACHE
atexit.register(shutil.rmtree, _CACHE, ignore_errors=True)

# No deadline in either profile: on a shared machine it measures the neighbours.
settings.register_profile("local", deadline=None)
settings.register_profile("ci", deadline=None, derandomize=True, max_examples=500, print_blob=True)
settings.register_profile(
    "long", deadline=None, max_examples=2000
)  # for `--hypothesis-profile=long`, by hand
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
