"""A VS Code of a test's own: a fresh profile, our extension installed from its .vsix, nothing reachable but this machine."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import threading
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final, Self

from tests.requirements import REPOSITORY

HOME: Final = REPOSITORY / ".tools/vscode"
NODE: Final = REPOSITORY / ".tools/bin/node"
ENTRY: Final = HOME / "node_modules/code-server/out/node/entry.js"
_PATIENCE: Final = 180
_QUIET: Final[Mapping[str, Any]] = {
    "chat.disableAIFeatures": True,
    "editor.hover.above": False,
    "editor.hover.delay": 100,
    "editor.minimap.enabled": False,
    "extensions.autoCheckUpdates": False,
    "extensions.autoUpdate": False,
    "extensions.ignoreRecommendations": True,
    "files.autoSave": "off",
    "git.enabled": False,
    "security.workspace.trust.enabled": False,
    "telemetry.telemetryLevel": "off",
    "update.mode": "none",
    "workbench.enableExperiments": False,
    "workbench.secondarySideBar.defaultVisibility": "hidden",
    "workbench.startupEditor": "none",
    "workbench.tips.enabled": False,
}
"""Nothing looks outwards, nothing pops up over the editor."""
_ASKING: Final[Mapping[str, Any]] = {
    "security.workspace.trust.banner": "never",
    "security.workspace.trust.enabled": True,
    "security.workspace.trust.startupPrompt": "never",
}
"""No folder is trusted, and nobody is asked at the start."""


class Program:
    """The serving half of VS Code; a context manager.

    Args:
        profile: An empty folder for all that it writes.
        extensions: Files to install.
        settings: What the user chose.
        environment: Variables of the process, beside those of this one.
        trusts: Whether every folder is trusted; else none is, until somebody says so.

    Attributes:
        url: Where the editor is, once it runs.
    """

    def __init__(
        self,
        profile: Path,
        extensions: Sequence[Path],
        settings: Mapping[str, Any],
        environment: Mapping[str, str] | None = None,
        *,
        trusts: bool = True,
    ) -> None:
        self.profile = profile
        self.url = ""
        self._extensions = extensions
        self._settings = dict(settings) if trusts else {**_ASKING, **settings}
        self._trusts = trusts
        inherited = {
            name: value for name, value in os.environ.items() if not name.startswith("VSCODE_")
        }
        self._environment = {
            **inherited,
            "EXTENSIONS_GALLERY": "{}",
            "TMPDIR": str(profile),
            "XDG_RUNTIME_DIR": str(profile),
            **(environment or {}),
        }
        self._lines: list[str] = []
        self._is_up = threading.Event()

    def __enter__(self) -> Self:
        self.choose({})
        install = [part for file in self._extensions for part in ("--install-extension", str(file))]
        done = subprocess.run(
            [*self._command(), *install, "--force"],
            env=self._environment,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.stdout.count("successfully installed") == len(self._extensions), (
            f"not all were installed:\n{done.stdout}{done.stderr}"
        )
        serve = [
            "--auth=none",
            "--bind-addr=127.0.0.1:0",
            "--disable-telemetry",
            "--disable-update-check",
            *self._trusting(),
        ]
        self._process = subprocess.Popen(
            [*self._command(), *serve, "--disable-getting-started-override"],
            env=self._environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            start_new_session=True,  # its extension hosts outlive it: they are ended as a group
        )
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()
        if not self._is_up.wait(_PATIENCE) or not self.url:
            self.__exit__(None, None, None)
            raise AssertionError(f"VS Code did not start:\n{self.log}")
        return self

    def __exit__(self, *_: object) -> None:
        for number in (signal.SIGTERM, signal.SIGKILL):
            try:
                os.killpg(self._process.pid, number)
                self._process.wait(10)
            except ProcessLookupError:
                break
            except subprocess.TimeoutExpired:
                continue
        self._process.wait()
        self._reader.join(10)
        if self._process.stdout is not None:
            self._process.stdout.close()

    def choose(self, settings: Mapping[str, Any]) -> None:
        """Have the user choose more settings, in the files that they are in."""
        self._settings = {**self._settings, **settings}
        for scope, chosen in {
            "User": {**_QUIET, **self._settings},
            "Machine": self._settings,
        }.items():
            file = self.profile / scope / "settings.json"
            file.parent.mkdir(parents=True, exist_ok=True)
            file.with_suffix(".new").write_text(json.dumps(chosen), encoding="utf-8")
            file.with_suffix(".new").replace(file)

    def logged(self, words: str) -> int:
        """Return how often the extension logged some words."""
        files = [file for file in self.profile.glob("logs/**/*.log") if "vibes" in file.as_posix()]
        return sum(
            file.read_text(encoding="utf-8", errors="replace").count(words) for file in files
        )

    @property
    def log(self) -> str:
        """The end of what it said on its own terminal, and of what the extension logged."""
        said = [*self._lines[-40:]]
        for file in sorted(self.profile.glob("logs/**/*.log")):
            if "vibes" in file.as_posix() or file.name == "remoteexthost.log":
                said += [
                    f"--- {file.relative_to(self.profile)}",
                    *file.read_text(encoding="utf-8", errors="replace").splitlines()[-30:],
                ]
        return "\n".join(said)

    def _trusting(self) -> list[str]:
        return ["--disable-workspace-trust"] if self._trusts else []

    def _command(self) -> list[str]:
        profile = [
            f"--user-data-dir={self.profile}",
            f"--extensions-dir={self.profile}/extensions",
            f"--config={self.profile}/config.yaml",
        ]
        return [str(NODE), str(ENTRY), *profile]

    def _read(self) -> None:
        assert self._process.stdout is not None
        for line in self._process.stdout:
            self._lines.append(line.rstrip())
            found = re.search(r"HTTP server listening on (http://\S+)", line)
            if found:
                self.url = found[1].rstrip("/") + "/"
                self._is_up.set()
        self._is_up.set()
