"""Runs the pack: every case against our server, and against the reference for the matrix."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Final

import pytest

from tests.conformance.vouch.cases import ATTACKS, CASES, Case
from tests.conformance.vouch.programs import OURS, REFERENCES, program_under_test, reference
from tests.conformance.vouch.server import Program, World

MATRIX: Final = Path(__file__).with_name("matrix.json")
"""The cases that each version of the reference fails; `VIBES_UPDATE_SNAPSHOTS=1` writes it."""


def run(program: Program, case: Case, project: Path) -> None:
    project.mkdir()
    world = World(program, project)
    try:
        case(world)
    finally:
        world.close()


@pytest.mark.parametrize("name", CASES)
def test_the_server_does_what_the_specification_demands(name: str, tmp_path: Path) -> None:
    run(program_under_test(), CASES[name], tmp_path / "project")


@pytest.mark.nightly  # two processes a case; test_interoperation has some every day
@pytest.mark.parametrize("name", CASES)
def test_a_server_process_does_the_same(name: str, tmp_path: Path) -> None:
    run(OURS, CASES[name], tmp_path / "project")


@pytest.mark.nightly  # it takes minutes, and says nothing of this program
@pytest.mark.timeout(900)
@pytest.mark.parametrize("version", REFERENCES)
def test_the_matrix_of_the_reference_is_true(version: str, tmp_path: Path) -> None:
    program = reference(version)
    failed = []
    for number, (name, case) in enumerate(CASES.items()):
        if name in ATTACKS:
            continue
        try:
            run(program, case, tmp_path / str(number))
        except Exception:  # noqa: BLE001  # a server that ends or answers in another shape
            failed.append(name)
    matrix = json.loads(MATRIX.read_text()) if MATRIX.exists() else {}
    failed.sort()
    if os.environ.get("VIBES_UPDATE_SNAPSHOTS"):
        MATRIX.write_text(json.dumps({**matrix, version: failed}, indent=1) + "\n")
    else:
        assert matrix[version] == failed
