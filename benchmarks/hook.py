"""Duration of `vibes hook` as a process, for which a coding agent waits.

The floor is a Python that does nothing.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Final

from benchmarks.measure import median_seconds

_VIBES: Final = Path(sys.executable).with_name("vibes")
_ROUNDS: Final = 60
_AIM: Final = 2.5


def main() -> None:
    """Measure and print."""
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / ".ai-audit").mkdir()
        event = {
            "hook_event_name": "UserPromptSubmit",
            "session_id": "s",
            "cwd": folder,
            "prompt": "x",
        }
        data = json.dumps(event).encode()

        def run(*command: str) -> None:
            subprocess.run(command, input=data, cwd=folder, check=True)

        times = median_seconds(
            {
                "vibes hook": lambda: run(str(_VIBES), "hook"),
                "python": lambda: run(sys.executable, "-I", "-S", "-c", "pass"),
            },
            _ROUNDS,
        )
    ratio = times["vibes hook"] / times["python"]
    print(
        f"vibes hook: {times['vibes hook'] * 1000:.1f} ms, {ratio:.2f}x a Python that does nothing"
        f" ({times['python'] * 1000:.1f} ms; aim {_AIM}x)"
    )


if __name__ == "__main__":
    main()
