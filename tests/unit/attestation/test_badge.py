"""Badges: what is drawn, what is read back from others' files, and which claims hold."""

from __future__ import annotations

import json
import re
from typing import Final
from xml.etree import ElementTree as ET

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vibes_lsp.attestation.badge import (
    LABEL,
    BadgeClaim,
    BadgeTier,
    badge_findings,
    differences,
    find_badges,
    markdown,
    shields_endpoint,
    svg,
)
from vibes_lsp.errors import BadBadge
from vibes_lsp.model.vocabulary import AssuranceLevel

SVG_NAMESPACE: Final = "{http://www.w3.org/2000/svg}"
MEDIUM: Final = BadgeClaim("42%", AssuranceLevel.MEDIUM, BadgeTier.SELF_ATTESTED)
claims = st.builds(
    BadgeClaim.of,
    st.just(1000),
    st.integers(0, 1000),
    st.none() | st.sampled_from(AssuranceLevel),
    st.sampled_from(BadgeTier),
)


@pytest.mark.parametrize(
    ("lines", "verified", "share"),
    [
        (0, 0, "0%"),
        (1000, 0, "0%"),
        (1000, 1, "<1%"),
        (1000, 424, "42%"),
        (1000, 999, ">99%"),
        (1000, 1000, "100%"),
    ],
)
def test_only_exact_shares_are_0_and_100_percent(lines: int, verified: int, share: str) -> None:
    assert BadgeClaim.of(lines, verified, None, BadgeTier.NOT_ATTESTED).share == share


@given(claims)
def test_every_drawn_badge_says_its_claim_again(claim: BadgeClaim) -> None:
    files = (svg(claim), json.dumps(shields_endpoint(claim)), f"# Lamp\n\n{markdown(claim)}\n")
    for file, line in zip(files, (1, 1, 3), strict=True):
        [found] = find_badges(file.encode("ascii"))
        assert (found.claim, found.problem, found.line) == (claim, "", line)


@given(claims)
def test_an_svg_is_accessible_and_takes_nothing_from_elsewhere(claim: BadgeClaim) -> None:
    drawn = svg(claim)
    root = ET.fromstring(drawn)  # our own
    title = root.findtext(f"{SVG_NAMESPACE}title")
    assert (root.get("role"), root.get("aria-label")) == ("img", title)
    assert [each.text for each in root.iter(f"{SVG_NAMESPACE}text")] == [LABEL, claim.message]
    assert not re.search(r"script|href|@import|url\((?!#)|\bon\w+=", drawn)
    for background in re.findall(r'fill="(#\w{6})"', drawn):
        assert _contrast_with_white(background) >= 4.5  # WCAG 2, level AA


def _contrast_with_white(colour: str) -> float:
    channels = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    linear = [
        value / 12.92 if value <= 0.04045 else ((value + 0.055) / 1.055) ** 2.4
        for value in channels
    ]
    luminance = sum(w * value for w, value in zip((0.2126, 0.7152, 0.0722), linear, strict=True))
    return 1.05 / (luminance + 0.05)


@pytest.mark.parametrize(
    ("written", "share"),
    [
        ("![AI](https://img.shields.io/badge/AI--Generated-50%25-ff69b4?style=flat-square)", "50%"),
        ("<img src='https://img.shields.io/badge/AI_generated-7%25-blue.svg'>", "7%"),
        ("[b]: http://img.shields.io/badge/ai--generated-100%25-ff69b4", "100%"),
    ],
)
def test_static_badges_of_others_are_read(written: str, share: str) -> None:
    [found] = find_badges(written.encode())
    assert found.claim == BadgeClaim(share)


@pytest.mark.parametrize("share", ["half", "12", "050%25", "101%25", "-5%25", "4.2%25", "%F0%9F"])
def test_a_badge_without_a_share_is_a_finding(share: str) -> None:
    text = f"x\nhttps://img.shields.io/badge/AI--Generated-{share}-ff69b4"
    [found] = badge_findings(find_badges(text.encode()), MEDIUM, "README.md")
    assert (found.message, found.line) == ("the badge names no share in percent", 2)


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"no badge",
        b"![t](https://img.shields.io/badge/tests-100%25-green)",
        b"<svg/>",
        b"<svg><title>AI-generated: a lot</title></svg>",
        b"{",
        b'{"schemaVersion":1,"label":"tests","message":"42%"}',
        b'{"schemaVersion":1,"label":"AI-generated"}',
        b"\xff\xfe<\x00s\x00v\x00g\x00",
    ],
)
def test_a_file_without_a_badge_is_refused(data: bytes) -> None:
    with pytest.raises(BadBadge):
        find_badges(data)


def test_a_picture_that_does_not_fit_its_title_is_found() -> None:
    forged = svg(MEDIUM).replace(">42% &#183;", ">2% &#183;")
    assert forged != svg(MEDIUM)
    [found] = badge_findings(find_badges(forged.encode()), MEDIUM, "badge.svg")
    assert "not the one that `vibes badge` draws" in found.message
    [checked_out] = find_badges(svg(MEDIUM).replace("\n", "\r\n").encode())
    assert checked_out.problem == ""


@pytest.mark.parametrize(
    ("claimed", "actual", "expected"),
    [
        (MEDIUM, MEDIUM, []),
        (BadgeClaim("42%"), MEDIUM, []),
        (BadgeClaim("41%"), MEDIUM, ["it claims 41% AI lines, but 42% are verified"]),
        (BadgeClaim("<1%"), BadgeClaim("0%"), ["it claims <1% AI lines, but 0% are verified"]),
        (BadgeClaim("42%", AssuranceLevel.LOW, BadgeTier.NOT_ATTESTED), MEDIUM, []),
        (
            BadgeClaim("42%", AssuranceLevel.HIGH, BadgeTier.TOOL_CORROBORATED),
            MEDIUM,
            [
                "it claims assurance level high, but the data shows medium",
                "it claims tool-corroborated, but the trail is self-attested",
            ],
        ),
        (
            MEDIUM,
            BadgeClaim("42%", AssuranceLevel.MEDIUM, BadgeTier.IN_PART),
            ["it claims self-attested, but the trail is attested in part"],
        ),
        (
            MEDIUM,
            BadgeClaim("42%", None, BadgeTier.NOT_ATTESTED),
            [
                "it claims assurance level medium, but the data shows level unknown",
                "it claims self-attested, but the trail is not attested",
            ],
        ),
    ],
)
def test_a_claim_holds_if_the_data_shows_as_much(
    claimed: BadgeClaim, actual: BadgeClaim, expected: list[str]
) -> None:
    assert list(differences(claimed, actual)) == expected


_ADDRESS: Final = "https://img.shields.io/badge/AI--generated-42%25"


@pytest.mark.parametrize(
    ("badge", "expected"),
    [
        (f"{_ADDRESS}-ff69b4", []),
        (f"{_ADDRESS}-5c5c5c", []),
        (f"{_ADDRESS}-1A6B38", ["its colour says tool-corroborated, and its text not attested"]),
        (f"{_ADDRESS}-ff69b4?color=%231f5fa8", ["its colour says self-attested, and"]),
        (f"{_ADDRESS}-ff69b4?style=flat&amp;label=AI+generated", []),
        (f"{_ADDRESS}-ff69b4?label=written%20by%20people", ["the label 'written by people'"]),
        ("https://img.shields.io/badge/x-42%25-ff69b4?label=AI-Generated", []),
        ('{"label":"AI-generated","message":"42%","color":"green"}', []),
        ('{"label":"AI-generated","message":"42%","color":"#1F5FA8"}', ["its colour says self"]),
    ],
)
def test_a_colour_of_ours_and_another_label_are_claims_too(badge: str, expected: list[str]) -> None:
    found = list(badge_findings(find_badges(badge.encode()), MEDIUM, "README.md"))
    assert len(found) == len(expected), found
    assert all(part in each.message for part, each in zip(expected, found, strict=True))


def test_digits_of_other_scripts_are_no_share() -> None:
    title = (
        "AI-generated: \N{ARABIC-INDIC DIGIT THREE}% of lines, verified; level unknown; tool-only"
    )
    with pytest.raises(BadBadge, match="no claim"):
        find_badges(f"<svg><title>{title}</title></svg>".encode())


def test_each_of_many_badges_has_its_line() -> None:
    badges = find_badges(f"{_ADDRESS}-ff69b4 {_ADDRESS}-ff69b4\n\n{_ADDRESS}-ff69b4".encode())
    assert [badge.line for badge in badges] == [1, 1, 3]
