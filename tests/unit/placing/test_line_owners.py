"""Whose each line is, before and after commits, rewrites and moves (R31, R32)."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from tests.unit.placing.waiting_edits import lines_of

if TYPE_CHECKING:
    from pathlib import Path

    from tests.unit.placing.projects import Project

BLOCK = lines_of(1, 6)
OTHER = lines_of(1, 6, "other")
PERSON = lines_of(1, 4, "person")
NONE = "unrecorded"


def clone(project: Project, *options: str) -> Path:
    folder = project.repository.path.parent / "clone"
    source = project.repository.path.as_uri()
    project.git("clone", "--quiet", *options, source, str(folder))
    return folder


def test_lines_are_an_edits_before_their_commit_after_it_and_in_a_clone(project: Project) -> None:
    project.person("a.py", *PERSON)
    project.commit()
    project.ai("one", "a.py", *PERSON[:2], *BLOCK, *PERSON[2:], wrote=(3, 8))
    expected = [NONE] * 2 + ["ai one"] * 6 + [NONE] * 2
    assert project.owners("a.py") == expected
    project.commit()
    assert project.owners("a.py") == expected
    assert project.owners("a.py", clone(project)) == expected


def test_a_persons_lines_are_never_an_edits(project: Project) -> None:
    project.ai("one", "a.py", *BLOCK)
    project.commit()
    project.person("a.py", *BLOCK[:3], *PERSON, *BLOCK[3:])
    expected = ["ai one"] * 3 + [NONE] * 4 + ["ai one"] * 3
    assert project.owners("a.py") == expected
    project.commit()
    assert project.owners("a.py") == expected


def test_a_copy_is_not_an_edits_while_the_original_stands(project: Project) -> None:
    project.ai("one", "a.py", *BLOCK)
    project.commit()
    project.person("b.py", *BLOCK)
    assert project.owners("b.py") == [NONE] * 6
    project.commit()
    assert project.owners("b.py") == [NONE] * 6


def test_beside_its_copy_a_block_is_an_edits_once_git_decides(project: Project) -> None:
    project.person("a.py", *PERSON)
    project.commit()
    project.ai("one", "a.py", *PERSON[:2], *BLOCK, *PERSON[2:], wrote=(3, 8))
    project.commit()
    project.person("a.py", *PERSON[:2], *BLOCK, *BLOCK, *PERSON[2:])
    assert project.owners("a.py") == [NONE] * 16
    project.commit()
    owners = project.owners("a.py")
    assert sorted([owners[2:8], owners[8:14]]) == [["ai one"] * 6, [NONE] * 6]


def test_a_copy_in_the_commit_of_the_original_is_not_an_edits(project: Project) -> None:
    project.person("a.py", *PERSON)
    project.commit()
    project.ai("one", "a.py", *PERSON, *BLOCK, wrote=(5, 10))
    project.person("a.py", *BLOCK, *PERSON, *BLOCK)
    expected = [NONE] * 10 + ["ai one"] * 6
    assert project.owners("a.py") == expected
    project.commit()
    assert project.owners("a.py") == expected
    assert project.owners("a.py", clone(project)) == expected


def test_what_a_commit_took_away_and_a_person_typed_again_is_not_an_edits(
    project: Project,
) -> None:
    project.ai("one", "a.py", *PERSON, *BLOCK, wrote=(5, 10))
    project.commit()
    project.person("a.py", *PERSON)
    project.commit()
    project.person("a.py", *PERSON, *BLOCK)
    assert project.owners("a.py") == [NONE] * 10
    project.commit()
    assert project.owners("a.py") == [NONE] * 10


def test_a_block_that_one_commit_moves_is_followed(project: Project) -> None:
    project.ai("one", "a.py", *PERSON[:2], *BLOCK, wrote=(3, 8))
    project.person("b.py", *PERSON[2:])
    project.commit()
    project.person("a.py", *PERSON[:2])
    project.person("b.py", *PERSON[2:], *BLOCK)
    assert project.owners("b.py") == [NONE] * 2 + ["ai one"] * 6
    project.commit()
    assert project.owners("b.py") == [NONE] * 2 + ["ai one"] * 6
    assert project.owners("b.py", clone(project)) == [NONE] * 2 + ["ai one"] * 6


def test_a_renamed_file_keeps_its_owners(project: Project) -> None:
    project.ai("one", "a.py", *BLOCK)
    project.commit()
    project.git("mv", "a.py", "b.py")
    project.commit()
    assert project.owners("b.py") == ["ai one"] * 6


def test_what_a_person_adds_to_a_renamed_file_is_not_what_was_beside_it(project: Project) -> None:
    end = ["    return None", ""]
    project.ai("one", "a.py", *BLOCK, *end, *PERSON, wrote=(1, 8))
    project.commit()
    project.git("mv", "a.py", "b.py")
    project.person("b.py", *BLOCK, *end, *OTHER[:3], BLOCK[0], *end, *PERSON)
    project.commit()
    assert project.owners("b.py") == ["ai one"] * 8 + [NONE] * 10


def test_an_edit_keeps_its_lines_when_commits_change_places(project: Project) -> None:
    common = "raise ValueError(value)"
    project.person("a.py", *PERSON)
    start = project.commit()
    project.ai("one", "a.py", common, *BLOCK, *PERSON, wrote=(1, 7))
    first = project.commit()
    project.ai("two", "a.py", common, *BLOCK, *PERSON, *OTHER, common, wrote=(12, 18))
    second = project.commit()
    project.git("reset", "--quiet", "--hard", start)
    project.git("cherry-pick", second, first)
    expected = ["ai one"] * 7 + [NONE] * 4 + ["ai two"] * 7
    assert project.owners("a.py") == expected
    assert project.owners("a.py", clone(project)) == expected


def test_a_reverted_revert_brings_the_owners_back(project: Project) -> None:
    project.person("a.py", *PERSON)
    project.commit()
    project.ai("one", "a.py", *PERSON, *BLOCK, wrote=(5, 10))
    project.commit()
    project.git("revert", "--no-edit", "HEAD")
    project.git("revert", "--no-edit", "HEAD")
    assert project.owners("a.py") == [NONE] * 4 + ["ai one"] * 6


def test_a_deletion_that_was_reverted_brings_the_owners_back(project: Project) -> None:
    project.ai("one", "a.py", *PERSON, *BLOCK, wrote=(5, 10))
    project.commit()
    project.person("a.py", *PERSON)
    project.commit()
    project.git("revert", "--no-edit", "HEAD")
    assert project.owners("a.py") == [NONE] * 4 + ["ai one"] * 6


def test_a_squash_keeps_the_owners(project: Project) -> None:
    project.person("a.py", *PERSON)
    start = project.commit()
    project.ai("one", "a.py", *PERSON, *BLOCK, wrote=(5, 10))
    project.commit()
    project.ai("two", "a.py", *OTHER, *PERSON, *BLOCK, wrote=(1, 6))
    project.commit()
    project.git("reset", "--quiet", "--soft", start)
    project.git("commit", "--quiet", "--no-verify", "--message", "Squash")
    expected = ["ai two"] * 6 + [NONE] * 4 + ["ai one"] * 6
    assert project.owners("a.py", clone(project)) == expected


def test_white_space_makes_lines_edited(project: Project) -> None:
    project.ai("one", "a.py", *BLOCK)
    project.commit()
    project.person("a.py", *(f"    {line}" for line in BLOCK))
    assert project.owners("a.py") == ["edited one"] * 6
    project.commit()
    assert project.owners("a.py") == ["edited one"] * 6
    assert project.owners("a.py", clone(project)) == ["edited one"] * 6


def test_a_commit_that_blame_shall_ignore_makes_lines_edited(project: Project) -> None:
    project.ai("one", "a.py", *BLOCK)
    project.commit()
    project.person("a.py", *(line.replace("(", "( ").replace("=", ":=") for line in BLOCK))
    formatted = project.commit()
    assert project.owners("a.py") == [NONE] * 6
    project.repository.write(".git-blame-ignore-revs", f"# format\n{formatted}\n{'0' * 40}\n")
    project.commit()
    assert project.owners("a.py") == ["edited one"] * 6


def test_an_edit_that_no_hook_saw_is_its_own_here(project: Project) -> None:
    project.ai("one", "a.py", *PERSON, *BLOCK, wrote=(5, 10))
    project.git("add", "--all")
    project.git("commit", "--quiet", "--no-verify", "--message", "No hook")
    expected = [NONE] * 4 + ["ai one"] * 6
    assert project.owners("a.py") == expected
    project.person("b.py", "later")
    project.commit()
    assert project.owners("a.py", clone(project)) == expected


def test_at_a_shallow_boundary_only_exact_records_are_sure(project: Project) -> None:
    project.ai("one", "a.py", *BLOCK)
    project.commit()
    project.ai("two", "a.py", *BLOCK, *OTHER, wrote=(7, 12))
    project.commit()
    folder = clone(project, "--depth=1")
    assert project.owners("a.py", folder) == ["claimed one"] * 6 + ["ai two"] * 6


def test_a_record_that_is_appended_later_takes_no_line(project: Project) -> None:
    project.ai("one", "a.py", *BLOCK)
    project.commit()
    (line,) = project.log()
    forged = json.loads(line) | {"prompt": "forged", "timestamp": "2099-01-01T00:00:00.000Z"}
    forged["annotation_id"] = "f" * 64
    log = f"{line}\n{json.dumps(forged)}\n"
    project.repository.write(".ai-audit/annotations.jsonl", log)
    project.commit()
    assert project.owners("a.py") == ["ai one"] * 6


def test_a_claim_that_is_not_sure_is_never_verified(project: Project) -> None:
    project.ai("one", "a.py", *BLOCK)
    project.person("a.py", *BLOCK[:2], *PERSON)
    expected = ["claimed one"] * 2 + [NONE] * 4
    assert project.owners("a.py") == expected
    project.commit()
    assert project.owners("a.py") == expected
    assert project.owners("a.py", clone(project)) == expected


def test_line_ends_do_not_matter(project: Project) -> None:
    project.repository.write(".gitattributes", "*.py text eol=crlf\n")
    project.ai("one", "a.py", *BLOCK)
    project.repository.write("a.py", "".join(f"{line}\r\n" for line in BLOCK))
    project.commit()
    assert project.owners("a.py") == ["ai one"] * 6


def test_lines_within_a_copy_that_an_edit_replaced_meanwhile_are_not_moved(
    project: Project,
) -> None:
    project.ai("one", "a.py", *BLOCK, *PERSON, wrote=(1, 6))
    project.commit()
    project.person("a.py", *BLOCK, *PERSON, *BLOCK)
    project.ai("two", "a.py", BLOCK[0], *OTHER[:3], *BLOCK[4:], *PERSON, *BLOCK, wrote=(2, 4))
    expected = ["ai one", *["ai two"] * 3, "ai one", "ai one"]
    assert project.owners("a.py") == [*expected, *[NONE] * 10]
    project.commit()
    assert project.owners("a.py") == [*expected, *[NONE] * 10]
