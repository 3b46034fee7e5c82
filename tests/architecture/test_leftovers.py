"""No file contains unfinished work or paths of one machine."""

import re
from getpass import getuser
from pathlib import Path

from tests.architecture import source_tree
from tests.requirements import REPOSITORY

# Each has one letter in brackets, so that this file passes its own test.
MARKERS = re.compile(r"\b(?:T[O]DO|FIX[M]E|X[X]X)\b")

# A path in a home directory or on a build machine. Invented paths belong to `someone`.
MACHINE_PATHS = re.compile(
    r"(?<![\w.}*~\-/])(?:/(?:home|Users|root|mnt|work|builds)/|[A-Za-z]:\\+Users\\+)(?!someone\b)\w"
)

# Path of a file -> why it may name such a path.
PATHS_FOR_A_REASON: dict[str, str] = {}


def _lines_matching(pattern: re.Pattern[str], spared: set[str]) -> list[str]:
    return [
        f"{path.as_posix()}:{number}: {line.strip()[:100]}"
        for path in source_tree.files()
        if path.as_posix() not in spared
        for number, line in enumerate((source_tree.text_of(path) or "").splitlines(), start=1)
        if pattern.search(line)
    ]


def test_no_file_has_a_leftover_marker() -> None:
    assert not _lines_matching(MARKERS, set()), "finish it, or document the limitation"


def test_no_file_contains_a_path_of_a_machine() -> None:
    assert not _lines_matching(MACHINE_PATHS, set(PATHS_FOR_A_REASON))


def test_no_file_contains_the_path_of_this_checkout_or_home() -> None:
    here = [
        str(place)
        for place in (REPOSITORY, Path("~" + getuser()).expanduser())
        if len(place.parts) > 1
    ]
    named = re.compile(
        "|".join(rf"(?<![\w.\-/]){re.escape(place)}(?![\w\-])" for place in here) or "(?!)"
    )
    assert not _lines_matching(named, set())


def test_every_listed_exception_exists_and_has_a_reason() -> None:
    assert set(PATHS_FOR_A_REASON) <= {path.as_posix() for path in source_tree.files()}
    assert all(PATHS_FOR_A_REASON.values())
