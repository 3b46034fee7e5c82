"""VS Code (code-server) with a fresh profile and our packaged extension, without network."""

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
from tests.waiting import TIMEOUT

HOME: Final = REPOSITORY / ".tools/vscode"
NODE: Final = REPOSITORY / ".tools/bin/node"
ENTRY: Final = HOME / "node_modules/code-server/out/node/entry.js"
_GRACE_SECONDS: Final = 5
"""How long the extensions of a closed window run on; by default three hours."""
_QUIET: Final[Mapping[str, Any]] = {
    "chat.disableAIFeatures": True,
    "editor.cursorBlinking": "solid",
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
    "workbench.reduceMotion": "on",
    "workbench.secondarySideBar.defaultVisibility": "hidden",
    "workbench.startupEditor": "none",
    "workbench.tips.enabled": False,
}
"""No network access, and nothing that covers the editor or moves by itself."""
_ASKING: Final[Mapping[str, Any]] = {
    "security.workspace.trust.banner": "never",
    "security.workspace.trust.enabled": True,
    "security.workspace.trust.startupPrompt": "never",
}
"""No folder is trusted, and there is no trust prompt at startup."""


def install(extensions: Sequence[Path], folder: Path) -> Path:
    """Install extensions below an empty folder, and return what servers can share."""
    folder.mkdir(parents=True, exist_ok=True)
    target = folder / "extensions"
    options = [part for file in extensions for part in ("--install-extension", str(file))]
    done = subprocess.run(
        [*_command(folder, target), *options, "--force"],
        env=_environment(folder),
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stdout.count("successfully installed") == len(extensions), (
        f"not all were installed:\n{done.stdout}{done.stderr}"
    )
    return target


def _command(profile: Path, extensions: Path) -> list[str]:
    folders = [
        f"--user-data-dir={profile}",
        f"--extensions-dir={extensions}",
        f"--config={profile}/config.yaml",
    ]
    return [str(NODE), str(ENTRY), *folders]


def _environment(profile: Path) -> dict[str, str]:
    inherited = {
        name: value for name, value in os.environ.items() if not name.startswith("VSCODE_")
    }
    return {
        **inherited,
        "EXTENSIONS_GALLERY": "{}",
        "TMPDIR": str(profile),
        "XDG_RUNTIME_DIR": str(profile),
    }


class Program:
    """The VS Code server process; a context manager. Windows may use it one after another.

    Args:
        profile: An empty folder for all its files but the extensions.
        extensions: A folder from `install`.
        settings: User settings.
        environment: Additional environment variables.
        trusts: Whether every folder is trusted, else none is.

    Attributes:
        url: URL of the editor, once it runs.
    """

    def __init__(
        self,
        profile: Path,
        extensions: Path,
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
        self._environment = {**_environment(profile), **(environment or {})}
        self._lines: list[str] = []
        self._older_logs: frozenset[Path] = frozenset()
        self._is_up = threading.Event()

    def __enter__(self) -> Self:
        self.choose({})
        serve = [
            "--auth=none",
            "--bind-addr=127.0.0.1:0",
            "--disable-telemetry",
            "--disable-update-check",
            f"--reconnection-grace-time={_GRACE_SECONDS}",
            *self._trusting(),
        ]
        self._process = subprocess.Popen(
            [
                *_command(self.profile, self._extensions),
                *serve,
                "--disable-getting-started-override",
            ],
            env=self._environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            start_new_session=True,  # its extension hosts outlive it: the group is killed
        )
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()
        if not self._is_up.wait(TIMEOUT) or not self.url:
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

    def begin(self, settings: Mapping[str, Any]) -> None:
        """Replace all user settings and disregard all logs, for the next window."""
        self._settings = {}
        self._older_logs = frozenset(self.profile.glob("logs/**/*.log"))
        self.choose(settings)

    def choose(self, settings: Mapping[str, Any]) -> None:
        """Add user settings."""
        self._settings = {**self._settings, **settings}
        for scope, chosen in {
            "User": {**_QUIET, **self._settings},
            "Machine": self._settings,
        }.items():
            file = self.profile / scope / "settings.json"
            file.parent.mkdir(parents=True, exist_ok=True)
            file.with_suffix(".new").write_text(json.dumps(chosen), encoding="utf-8")
            file.with_suffix(".new").replace(file)

    def log_count(self, words: str) -> int:
        """Return how often the extension logged a text."""
        return sum(
            file.read_text(encoding="utf-8", errors="replace").count(words)
            for file in self._logs()
            if "vibes" in file.as_posix()
        )

    @property
    def log(self) -> str:
        """The end of its output and of the extension logs."""
        said = [*self._lines[-40:]]
        for file in self._logs():
            if "vibes" in file.as_posix() or file.name == "remoteexthost.log":
                said += [
                    f"--- {file.relative_to(self.profile)}",
                    *file.read_text(encoding="utf-8", errors="replace").splitlines()[-30:],
                ]
        return "\n".join(said)

    def _logs(self) -> list[Path]:
        """Return the log files of the present window; each window's extensions have their own."""
        return sorted({*self.profile.glob("logs/**/*.log")} - self._older_logs)

    def _trusting(self) -> list[str]:
        return ["--disable-workspace-trust"] if self._trusts else []

    def _read(self) -> None:
        assert self._process.stdout is not None
        for line in self._process.stdout:
            self._lines.append(line.rstrip())
            found = re.search(r"HTTP server listening on (http://\S+)", line)
            if found:
                self.url = found[1].rstrip("/") + "/"
                self._is_up.set()
        self._is_up.set()
