"""The agents that tests run, each with what decides its tools: on every run, or by night."""

from __future__ import annotations

import os
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

_EVERY_RUN: Final[tuple[type[Driver], ...]] = (ClaudeCode, Codex, CopilotCli, GeminiCli)
_EVERY_NIGHT: Final[tuple[type[Driver], ...]] = (
    Cline,
    CodexWithTools,
    CopilotCliWithPatches,
    OpenCode,
    OpenCodeWithPatches,
    QwenCode,
)
_NIGHTLY: Final = pytest.mark.skipif(
    not os.environ.get("NIGHTLY"), reason="`make test-nightly` runs these coding agents"
)
EVERY_AGENT: Final = [
    *(pytest.param(agent, id=agent.__name__) for agent in _EVERY_RUN),
    *(pytest.param(agent, id=agent.__name__, marks=_NIGHTLY) for agent in _EVERY_NIGHT),
]
"""Parameters of tests that run each agent."""
