"""Fixtures of the command line tests, for commands that ask services."""

from tests.attestation_server.conftest import provider
from tests.cli.conftest import project, run_vibes, run_vibes_unchecked, valid_trail

__all__ = ["project", "provider", "run_vibes", "run_vibes_unchecked", "valid_trail"]
