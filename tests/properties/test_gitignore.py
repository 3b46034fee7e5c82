"""Exclude patterns match like lines of a gitignore, compared with git, in bounded time."""

from __future__ import annotations

import re
import subprocess
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.trails import Repository
from vibes_lsp.model.gitignore import parse_pattern
from vibes_lsp.model.tracking import Tracking

if TYPE_CHECKING:
    from pathlib import Path

NAMES = st.text("abé.-] !", min_size=1, max_size=4).filter(
    lambda name: name.strip(". ") == name and name
)
PATHS = st.lists(NAMES, min_size=1, max_size=4).map("/".join)
PIECES = st.sampled_from(
    [
        "a",
        "b",
        "é",
        ".",
        "-",
        "*",
        "?",
        "[ab]",
        "[!a]",
        "[^a-b]",
        "[]a]",
        "[[:alpha:]]",
        "\\*",
        "\\a",
        "[a-]",
        "a b",
    ]
)
SEGMENTS = st.one_of(
    st.just("**"),
    NAMES,
    st.lists(PIECES, min_size=1, max_size=4)
    .map("".join)
    .filter(lambda segment: "**" not in segment),
)
PATTERNS = st.builds(
    lambda negated, rooted, segments, folder: f"{negated}{rooted}{'/'.join(segments)}{folder}",
    st.sampled_from(["", "", "", "!"]),
    st.sampled_from(["", "", "/"]),
    st.lists(SEGMENTS, min_size=1, max_size=4),
    st.sampled_from(["", "", "/"]),
)


@pytest.fixture(scope="module")
def repository(tmp_path_factory: pytest.TempPathFactory) -> Repository:
    return Repository(tmp_path_factory.mktemp("ignoring"))


@given(
    patterns=st.lists(PATTERNS, min_size=1, max_size=4),
    paths=st.lists(PATHS, min_size=1, max_size=12, unique=True),
)
def test_what_is_excluded_is_what_git_ignores(
    repository: Repository, patterns: list[str], paths: list[str]
) -> None:
    tracking = Tracking(None, patterns)
    assert {path for path in paths if not tracking.tracks(path)} == ignored(
        repository.path, patterns, paths
    )


def ignored(root: Path, patterns: list[str], paths: list[str]) -> set[str]:
    """Return the paths that git ignores; they do not exist and are files."""
    (root / ".git/info/exclude").write_text(
        "".join(f"{pattern}\n" for pattern in patterns), encoding="utf-8", newline="\n"
    )
    said = subprocess.run(
        ["git", "check-ignore", "--no-index", "-z", "--stdin"],
        cwd=root,
        input="".join(f"{path}\0" for path in paths).encode(),
        capture_output=True,
        check=False,
    )
    assert said.returncode in (0, 1), said.stderr
    return {name.decode() for name in said.stdout.split(b"\0") if name}


@given(
    pattern=st.text(alphabet="ab*/", max_size=12),
    path=st.text(alphabet="ab/", min_size=1, max_size=12),
)
def test_no_match_is_lost_by_not_backtracking(pattern: str, path: str) -> None:
    """Compared with a naive expression that tries every place."""
    parts = [part for part in path.split("/") if part]
    read = parse_pattern(pattern)
    if read is None or not parts:
        return
    name = "/".join(parts)
    assert (read.path.match(name.encode()) is not None) is (
        naive(pattern).fullmatch(name) is not None
    )


def naive(pattern: str) -> re.Pattern[str]:
    text = pattern.removesuffix("/")
    rooted = "/" in text
    segments = text.removeprefix("/").split("/")
    written = ["" if rooted else "(?:.*/)?"]
    for number, segment in enumerate(segments):
        is_last = number == len(segments) - 1
        if len(segment) > 1 and not segment.strip("*"):
            written.append(".*" if is_last else "(?:.*/)?")
        else:
            written.append(re.sub(r"\*+", "[^/]*", segment) + ("" if is_last else "/"))
    return re.compile("".join(written))


@pytest.mark.parametrize(
    "pattern",
    [
        "*" * 50 + "a",
        "*a" * 50,
        "*/" * 60 + "b",
        "**/" * 40 + "b",
        "**/*a" * 25 + "b",
        "a*" * 60 + "b",
        "**/a*/" * 25 + "b",
        "?*" * 60 + "b",
        "[a]*" * 40 + "b",
        "!" + "*a" * 50 + "b",
    ],
)
def test_a_pattern_takes_no_more_than_its_length_times_that_of_the_path(pattern: str) -> None:
    """A backtracking matcher does not terminate on these."""
    for excludes in ([pattern], [pattern, "!x"]):
        tracking = Tracking(None, excludes)
        for path in ("a" * 4000, "a/" * 1900 + "a", "aa/" * 60 + "c"):
            tracking.tracks(path)
