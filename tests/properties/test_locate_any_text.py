"""Places in any text: within bounds, in any order, exact again after an undo."""

from __future__ import annotations

import os
import subprocess
import sys
from random import Random

from hypothesis import given
from hypothesis import strategies as st

from tests.requirements import REPOSITORY
from tests.trails import anchors
from vibes_lsp.anchors.create_anchors import Anchors
from vibes_lsp.anchors.known_text import locate_from
from vibes_lsp.anchors.locate import locate
from vibes_lsp.anchors.location import AnchoredRange, LocatedRange, State
from vibes_lsp.anchors.text import Text

WORDS = st.sampled_from(
    [
        "",
        "}",
        "    return None",
        "a = 1",
        "b = f(a)",
        "\tc",
        "漢 = 'ä'",
        "😀",
        "x\r",
        "\x0c",
        "\ud800",
    ]
)
TEXTS = st.lists(WORDS, max_size=30).map("\n".join)
NUMBERED = st.lists(st.integers(0, 10_000), unique=True, min_size=6, max_size=40)


def recorded(text: str, start: int, end: int) -> AnchoredRange:
    made = anchors(text, start, end)
    return AnchoredRange(
        start, end, Anchors(made.anchor_context, made.anchor_hash, made.file_content_hash)
    )


ANCHORS = st.builds(
    Anchors,
    st.one_of(st.none(), TEXTS, st.text(max_size=300)),
    st.one_of(st.none(), st.text(max_size=70), st.just("0" * 64)),
    st.one_of(st.none(), st.text(max_size=70)),
)
RANGES = st.lists(
    st.builds(
        lambda start, length, made: AnchoredRange(start, start + length, made),
        st.integers(1, 60),
        st.integers(0, 40),
        ANCHORS,
    ),
    max_size=8,
)


@given(RANGES, TEXTS, st.one_of(st.none(), TEXTS))
def test_any_text_and_any_anchors_give_places_within_the_text(
    ranges: list[AnchoredRange], now: str, then: str | None
) -> None:
    text = Text(now)
    for located in locate_from(None if then is None else Text(then), ranges, text):
        assert (located.start is None) == (located.end is None) == (located.state == State.LOST)
        if located.start is not None and located.end is not None:
            assert 1 <= located.start <= located.end <= len(text.lines)
            assert len(located.kinds) in {0, located.end - located.start + 1}
        assert 0 <= located.confidence <= 1


@given(NUMBERED, st.integers(0, 3), st.integers(1, 20), st.booleans())
def test_an_edit_far_from_a_range_moves_it_exactly(
    numbers: list[int], removed: int, added: int, before: bool
) -> None:
    lines = [f"value_{number} = compute({number})" for number in numbers]
    start, end = len(lines) - 2, len(lines)
    then = "\n".join(lines)
    now = (
        [*(f"new_{number}" for number in range(added)), *lines[removed:]]
        if before
        else [*lines, *(f"new_{number}" for number in range(added))]
    )
    offset = added - removed if before else 0
    each = recorded(then, start, end)
    for old in (None, Text(then)):
        (located,) = locate_from(old, [each], Text("\n".join(now)))
        assert (located.start, located.end, located.sure) == (start + offset, end + offset, True)


@given(
    TEXTS.map(lambda text: text.replace("\ud800", "")).filter(lambda text: bool(Text(text).lines)),
    st.integers(1, 30),
    st.integers(0, 10),
)
def test_a_range_is_exact_again_after_an_undo(then: str, start: int, length: int) -> None:
    total = len(Text(then).lines)
    start = min(start, total)
    end = min(start + length, total)
    each = recorded(then, start, end)
    for old in (None, Text(then)):
        (located,) = locate_from(old, [each], Text(then))
        assert (located.start, located.end, located.state) == (start, end, State.EXACT)


@given(RANGES, TEXTS, st.randoms(use_true_random=False))
def test_the_order_of_ranges_does_not_matter(
    ranges: list[AnchoredRange], now: str, random: Random
) -> None:
    shuffled = list(range(len(ranges)))
    random.shuffle(shuffled)
    one = locate(ranges, Text(now))
    other = locate([ranges[number] for number in shuffled], Text(now))
    assert [one[number] for number in shuffled] == other


PROGRAM = """
from tests.properties.test_locate_any_text import places
print(places())
"""


def places() -> list[LocatedRange]:
    """Locate many ranges of a text with many copies in another one."""
    random = Random(7)
    lines = [
        random.choice(["a = 1", "b = 2", "    c()", "}", f"value_{number}"])
        for number in range(200)
    ]
    then = "\n".join(lines)
    now = list(lines)
    for _ in range(20):
        at = random.randrange(len(now))
        now[at : at + random.randrange(4)] = [
            random.choice(lines) for _ in range(random.randrange(4))
        ]
    ranges = [recorded(then, start, start + 5) for start in range(1, 190, 3)]
    text = Text("\n".join(now))
    return [*locate(ranges, text), *locate_from(Text(then), ranges, text)]


def test_hash_seeds_change_nothing() -> None:
    said = set()
    for seed in ("1", "2", "3"):
        environment = {**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": str(REPOSITORY)}
        run = subprocess.run(
            [sys.executable, "-c", PROGRAM],
            capture_output=True,
            text=True,
            check=True,
            env=environment,
        )
        said.add(run.stdout)
    assert len(said) == 1
    assert said.pop().strip() == str(places())
