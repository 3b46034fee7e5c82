"""What we add to an agent's configuration: removed again, any text is as it was, to the byte."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import assume, example, given
from hypothesis import strategies as st

from vibes_lsp.agents.agent import Form
from vibes_lsp.agents.all_agents import AGENTS
from vibes_lsp.agents.setup.configuration import hook_configuration
from vibes_lsp.agents.setup.hook_configuration import HookState
from vibes_lsp.agents.setup.json_edits import MisplacedMember, parse_document
from vibes_lsp.agents.setup.mcp_registration import JsonServer
from vibes_lsp.errors import MalformedJson

CONFIGURATIONS = [
    hook_configuration(agent) for agent in AGENTS if agent.form in (Form.GROUPS, Form.ENTRIES)
]
SERVER = JsonServer("mcpServers", {"command": "vibes", "args": ["mcp"]})
FOREIGN: st.SearchStrategy[Any] = st.sampled_from(
    [
        {"hooks": [{"type": "command", "command": "make lint"}]},
        {"matcher": "Edit|Write", "hooks": [{"type": "command", "command": "prettier"}]},
        {"command": "notify", "timeout": 5},
        {"hooks": []},
        "not a hook",
        None,
    ]
)
EVENTS = st.sampled_from(["PostToolUse", "Stop", "postToolUse", "AfterTool", "Other"])
HOOKS = st.dictionaries(EVENTS, st.lists(FOREIGN, max_size=3), max_size=3)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-9, 9) | st.text('a"\\/*,é\n', max_size=4),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text("ab/*", max_size=2), inner),
    max_leaves=6,
)
SETTINGS = st.dictionaries(st.sampled_from(["version", "a", "//", "model"]), VALUES, max_size=3)
SPACES = [
    "", " ", "\n", "\r\n", "\r", "\t", "\n\n    ", "/* c */", "/***/", "/*\n*/", "// c\n", "  // }{\r\n", "/* ,] */ ",
    '/* " */', '// "\n', "//,\n",
]  # fmt: skip


@st.composite
def texts(draw: st.DrawFn) -> str:
    """Settings with hooks, in JSON with any space, comments and commas at the end."""
    value: dict[str, Any] = dict(draw(SETTINGS))
    if draw(st.booleans()):
        value["hooks"] = draw(HOOKS)
        names: list[str] = draw(st.permutations(list(value)))
        value = {name: value[name] for name in names}
    if draw(st.booleans()):
        indent = draw(st.sampled_from(["", "  ", "\t"]))
        end = draw(st.sampled_from(["", "\n", "\r\n"]))
        text = json.dumps(value, indent=indent or None, ensure_ascii=False) + end
        return text.replace("\n", "\r\n") if draw(st.booleans()) else text
    space = st.sampled_from(SPACES)
    start = draw(st.sampled_from(["", "\ufeff"])) + draw(space)
    written = draw(st.just(value).flatmap(lambda each: spelled(each, space)))
    return start + written + draw(st.sampled_from(["", "// c", "/* c */"]))


def spelled(value: Any, space: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    """Return a value as JSON with space after each token, some commas at the end among it."""

    @st.composite
    def spell(draw: st.DrawFn) -> str:
        def item(each: Any) -> str:
            if isinstance(each, dict):
                parts = [
                    f"{json.dumps(k)}{draw(space)}:{draw(space)}{item(v)}" for k, v in each.items()
                ]
                return enclosed("{}", parts)
            if isinstance(each, list):
                return enclosed("[]", [item(v) for v in each])
            return json.dumps(each) + draw(space)

        def enclosed(brackets: str, parts: list[str]) -> str:
            has_comma: bool = draw(st.booleans())
            comma = f",{draw(space)}" if parts and has_comma else ""
            joined = "".join(
                f"{',' if number else ''}{draw(space)}{part}" for number, part in enumerate(parts)
            )
            return f"{brackets[0]}{draw(space)}{joined}{comma}{brackets[1]}{draw(space)}"

        return item(value)

    return spell()


@given(texts(), st.sampled_from(CONFIGURATIONS))
@example("", CONFIGURATIONS[0])
@example(" \n", CONFIGURATIONS[0])
@example('{\n  "version": 1\n}\n', CONFIGURATIONS[2])
@example('{\n  "hooks": {}\n}\n', CONFIGURATIONS[0])
@example('\ufeff{"hooks": {"Stop": [ ]}}', CONFIGURATIONS[0])
@example("{}/* c */", CONFIGURATIONS[0])
@example("{}// c", CONFIGURATIONS[0])
@example("\ufeff/* c */{ // c\r\n}", CONFIGURATIONS[0])
@example('{"a"/**/:/**/1/**/,/**/}', CONFIGURATIONS[0])
def test_removing_the_hooks_restores_the_text(text: str, configuration: Any) -> None:
    hooked = configuration.add(text)
    assert configuration.inspect(hooked) is HookState.CURRENT
    assert configuration.add(hooked) == hooked
    assert configuration.remove(hooked) == text


@given(texts(), st.sampled_from(CONFIGURATIONS), st.permutations([0, 1]), st.permutations([0, 1]))
@example("{}", CONFIGURATIONS[0], [0, 1], [0, 1])
@example("{//\n}", CONFIGURATIONS[0], [0, 1], [0, 1])
@example('{"a": {}// c\n}', CONFIGURATIONS[0], [0, 1], [0, 1])
@example('{"a": {}// c,\n}', CONFIGURATIONS[0], [1, 0], [1, 0])
def test_hooks_and_a_server_are_removed_in_any_order(
    text: str, configuration: Any, added: list[int], removed: list[int]
) -> None:
    both = [configuration, SERVER]
    assume(text.strip())
    changed = text
    for number in added:
        changed = both[number].add(changed)
    for number in removed:
        changed = both[number].remove(changed)
    assert changed == text


@given(texts(), st.sampled_from(CONFIGURATIONS))
def test_hooks_are_added_to_what_was_there(text: str, configuration: Any) -> None:
    assume(text.strip())
    before: dict[str, Any] = dict(parse_document(text).value)
    after: dict[str, Any] = dict(parse_document(configuration.add(text)).value)
    hooks, was = after.pop("hooks"), before.pop("hooks", {})
    assert after == before
    for event in hooks.keys() | was.keys():
        new = configuration.entries.get(event)
        assert hooks[event] == was.get(event, []) + ([] if new is None else [new])


@given(st.text('{}[]",:/* \n\\a1', max_size=40))
def test_any_text_is_refused_or_restored(text: str) -> None:
    try:
        hooked = CONFIGURATIONS[0].add(text)
    except (MalformedJson, MisplacedMember):
        return
    assert CONFIGURATIONS[0].remove(hooked) == text
