"""`vibes badge` and `vibes check --badge`: a badge claims what the data shows, by verified lines."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from tests.cli.attested_project import AttestedProject

if TYPE_CHECKING:
    from pathlib import Path


def _findings(project: AttestedProject, file: Path, code: int) -> list[tuple[str, int, str]]:
    found = project.run("check", "--badge", file, "--json", code=code).json["findings"]
    return [
        (each["file"], each["line"], each["message"])
        for each in found
        if each["check"] == "badge-claim"
    ]


def test_the_numbers_are_those_of_coverage_and_of_verify(attested: AttestedProject) -> None:
    numbers = attested.run("badge", "--json").json
    total = attested.run("stats", "--by", "file", "--json").json["total"]
    assert (numbers["lines"], numbers["verifiedLines"], numbers["share"]) == (
        total["lines"],
        total["verifiedLines"],
        total["share"],
    )
    assert numbers["tier"] == attested.run("verify", "--json").json["tier"] == "self-attested"
    assert numbers["assuranceLevel"] == "low"  # some verified lines have no reasoning, no prompt
    assert numbers["message"] == f"{total['share']:.0%} · low · self-attested"


@pytest.mark.parametrize("form", [[], ["--shields"], ["--markdown"]])
def test_a_badge_holds_for_its_own_data(
    attested: AttestedProject, tmp_path: Path, form: list[str]
) -> None:
    file = tmp_path / "badge"
    file.write_text(attested.run("badge", *form).out, encoding="utf-8")
    assert attested.run("badge", *form).out == file.read_text(encoding="utf-8")
    assert _findings(attested, file, 0) == []


def test_a_claim_without_evidence_fails_the_check(
    attested: AttestedProject, tmp_path: Path
) -> None:
    readme = tmp_path / "README.md"
    readme.write_text("# Shop\n\n![AI](https://img.shields.io/badge/AI--Generated-10%25-ff69b4)\n")
    [(file, line, message)] = _findings(attested, readme, 1)
    assert (file, line) == (readme.as_posix(), 3)
    assert message == "it claims 10% AI lines, but 58% are verified"


def test_a_true_claim_in_a_comment_does_not_cover_a_false_picture(
    attested: AttestedProject, tmp_path: Path
) -> None:
    picture = tmp_path / "badge.SVG"
    false = attested.run("badge").out.replace("58%", "5%")
    picture.write_text(f"<!-- {attested.run('badge', '--markdown').out} -->\n{false}")
    messages = [message for *_, message in _findings(attested, picture, 1)]
    assert "it claims 5% AI lines, but 58% are verified" in messages


def test_lines_that_a_record_only_claims_do_not_count(own: AttestedProject) -> None:
    badge = own.root / "badge.svg"
    badge.write_text(own.run("badge").out)
    source = next(own.root.glob("src/*.py"))
    source.write_text(source.read_text().replace("    ", "        "))
    [(_, _, message)] = _findings(own, badge, 1)
    assert message.startswith("it claims 58%")


def test_the_tier_of_a_badge_falls_with_a_changed_file(own: AttestedProject) -> None:
    badge = own.root / "badge.json"
    badge.write_text(own.run("badge", "--shields").out)
    config = json.loads((own.audit / "config.json").read_bytes())
    config["project_name"] = "renamed"
    (own.audit / "config.json").write_text(json.dumps(config))
    assert own.run("verify", "--json", code=1).json["tier"] == "none"
    assert own.run("badge", "--json").json["tier"] == "none"
    assert _findings(own, badge, 1) == [
        ("badge.json", 1, "it claims self-attested, but the trail is not attested")
    ]


def test_the_tier_of_a_badge_survives_growth_that_cannot_change_its_share(
    own: AttestedProject,
) -> None:
    badge = own.root / "badge.svg"
    badge.write_text(own.run("badge").out)
    own.append_record()
    assert own.run("verify", "--json").json["tier"] == "self-attested"
    assert own.run("badge", "--json").json["unsigned"] == 0
    assert _findings(own, badge, 0) == []


def test_a_share_that_unsigned_records_changed_has_no_tier(own: AttestedProject) -> None:
    badge = own.root / "badge.svg"
    badge.write_text(own.run("badge").out)
    own.annotate_new_file("src/added.py")
    numbers = own.run("badge", "--json").json
    assert numbers["message"].endswith(" · attested in part")
    assert (numbers["tier"], numbers["unsigned"]) == ("self-attested", 1)
    assert own.run("verify", "--json").json["tier"] == numbers["tier"]
    messages = [message for *_, message in _findings(own, badge, 1)]
    assert "it claims self-attested, but the trail is attested in part" in messages
    assert any("AI lines, but" in message for message in messages)
    own.run("attest")
    assert own.run("badge", "--json").json["message"].endswith(" · self-attested")


def test_an_unsigned_edge_takes_the_tier_but_no_verified_line(own: AttestedProject) -> None:
    badge = own.root / "badge.svg"
    badge.write_text(own.run("badge").out)
    before = own.run("badge", "--json").json
    own.append_superseding_edge()
    numbers = own.run("badge", "--json").json
    assert numbers["message"].endswith(" · attested in part")
    assert (numbers["tier"], numbers["unsigned"]) == ("self-attested", 1)
    assert numbers["verifiedLines"] == before["verifiedLines"]
    messages = [message for *_, message in _findings(own, badge, 1)]
    assert messages == ["it claims self-attested, but the trail is attested in part"]


def test_a_stranger_without_the_key_claims_no_tier(
    attested: AttestedProject, tmp_path: Path
) -> None:
    stranger = AttestedProject(attested.root, tmp_path / "stranger")
    stranger.home.mkdir()
    assert stranger.run("badge", "--json").json["tier"] == "none"


def test_a_file_without_a_badge_is_an_error(attested: AttestedProject, tmp_path: Path) -> None:
    file = tmp_path / "plain.md"
    file.write_text("# Nothing\n")
    assert "there is no badge about AI lines" in attested.run("check", "--badge", file, code=2).err
    assert "does not exist" in attested.run("check", "--badge", tmp_path / "no", code=2).err
