"""The installed product as a subject: edits are recorded by its command line or by an agent's hook."""

from __future__ import annotations

import difflib
import json
import os
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from typing_extensions import override

from tests import forked
from tests.git_life.subject import Claim, Edit


class CommandLine:
    """`vibes record annotate` and `vibes blame`.

    Args:
        environment: Of all programs; `vibes` is put on its path.
    """

    def __init__(self, environment: dict[str, str]) -> None:
        program = forked.program("vibes")
        environment["PATH"] = f"{program.parent}{os.pathsep}{environment['PATH']}"
        environment["VIBES_PATIENCE"] = "unlimited,saving=0"
        self._environment = environment

    def init(self, root: Path) -> None:
        """Start a trail with the hook."""
        self._vibes(root, "init", "--git-hooks", "--prism", "--assurance-level", "medium")

    def join(self, root: Path) -> None:
        """Install the hook; first have the trail on disk, as `vibes init` asks for."""
        if not (root / ".ai-audit").exists():
            subprocess.run(["git", "sparse-checkout", "add", ".ai-audit"], cwd=root, check=True)
        self._vibes(root, "init", "--git-hooks")

    def record(self, root: Path, edit: Edit) -> None:
        """Record each range of an edit."""
        for span in edit.ranges:
            self._vibes(root, "record", "annotate", given=json.dumps(annotation(edit, span)))

    def owners(self, root: Path, path: str) -> Mapping[int, Claim]:
        """Ask `vibes blame`."""
        return self.claims(self._vibes(root, "blame", "--json", "--", path))

    @staticmethod
    def claims(answer: Mapping[str, Any]) -> Mapping[int, Claim]:
        """Return what an answer with placements and lines says of each line."""
        prompts = {
            placement["annotationId"]: placement.get("prompt") or ""
            for placement in answer["placements"]
        }
        return {
            line["line"]: Claim(line["kind"], prompts.get(line["annotationId"], ""))
            for line in answer["lines"]
        }

    def unreviewed(self, root: Path, base: str) -> set[tuple[str, int]] | None:
        """Ask `vibes gate --base`."""
        answer = self._vibes(root, "gate", "--base", base, "--json", check=False)
        if answer is None:
            return None
        return {
            (item["filePath"], line)
            for item in answer["items"]
            if item.get("review") is None
            for owned in item.get("ownedRanges", ())
            for line in range(owned["start"]["line"] + 1, owned["end"]["line"] + 1)
        }

    def settle(self, root: Path) -> None:
        """Resolve conflicts of the trail."""
        self._vibes(root, "merge", check=False)

    def close(self) -> None:
        """End nothing."""

    def _vibes(self, root: Path, *arguments: str, given: str = "", check: bool = True) -> Any:
        done = forked.run(arguments, cwd=root, environment=self._environment, given=given.encode())
        if check and done.returncode:
            raise AssertionError(f"vibes {arguments}: {done.stderr.decode('utf-8', 'replace')}")
        if not done.stdout.startswith(b"{"):
            return None
        return json.loads(done.stdout)


def annotation(edit: Edit, span: tuple[int, int]) -> dict[str, Any]:
    """Return the request that records some lines of an edit."""
    return {
        "file": edit.path,
        "lineStart": span[0],
        "lineEnd": span[1],
        "action": "create" if edit.before is None else "modify",
        "tool": {"name": "Some Tool", "version": "1"},
        "model": {"name": "some-model", "version": "1"},
        "prompt": {"text": edit.name, "type": "user_instruction"},
    }


class AgentHook(CommandLine):
    """An agent's events by `vibes hook`, as Claude Code sends them."""

    @override
    def record(self, root: Path, edit: Edit) -> None:
        """Send what the person asked and what the agent wrote."""
        base = {
            "session_id": "5e551011-0000-4000-8000-000000000000",
            "transcript_path": str(root.parent / "no-transcript.jsonl"),
            "cwd": str(root),
            "permission_mode": "acceptEdits",
        }
        self._send(root, {**base, "hook_event_name": "UserPromptSubmit", "prompt": edit.name})
        after = edit.after.decode().replace("\r\n", "\n")
        before = None if edit.before is None else edit.before.decode().replace("\r\n", "\n")
        file = str(root / edit.path)
        self._send(
            root,
            {
                **base,
                "hook_event_name": "PostToolUse",
                "tool_name": "Write",
                "tool_use_id": f"toolu_{edit.name}",
                "tool_input": {"file_path": file, "content": after},
                "tool_response": {
                    "type": "create" if before is None else "update",
                    "filePath": file,
                    "content": after,
                    "originalFile": before,
                    "structuredPatch": [] if before is None else patch(before, edit),
                    "userModified": False,
                },
            },
        )
        self._vibes(root, "hook", "--wait")

    def _send(self, root: Path, payload: Mapping[str, Any]) -> None:
        self._vibes(root, "hook", given=json.dumps(payload))


def patch(before: str, edit: Edit) -> Sequence[Mapping[str, Any]]:
    """Return the hunks of a change, as Claude Code reports them, with exactly the lines it wrote."""
    old, new = before.split("\n"), edit.after.decode().replace("\r\n", "\n").split("\n")
    wrote = {number - 1 for first, last in edit.ranges for number in range(first, last + 1)}
    kept = [number for number in range(len(new)) if number not in wrote]
    matcher = difflib.SequenceMatcher(None, old, [new[number] for number in kept], autojunk=False)
    pairs = {
        kept[block.b + offset]: block.a + offset
        for block in matcher.get_matching_blocks()
        for offset in range(block.size)
    }
    result: list[dict[str, Any]] = []
    old_end = new_end = 0
    for number in [*sorted(pairs), len(new)]:
        place = pairs.get(number, len(old))
        removed, added = old[old_end:place], new[new_end:number]
        if removed or added:
            result.append(
                {
                    "oldStart": old_end + 1,
                    "oldLines": len(removed),
                    "newStart": new_end + 1,
                    "newLines": len(added),
                    "lines": [*(f"-{line}" for line in removed), *(f"+{line}" for line in added)],
                }
            )
        old_end, new_end = place + 1, number + 1
    return result
