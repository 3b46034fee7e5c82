"""Where lines truly went, as the harness says: small histories whose answer anyone can see."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from benchmarks.locating.cases import Case, Fate
from benchmarks.locating.history import History
from benchmarks.locating.linemaps import DEAD
from benchmarks.locating.replay import Replay
from tests.trails.repository import Repository

NUMBERED = [f"value_{number} = compute({number})" for number in range(1, 21)]
AREA = ["def area(width, height):", "    check(width, height)", "    return width * height", ""]
VOLUME = [
    "def volume(width, height, depth):",
    "    check_all(width, height, depth)",
    "    return width * height * depth",
    "",
]
LENGTH = [
    "def length(points):",
    "    steps = zip(points, points[1:])",
    "    return sum(map(distance, steps))",
    "",
]


@pytest.fixture
def repository(tmp_path: Path) -> Repository:
    return Repository(tmp_path / "project")


def commit(repository: Repository, lines: Sequence[str], path: str = "shapes.py") -> None:
    repository.write(path, "".join(f"{line}\n" for line in lines))
    repository.commit("A change")


def replayed(repository: Repository) -> Case:
    """Return the case of the only file from the first commit to the last."""
    return replayed_at(repository.path)


def replayed_at(root: Path) -> Case:
    with History(root) as history:
        (first,) = history.files(0)
        versions = history.follow(first, 0, len(history) - 1)
        assert versions is not None
        case = Replay(history, files=1, seed=1).case(versions, (0, len(history) - 1))
    assert case is not None
    return case


def places(case: Case) -> list[int]:
    """Return the new line of each old one, each taken by itself."""
    return [case.truth.line(line, line, line) for line in range(1, len(case.old.lines) + 1)]


def test_lines_after_an_inserted_block_shift_and_those_before_stay(repository: Repository) -> None:
    commit(repository, NUMBERED)
    commit(repository, [*NUMBERED[:5], *AREA, *NUMBERED[5:]])
    assert places(replayed(repository)) == [*range(1, 6), *range(10, 25)]


def test_a_deleted_range_is_dead_and_nothing_else_is(repository: Repository) -> None:
    commit(repository, NUMBERED)
    commit(repository, [*NUMBERED[:5], *NUMBERED[9:]])
    case = replayed(repository)
    assert places(case) == [*range(1, 6), DEAD, DEAD, DEAD, DEAD, *range(6, 17)]
    assert case.fate((6, 9)) is Fate.DEAD
    assert case.fate((6, 10)) is Fate.REST
    assert case.fate((5, 6)) is Fate.START
    assert case.fate((5, 10)) is Fate.WHOLE


def test_an_edited_line_is_dead_though_one_like_it_takes_its_place(repository: Repository) -> None:
    commit(repository, NUMBERED)
    commit(repository, [*NUMBERED[:5], "value_6 = compute(0)", *NUMBERED[6:]])
    assert places(replayed(repository)) == [*range(1, 6), DEAD, *range(7, 21)]


def test_an_indented_line_is_still_the_same_line(repository: Repository) -> None:
    commit(repository, NUMBERED)
    commit(repository, ["if ready:", *(f"    {line}" for line in NUMBERED)])
    assert places(replayed(repository)) == list(range(2, 22))


def test_a_moved_function_survives_where_it_went(repository: Repository) -> None:
    commit(repository, [*AREA, *VOLUME, *LENGTH, *NUMBERED])
    commit(repository, [*VOLUME, *LENGTH, *NUMBERED, *AREA])
    case = replayed(repository)
    assert (case.true_start((1, 3)), case.true_end((1, 3))) == (29, 31)
    assert (case.true_start((5, 11)), case.true_end((5, 11))) == (1, 7)


def test_changes_compose_over_commits_and_a_rename(repository: Repository) -> None:
    commit(repository, NUMBERED)
    commit(repository, [*AREA, *NUMBERED])
    repository.git("mv", "shapes.py", "figures.py")
    repository.commit("Rename")
    commit(repository, [*AREA, *NUMBERED[:10], *NUMBERED[12:]], "figures.py")
    commit(repository, [*NUMBERED[:10], *NUMBERED[12:]], "figures.py")
    case = replayed(repository)
    assert case.path == "shapes.py -> figures.py"
    assert places(case) == [*range(1, 11), DEAD, DEAD, *range(11, 19)]


def test_what_a_merged_branch_did_counts_as_one_change(repository: Repository) -> None:
    commit(repository, NUMBERED)
    repository.git("switch", "--quiet", "--create", "topic")
    commit(repository, [*NUMBERED, "something = else_entirely()"])
    commit(repository, [*AREA, *NUMBERED])
    repository.git("switch", "--quiet", "main")
    commit(repository, NUMBERED[:-2])
    repository.git("merge", "--quiet", "--no-edit", "topic")
    assert places(replayed(repository)) == [*range(5, 23), DEAD, DEAD]


def test_of_two_copies_the_deleted_one_is_dead_though_the_other_stands(
    repository: Repository,
) -> None:
    commit(repository, [*AREA, *NUMBERED, *AREA, *VOLUME])
    commit(repository, [*NUMBERED, *AREA, *VOLUME])
    case = replayed(repository)
    assert case.fate((1, 3)) is Fate.DEAD
    assert (case.true_start((25, 27)), case.true_end((25, 27))) == (21, 23)
    assert case.stands_once((25, 27))


def test_text_that_was_deleted_and_written_again_did_not_survive(repository: Repository) -> None:
    commit(repository, [*NUMBERED[:10], *AREA, *NUMBERED[10:]])
    commit(repository, NUMBERED)
    commit(repository, [*NUMBERED[:10], *AREA, *NUMBERED[10:], "more = 1"])
    case = replayed(repository)
    assert case.fate((11, 13)) is Fate.RESTORED
    assert case.expected_start((11, 13)) == 11


def test_a_blank_line_at_the_edge_goes_with_the_rest_of_its_range(repository: Repository) -> None:
    commit(repository, [*AREA, *VOLUME])
    commit(repository, [*AREA, *LENGTH, *VOLUME])
    case = replayed(repository)
    assert (case.true_start((1, 4)), case.true_end((1, 4))) == (1, 4)
    assert (case.true_start((4, 7)), case.true_end((4, 7))) == (8, 11)


def test_a_bracket_between_rewritten_lines_proves_nothing(repository: Repository) -> None:
    commit(repository, [*NUMBERED[:3], "one()", "}", "two()", "}", "three()", *NUMBERED[3:]])
    commit(
        repository,
        [*NUMBERED[:3], "first()", "}", "second()", "third()", "fourth()", *NUMBERED[3:]],
    )
    case = replayed(repository)
    assert case.fate((4, 8)) is Fate.DEAD
    assert case.fate((5, 5)) is Fate.UNKNOWN
    assert case.fate((3, 9)) is Fate.WHOLE


def test_lines_that_look_like_a_patch_are_lines(repository: Repository) -> None:
    odd = [
        "commit 0123456789",
        "@@ -1,3 +1,9 @@",
        ":100644 100644 a b M\tx",
        "index 12..34",
        "-- a/x",
        "++ b/x",
        "\\ No newline",
    ]
    commit(repository, [*NUMBERED, *odd])
    repository.write("shapes.py", "\n".join(NUMBERED))
    repository.commit("Delete them, and the last newline")
    commit(repository, [*odd, *NUMBERED])
    assert places(replayed(repository)) == [*range(8, 28), *[DEAD] * 7]


def test_a_seed_asks_for_the_same_again(repository: Repository) -> None:
    for turn in range(8):
        commit(repository, [*NUMBERED[:turn], *AREA, *NUMBERED[turn:]])

    def asked(seed: int) -> list[object]:
        with History(repository.path) as history:
            return [
                (case.moments, case.path, case.ranges)
                for case in Replay(history, files=2, seed=seed).cases(12)
            ]

    assert asked(1) == asked(1) != []
    assert asked(1) != asked(2)


def test_a_bare_repository_is_read_alike(repository: Repository, tmp_path: Path) -> None:
    commit(repository, NUMBERED)
    commit(repository, [*AREA, *NUMBERED])
    repository.git("clone", "--quiet", "--bare", str(repository.path), str(tmp_path / "bare"))
    assert places(replayed_at(tmp_path / "bare")) == list(range(5, 25))
