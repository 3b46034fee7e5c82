"""What follows a recording command's answer: it brings the trail up to date, and can only add a warning."""

from __future__ import annotations

from vibes_lsp.cli.output import print_warning
from vibes_lsp.recording import Recorder


def finish(recorder: Recorder, *, wait: bool = True) -> None:
    """Fold the journal and flush the disk; a failure is a warning, because what was recorded is safe.

    Args:
        recorder: Has recorded.
        wait: Whether to wait for another program that folds.
    """
    problem = recorder.finish(wait=wait)
    if problem is not None:
        print_warning(
            f"recorded, but {problem.message}" + (f"; {problem.hint}" if problem.hint else "")
        )
