"""The audit files in Emacs: the policy is completed, a hash in the log leads to its entry."""

from __future__ import annotations

from pathlib import Path

from tests.demo.workspace import build
from tests.editors.conftest import Enter
from tests.editors.documented import block
from tests.editors.emacs.conftest import STABLE
from tests.editors.emacs.program import Emacs
from tests.requirements import require_editor


def test_the_policy_is_completed_and_the_log_leads_to_entries(enter: Enter, tmp_path: Path) -> None:
    root = build(tmp_path / "shop").root
    init = "".join(
        block("other-editors.md", heading, "elisp") for heading in ("Emacs", "Audit files in Emacs")
    )
    program = require_editor(f"emacs-nox-{STABLE}")
    editor = enter(Emacs(program, root, ".ai-audit/config.json", init))
    editor.until(lambda: "[eglot:shop]" in (editor.mode_line("config.json") or ""), "the server")
    editor.terminal.keys("M-<", "C-n", "C-a", "C-o")
    editor.terminal.text('"')
    editor.command("completion-at-point")
    editor.terminal.shows("exclude_patterns", "array of string")
    editor.alone()
    editor.open(root / ".ai-audit/annotations.jsonl")
    editor.until(lambda: "[eglot:shop]" in (editor.mode_line("annotations.jsonl") or ""), "it")
    editor.terminal.keys("C-s")
    editor.terminal.text('command_hash":"b')
    editor.terminal.keys("Enter", "M-.")
    editor.until(lambda: editor.mode_line("manifest.json"), "the manifest")
