"""The plugins that we write for agents without commands for hooks."""

from __future__ import annotations

from pathlib import Path

from vibes_lsp.agents.agent import Scope, UserHome
from vibes_lsp.agents.all_agents import BY_SLUG
from vibes_lsp.agents.setup.configuration import configuration_files
from vibes_lsp.agents.setup.hook_configuration import HookState


def test_the_first_line_of_amps_plugin_is_the_one_that_amp_asks_for() -> None:
    files = configuration_files(
        BY_SLUG["amp"], Scope.PROJECT, Path("/p"), UserHome(Path("/h")), program="/opt/vibes"
    )
    [file] = files
    text = file.configuration.add(None)
    assert text.startswith("// @i-know-the-amp-plugin-api-is-wip-and-very-experimental-right-now\n")
    assert 'const program = "/opt/vibes"' in text
    assert file.configuration.inspect(text) is HookState.CURRENT
    assert file.configuration.inspect(text.replace("/opt", "/usr")) is HookState.HANDWRITTEN
    assert file.configuration.remove(text) is None
