"""Fixtures of the command line tests, for commands that ask services."""

from tests.cli.conftest import run_vibes, run_vibes_unchecked

__all__ = ["run_vibes", "run_vibes_unchecked"]
