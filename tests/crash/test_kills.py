"""Writers killed without warning: at random moments, at every stage, and concurrently."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from tests.crash.subprocesses import number_from_environment, run_program
from tests.requirements import in_nightly

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = [
    pytest.mark.skipif(
        not hasattr(os, "fork"),
        reason="a writer that is killed within a system call is forked first",
    ),
    pytest.mark.timeout(600),
]


def test_nothing_acknowledged_is_lost_when_writers_are_killed(tmp_path: Path) -> None:
    """`VIBES_CRASH_KILLS` is the number of kills, `VIBES_CRASH_SEED` the random seed."""
    wanted = number_from_environment("VIBES_CRASH_KILLS", 216 if in_nightly() else 54)
    seen = run_program(
        "crash_harness", "kills", tmp_path, wanted, number_from_environment("VIBES_CRASH_SEED", 1)
    )
    assert seen["kills"] >= wanted
    assert min(seen["entries"], seen["records"], seen["with a journal left"]) > 0, (
        "they were killed before they wrote anything"
    )


def test_a_writer_may_die_at_every_one_of_its_system_calls(tmp_path: Path) -> None:
    seen = run_program("crash_harness", "stages", tmp_path)
    assert min(seen["before"], seen["after"]) > 50, "the calls were not met"
    assert min(seen["within"], seen["within a write"]) > 3, "the writes of whole lines were not met"


def test_many_write_at_once_while_one_reads(tmp_path: Path) -> None:
    """`VIBES_CRASH_RECORDS` is the number of records for each of the 16 programs."""
    records = number_from_environment("VIBES_CRASH_RECORDS", 40)
    assert (
        run_program("crash_harness", "together", tmp_path, 16, records)["records"] == 16 * records
    )


def test_nothing_that_waits_is_lost_when_writers_are_killed(tmp_path: Path) -> None:
    wanted = number_from_environment("VIBES_CRASH_KILLS", 120 if in_nightly() else 30)
    seen = run_program(
        "waiting_harness", "kills", tmp_path, wanted, number_from_environment("VIBES_CRASH_SEED", 1)
    )
    assert min(seen["entries"], seen["records"]) > 0, "they were killed before they wrote anything"


def test_many_write_what_waits_at_once(tmp_path: Path) -> None:
    records = number_from_environment("VIBES_CRASH_RECORDS", 40)
    assert run_program("waiting_harness", "together", tmp_path, 16, records) == {
        "records": 16 * records
    }


def test_the_hook_may_die_at_every_one_of_its_system_calls(tmp_path: Path) -> None:
    seen = run_program("waiting_harness", "hooks", tmp_path)
    assert min(seen["before"], seen["after"]) > 10, "the calls were not met"
