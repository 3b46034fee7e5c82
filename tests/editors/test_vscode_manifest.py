"""What the VS Code extension declares: names, defaults as documented, colours that can be told from the background."""

from __future__ import annotations

import json
import re
import struct
from typing import Any, Final

import pytest

from tests.requirements import REPOSITORY

CLIENT: Final = REPOSITORY / "editors/vscode"
MANIFEST: Final[dict[str, Any]] = json.loads((CLIENT / "package.json").read_text(encoding="utf-8"))
DECLARED: Final = MANIFEST["contributes"]
SOURCES: Final = "\n".join(
    file.read_text(encoding="utf-8") for file in sorted(CLIENT.glob("src/**/*.ts"))
)
SHAPES: Final = (CLIENT / "src/marks/shapes.ts").read_text(encoding="utf-8")
BACKGROUNDS: Final = {
    "dark": "#1f1f1f",
    "light": "#ffffff",
    "highContrast": "#000000",
    "highContrastLight": "#ffffff",
}


def luminance(colour: str) -> float:
    """Return the relative luminance of a colour, as WCAG 2 defines it."""
    channels = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    red, green, blue = (
        each / 12.92 if each <= 0.04045 else ((each + 0.055) / 1.055) ** 2.4 for each in channels
    )
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(one: str, other: str) -> float:
    dark, light = sorted((luminance(one), luminance(other)))
    return (light + 0.05) / (dark + 0.05)


def test_commands_are_the_clients_own_reachable_and_carried_out() -> None:
    commands = {each["command"]: each for each in DECLARED["commands"]}
    assert all(name.startswith("vibes.ui.") for name in commands), (
        "ids of the server's commands are registered by the client library"
    )
    assert all(
        each["category"] == ("Vouch" if name.startswith("vibes.ui.kb") else "VIBES")
        and each["title"]
        for name, each in commands.items()
    )
    assert all(f"'{name}'" in SOURCES for name in commands)


def test_everything_has_a_name_and_whatever_the_mouse_can_do_the_keyboard_can() -> None:
    views = [view for views in DECLARED["views"].values() for view in views]
    assert all(view["name"] and view["contextualTitle"] for view in views)
    assert all(container["title"] for container in DECLARED["viewsContainers"]["activitybar"])
    assert all(
        step["title"] and step["description"]
        for walkthrough in DECLARED["walkthroughs"]
        for step in walkthrough["steps"]
    )
    settings = DECLARED["configuration"]["properties"].values()
    assert all(each.get("description") or each.get("markdownDescription") for each in settings)

    palette = {each["command"]: each["when"] for each in DECLARED["menus"]["commandPalette"]}
    titles = {each["command"]: each["title"] for each in DECLARED["commands"]}
    hidden = {name for name, when in palette.items() if when == "false"}
    assert all(titles[name] == titles[name.removesuffix("Listed")] for name in hidden), (
        "for the cursor there is the same in the palette"
    )
    in_rows = DECLARED["menus"]["view/item/context"]
    buttons = {each["command"] for each in in_rows if each["group"].startswith("inline")}
    in_menu = {each["command"] for each in in_rows if not each["group"].startswith("inline")}
    assert buttons == in_menu, "a key opens a row's menu, but reaches none of its buttons"


def test_the_extension_has_an_icon_of_its_own() -> None:
    picture = (CLIENT / MANIFEST["icon"]).read_bytes()
    assert picture[:8] == b"\x89PNG\r\n\x1a\n"
    assert struct.unpack(">II", picture[16:24]) == (128, 128)
    assert (CLIENT / MANIFEST["icon"]).with_suffix(".svg").is_file(), "what it is made from"


def test_every_row_of_a_tree_says_in_words_what_its_icon_says() -> None:
    for file in sorted(CLIENT.glob("src/views/*.ts")):
        source = file.read_text(encoding="utf-8")
        assert source.count("new vscode.TreeItem(") == source.count(
            ".accessibilityInformation = { label:"
        ), file.name
    assert "accessibilityInformation" in (CLIENT / "src/statusBar.ts").read_text(encoding="utf-8")


def test_nothing_that_starts_a_program_is_a_workspace_s_to_say() -> None:
    trust = MANIFEST["capabilities"]["untrustedWorkspaces"]
    properties = DECLARED["configuration"]["properties"]
    assert trust["supported"] == "limited"
    assert set(trust["restrictedConfigurations"]) == {
        name for name in properties if name.startswith("vibes.server.")
    }
    assert all(
        properties[name]["scope"] == "application"
        for name in properties
        if name.startswith("vibes.capture.")
    )
    assert properties["vibes.capture.inlineCompletions"]["default"] is False


def test_the_documentation_shows_every_setting_with_its_default() -> None:
    page = (REPOSITORY / "docs/editors/vscode.md").read_text(encoding="utf-8")
    (block,) = re.findall(r"^```json\n(.*?)^```$", page, re.MULTILINE | re.DOTALL)
    settings = {
        name: each["default"] for name, each in DECLARED["configuration"]["properties"].items()
    }
    assert json.loads(block) == {
        name: default for name, default in settings.items() if name != "vibes.server.arguments"
    }


@pytest.mark.parametrize("colour", DECLARED["colors"], ids=lambda colour: str(colour["id"]))
def test_a_colour_stands_out_in_every_kind_of_theme(colour: dict[str, Any]) -> None:
    enough = (
        4.5 if colour["id"] == "vibes.lineText" else 3
    )  # WCAG 2: text, and marks that are no text
    assert colour["defaults"].keys() == BACKGROUNDS.keys()
    assert all(
        contrast(colour["defaults"][kind], background) >= enough
        for kind, background in BACKGROUNDS.items()
    )


def test_gutter_and_ruler_have_the_same_colours_and_no_two_bands_one_shape() -> None:
    looks = re.findall(r"theme: '([\w.]+)', dark: '(#\w+)', light: '(#\w+)', shape: (\w+)", SHAPES)
    defaults = {each["id"]: each["defaults"] for each in DECLARED["colors"]}
    assert len(looks) == 5
    assert all(
        (defaults[theme]["dark"], defaults[theme]["light"]) == (dark, light)
        for theme, dark, light, _ in looks
    )
    assert len({shape for *_, shape in looks}) == len(looks)


def test_marks_by_model_stand_out_too() -> None:
    looks = re.findall(r"\{ dark: '(#\w+)', light: '(#\w+)', shape: (\w+) \}", SHAPES)
    assert len(looks) == 7
    assert all(
        contrast(dark, BACKGROUNDS["dark"]) >= 3 and contrast(light, BACKGROUNDS["light"]) >= 3
        for dark, light, _ in looks
    )
    assert len({shape for *_, shape in looks}) == len(looks)


def test_the_walkthrough_shows_what_is_there() -> None:
    commands = {each["command"] for each in DECLARED["commands"]}
    (walkthrough,) = DECLARED["walkthroughs"]
    for step in walkthrough["steps"]:
        assert (CLIENT / step["media"]["markdown"]).is_file()
        named = [
            *re.findall(r"command:([\w.]+)", step["description"]),
            *re.findall(r"onCommand:([\w.]+)", " ".join(step["completionEvents"])),
        ]
        assert named
        assert set(named) <= commands
