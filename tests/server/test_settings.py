"""Settings: where they come from, what each switch does, and that a wrong value spoils no other."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from lsprotocol import types
from pygls.exceptions import JsonRpcException

from tests.server.editor import Editor
from tests.server.profiles import PROFILES
from tests.server.project import AS_RECORDED, Project
from tests.server.sessions import session

OFF: dict[str, Any] = {"enable": False}
ALL_OFF: dict[str, Any] = {
    "hover": OFF,
    "codeLens": OFF,
    "diagnostics": OFF,
    "prompts": {"show": False},
}
Surfaces = tuple[bool, bool, bool, bool]
"""Whether there are hovers, lenses, diagnostics and prompts in placements."""
EVERYTHING: Surfaces = (True, True, True, True)


@pytest.fixture
def asked(project: Project) -> Project:
    """A project with something to say on every surface, in `a.py`."""
    project.config(risk_scoring=AS_RECORDED)
    project.annotated(risk_score=0.7, prompt=project.prompt("Write a digest."))
    return project


async def surfaces(editor: Editor, uri: str) -> Surfaces:
    hover = await editor.hover_whole(uri, 4)
    (found,) = (await editor.provenance(uri))["placements"]
    return (
        hover is not None,
        bool(await editor.lens_places(uri)),
        bool(await editor.diagnostics(uri)),
        "prompt" in found,
    )


@pytest.mark.parametrize(
    ("settings", "shown"),
    [
        ({}, EVERYTHING),
        ({"hover": OFF}, (False, True, True, True)),
        ({"codeLens": OFF}, (True, False, True, True)),
        ({"diagnostics": OFF}, (True, True, False, True)),
        ({"diagnostics": {"minimumBand": "critical"}}, (True, True, False, True)),
        ({"prompts": {"show": False}}, (True, True, True, False)),
        (ALL_OFF, (False,) * 4),
    ],
    ids=["default", "hover", "codeLens", "diagnostics", "minimumBand", "prompts", "all"],
)
async def test_each_switch_turns_off_what_it_names(
    editor: Editor, asked: Project, settings: dict[str, Any], shown: Surfaces
) -> None:
    uri = editor.open(asked.root / "a.py")
    await editor.set(**settings)
    assert await surfaces(editor, uri) == shown
    await editor.set()
    assert await surfaces(editor, uri) == EVERYTHING


async def test_prompts_that_are_not_shown_are_in_no_answer(editor: Editor, asked: Project) -> None:
    uri = editor.open(asked.root / "a.py")
    await editor.set(prompts={"show": False})
    (found,) = (await editor.provenance(uri))["placements"]
    (looked_up,) = (await editor.run("vibes.lookup", {"uri": uri}))["placements"]
    lenses = await editor.lenses(uri)
    told = [
        await editor.hover(uri, 4),
        str(found),
        str(looked_up),
        str(lenses),
        str(await editor.diagnostics(uri)),
    ]
    assert [each for each in told if "Write a digest" in each] == []
    assert found["promptHash"] == looked_up["promptHash"]


@pytest.mark.parametrize(
    "wrong",
    [
        {"hover": "no", "codeLens": 0, "diagnostics": [], "prompts": None},
        {
            "hover": {"enable": "false"},
            "codeLens": {"enable": 0},
            "diagnostics": {"enable": None},
            "prompts": {"show": "no"},
        },
        {
            "hover": {"enabled": False},
            "unknown": {"enable": False},
            "diagnostics": {"minimumBand": "worst"},
        },
        {"hover": {}, "diagnostics": {"minimumBand": 4}},
        {"diagnostics": {"minimumBand": ["critical"]}},
        {"diagnostics": {"minimumBand": {"critical": True}}},
        {"diagnostics": {"minimumBand": "CRITICAL"}},
    ],
    ids=["kinds", "flags", "names", "number", "list", "object", "case"],
)
async def test_wrong_values_fall_back(
    editor: Editor, asked: Project, wrong: dict[str, Any]
) -> None:
    uri = editor.open(asked.root / "a.py")
    await editor.set(**wrong)
    assert await surfaces(editor, uri) == EVERYTHING


async def test_a_wrong_value_spoils_no_other(editor: Editor, asked: Project) -> None:
    uri = editor.open(asked.root / "a.py")
    await editor.set(
        hover=7,
        codeLens=OFF,
        diagnostics={"enable": "no", "minimumBand": "critical"},
        prompts={"show": False},
    )
    assert await surfaces(editor, uri) == (True, False, False, False)
    await editor.set(diagnostics={"enable": False, "minimumBand": "worst"})
    assert await surfaces(editor, uri) == (True, True, False, True)


@pytest.mark.every_profile
async def test_open_documents_are_told(editor: Editor, asked: Project) -> None:
    uri = await editor.open_settled(asked.root / "a.py")
    after = len(editor.client.sent)
    await editor.set(hover=OFF)
    await editor.told(uri, after=after)


@pytest.mark.parametrize("profile", PROFILES)
@pytest.mark.parametrize("wrapped", [False, True], ids=["section", "named"])
async def test_options_count_from_the_start(
    tmp_path: Path, asked: Project, profile: str, wrapped: bool
) -> None:
    options = {"vibes": ALL_OFF} if wrapped else ALL_OFF
    async with session(tmp_path, [asked.root], profile=profile, options=options) as editor:
        assert await surfaces(editor, editor.open(asked.root / "a.py")) == (False,) * 4


@pytest.mark.parametrize(
    "options", [[], "vibes", 5, True, {"vibes": 5}, {"vibes": None}, {"vibes": []}], ids=repr
)
async def test_options_that_are_no_settings_are_harmless(
    tmp_path: Path, asked: Project, options: object
) -> None:
    async with session(tmp_path, [asked.root], profile="nothing", options=options) as editor:
        assert await surfaces(editor, editor.open(asked.root / "a.py")) == EVERYTHING


@pytest.mark.parametrize("profile", ["vscode_current", "neovim"])
async def test_what_the_client_answers_counts_before_its_options(
    tmp_path: Path, asked: Project, profile: str
) -> None:
    settings = {"codeLens": OFF}
    async with session(
        tmp_path, [asked.root], profile=profile, options=ALL_OFF, settings=settings
    ) as editor:
        assert await surfaces(editor, editor.open(asked.root / "a.py")) == (True, False, True, True)


async def test_the_client_is_asked_for_the_section(tmp_path: Path, asked: Project) -> None:
    async with session(tmp_path, [asked.root]) as editor:
        sent = [
            params
            for method, params in editor.client.sent
            if method == types.WORKSPACE_CONFIGURATION
        ]
        assert [[item.section for item in params.items] for params in sent] == [["vibes"]]


async def test_a_client_that_cannot_be_asked_is_not(tmp_path: Path, asked: Project) -> None:
    async with session(tmp_path, [asked.root], profile="nothing", settings=ALL_OFF) as editor:
        assert await surfaces(editor, editor.open(asked.root / "a.py")) == EVERYTHING
        assert [
            method for method, _ in editor.client.sent if method == types.WORKSPACE_CONFIGURATION
        ] == []


async def test_a_client_that_refuses_to_tell_keeps_what_it_said_before(
    tmp_path: Path, asked: Project
) -> None:
    async with session(tmp_path, [asked.root], options={"hover": OFF}) as editor:
        uri = editor.open(asked.root / "a.py")
        editor.client.get_configuration = _refuse  # type: ignore[method-assign]
        await editor.set()
        assert await surfaces(editor, uri) == (False, True, True, True)


def _refuse(**_of: object) -> None:
    raise JsonRpcException("not now")
