"""Settings: what makes no sense falls back, one by one."""

from __future__ import annotations

from typing import Any, NamedTuple

import pytest

from vibes_lsp.lsp.protocol.settings import Settings, read_settings
from vibes_lsp.model.vocabulary import Band


@pytest.mark.parametrize(
    "given",
    [
        None,
        7,
        "text",
        [],
        [{"hover": {"enable": False}}],
        {},
        {"vibes": None},
        {"vibes": []},
        {"other": 1},
    ],
)
def test_nothing_usable_gives_the_defaults(given: object) -> None:
    assert (
        read_settings(given)
        == Settings()
        == Settings(
            minimum_band=Band.HIGH, hover=True, code_lens=True, diagnostics=True, show_prompts=True
        )
    )


def test_everything_at_once() -> None:
    given = {
        "hover": {"enable": False},
        "codeLens": {"enable": False},
        "diagnostics": {"enable": False, "minimumBand": "low"},
        "prompts": {"show": False},
    }
    wanted = Settings(
        hover=False, code_lens=False, diagnostics=False, minimum_band=Band.LOW, show_prompts=False
    )
    assert read_settings(given) == read_settings({"vibes": given}) == wanted


@pytest.mark.parametrize(
    ("band", "wanted"),
    [("all", None), ("low", Band.LOW), ("ALL", Band.HIGH), (None, Band.HIGH), (["all"], Band.HIGH)],
)
def test_which_annotations_have_a_lens(band: object, wanted: Band | None) -> None:
    settings = read_settings({"codeLens": {"minimumBand": band, "enable": False}})
    assert settings == Settings(code_lens=False, lens_band=wanted)


@pytest.mark.parametrize("name", [None, 7, "", "  ", [], {}])
def test_what_is_no_name_is_no_reviewer(name: object) -> None:
    assert read_settings({"reviewer": name}) == Settings()
    assert read_settings({"reviewer": "Ada"}) == Settings(reviewer="Ada")


@pytest.mark.parametrize("band", [None, 7, [], {}, "utmost", "HIGH", True])
def test_a_wrong_band_leaves_its_neighbours_alone(band: object) -> None:
    settings = read_settings(
        {"diagnostics": {"minimumBand": band, "enable": False}, "hover": {"enable": False}}
    )
    assert settings == Settings(hover=False, diagnostics=False)


@pytest.mark.parametrize("value", [None, 0, 1, "false", [], {}])
def test_what_is_no_switch_stays_on(value: Any) -> None:
    assert (
        read_settings(
            {
                name: {"enable": value}
                for name in ("hover", "codeLens", "codeActions", "diagnostics", "notes")
            }
        )
        == Settings()
    )
    assert read_settings({"hover": value, "prompts": {"show": value}}) == Settings()


class Given(NamedTuple):
    """An object as the protocol library hands some over."""

    vibes: NamedTuple


class Section(NamedTuple):
    """The section within it."""

    hover: dict[str, bool]


def test_objects_that_came_as_tuples_with_names() -> None:
    assert read_settings(Given(Section({"enable": False}))) == Settings(hover=False)
