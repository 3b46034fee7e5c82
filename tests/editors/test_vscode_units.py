"""What the VS Code client decides without VS Code: its own tests, in TypeScript, which Node runs as they are."""

from __future__ import annotations

import subprocess

from tests.requirements import REPOSITORY, require


def test_the_clients_own_tests_pass() -> None:
    node = require(REPOSITORY / ".tools/bin/node", "runs the VS Code client's tests; `make node` installs it")
    client = REPOSITORY / "editors/vscode"
    files = sorted(client.glob("test/*.test.ts"))
    assert files
    command = [str(node), "--disable-warning=MODULE_TYPELESS_PACKAGE_JSON", "--test", *map(str, files)]
    done = subprocess.run(command, cwd=client, capture_output=True, text=True, encoding="utf-8", check=False)
    assert done.returncode == 0, done.stdout + done.stderr
