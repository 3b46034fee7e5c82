"""The agents that tests run, each with what decides its tools: on every run, or by night."""

from __future__ import annotations

from typing import Final

import pytest

from tests.agents.claude_code import ClaudeCode
from tests.agents.cline import Cline
from tests.agents.codex import Codex, CodexWithTools
from tests.agents.copilot_cli import CopilotCli, CopilotCliWithPatches
from tests.agents.driver import Driver
from tests.agents.gemini_cli import GeminiCli
from tests.agents.opencode import OpenCode, OpenCodeWithPatches
from tests.agents.qwen_code import QwenCode
from tests.requirements import AGENTS, in_ci

_EVERY_RUN: Final[tuple[type[Driver], ...]] = (ClaudeCode, Codex, CopilotCli, GeminiCli)
_EVERY_NIGHT: Final[tuple[type[Driver], ...]] = (
    Cline,
    CodexWithTools,
    CopilotCliWithPatches,
    OpenCode,
    OpenCodeWithPatches,
    QwenCode,
)
_ABSENT: Final = pytest.mark.skip(
    reason="not every coding agent is installed: `make agents` installs them"
)
EVERY_AGENT: Final = (
    [
        *(pytest.param(agent, id=agent.__name__) for agent in _EVERY_RUN),
        *(  # forms of their tools that few people use, and agents that few people run
            pytest.param(agent, id=agent.__name__, marks=pytest.mark.nightly)
            for agent in _EVERY_NIGHT
        ),
    ]
    if AGENTS.is_dir() or in_ci()
    else [pytest.param(ClaudeCode, id="absent", marks=_ABSENT)]
)
"""Parameters of tests that run each agent; where none is installed, one that is skipped."""
