"""What the VS Code client decides without VS Code, or with what stands in for it: its own tests, in TypeScript, which Node runs as they are."""

from __future__ import annotations

import os
import subprocess

from tests.requirements import REPOSITORY, require


def test_the_clients_own_tests_pass() -> None:
    npm = require(
        REPOSITORY / ".tools/bin/npm", "runs the VS Code client's tests; `make node` installs it"
    )
    client = REPOSITORY / "editors/vscode"
    assert sorted(client.glob("test/*.test.ts"))
    environment = {**os.environ, "PATH": f"{npm.parent}{os.pathsep}{os.environ['PATH']}"}
    done = subprocess.run(
        [str(npm), "test"],
        cwd=client,
        env=environment,
        capture_output=True,
        text=True,
        encoding="utf-8",
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
