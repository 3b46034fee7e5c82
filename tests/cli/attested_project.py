"""A project with an attestation by a key of its own user."""

from __future__ import annotations

import atexit
import json
import shutil
import tempfile
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from tests.cli.run_vibes import CommandResult, vibes
from tests.demo.workspace import copied
from tests.trails import TrailWriter
from tests.trails.repository import Repository


@dataclass(frozen=True)
class AttestedProject:
    """A committed trail with an attestation, and the home folder of who signed it."""

    root: Path
    home: Path

    @classmethod
    def create(cls, folder: Path) -> AttestedProject:
        """Copy a project to a folder; it is created once in a process."""
        shutil.copytree(_attested(), folder, symlinks=True, dirs_exist_ok=True)
        return cls(folder / "project", folder / "home")

    @classmethod
    def sign(cls, folder: Path) -> AttestedProject:
        """Create a project in a folder, and sign its trail by a new key."""
        project = cls(copied(folder / "project").root, folder / "home")
        project.home.mkdir()
        project.run("keys", "generate")
        project.run("attest")
        project.repository.git("add", "--all")
        project.repository.commit("Attest")
        return project

    @property
    def audit(self) -> Path:
        return self.root / ".ai-audit"

    @property
    def repository(self) -> Repository:
        return Repository(self.root)

    @property
    def public_key(self) -> str:
        return (self.home / ".vibescheck/keys/vibescheck.pub").read_text()

    def run(self, *arguments: str | Path, code: int = 0, cwd: Path | None = None) -> CommandResult:
        """Run `vibes` with the user's home folder, and expect this exit code."""
        home = {"HOME": str(self.home), "USERPROFILE": str(self.home)}
        done = vibes(*arguments, cwd=cwd or self.root, **home)
        assert done.code == code, (done.out, done.err)
        return done

    def entry(self, kind: str) -> tuple[str, dict[str, Any]]:
        """Return key and value of the first manifest entry of a type."""
        entries = json.loads((self.audit / "manifest.json").read_bytes())["entries"]
        return next((key, entry) for key, entry in entries.items() if entry["type"] == kind)

    def append_record(self) -> None:
        with (self.audit / "annotations.jsonl").open("ab") as log:
            log.write(
                b'{"type":"session","event":"end","session_id":"grown",'
                b'"timestamp":"2026-02-09T10:00:00.000Z"}\n'
            )

    def annotate_new_file(self, name: str) -> None:
        """Add a file with lines that an annotation claims, and nothing else to the log."""
        text = "".join(f"value_{n} = {n}\n" for n in range(80))
        (self.root / name).write_text(text)
        self.repository.git("add", name)
        environment, _ = self.entry("environment")
        TrailWriter(self.root).line(name, 1, 80, environment=environment, text=text)

    def append_superseding_edge(self) -> None:
        """Let an annotation of one file supersede one of another."""
        log = self.audit / "annotations.jsonl"
        lines = [
            each
            for each in map(json.loads, log.read_bytes().splitlines())
            if each["type"] == "line"
        ]
        other = next(each for each in lines if each["file_path"] != lines[0]["file_path"])
        TrailWriter(self.root).edge(
            "supersedes",
            other["annotation_id"],
            lines[0]["annotation_id"],
            target_type="annotation",
            metadata={"reason": "covers"},
        )

    def policy(self, folder: Path, text: str = "", signer: str = "required = true") -> Path:
        """Write a policy by which this project's user must have signed."""
        file = folder / "attestation-policy.toml"
        file.write_text(
            f'{text}\n[[signer]]\nname = "Ada"\npublic-key = """\n{self.public_key}"""\n{signer}\n'
        )
        return file


@cache
def _attested() -> Path:
    folder = Path(tempfile.mkdtemp(prefix="vibes-attested-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    AttestedProject.sign(folder)
    return folder
