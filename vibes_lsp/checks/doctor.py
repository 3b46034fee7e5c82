"""Diagnose why no annotation is shown (`vibes doctor`).

Each step between the program and an annotation of a file is tested: audit files, git, hook, trail,
file.
"""

from __future__ import annotations

import os
import platform
import sys
from collections import Counter
from collections.abc import Iterator
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Final

from vibes_lsp import __version__
from vibes_lsp.checks.context import CheckContext
from vibes_lsp.checks.files import check_config, check_git_setup, check_log, check_manifest
from vibes_lsp.checks.finding import Severity, pluralize
from vibes_lsp.errors import RefusedWrite, UnreadableFile
from vibes_lsp.index.placements import (
    RECORD_BEFORE_COMMIT,
    TEXT_OLDER_THAN_EDIT,
    deduplicate,
    in_git_since,
    why_unverified,
)
from vibes_lsp.index.project_files import foreign_paths, read_source
from vibes_lsp.index.project_locator import ProjectLocator
from vibes_lsp.index.trail import Trail
from vibes_lsp.maintenance.hook_installation import HookStatus, inspect_hook
from vibes_lsp.model.members import Members
from vibes_lsp.model.paths import normal_path
from vibes_lsp.recording.entries import REDACTION
from vibes_lsp.store.initialise import REVIEWER_TOOL


class Health(StrEnum):
    """The result of a diagnosis step."""

    OK = "ok"
    NOTE = "note"
    PROBLEM = "problem"


@dataclass(frozen=True, slots=True)
class Step:
    """One step of the diagnosis.

    Attributes:
        about: What was tested.
        health: The result.
        message: What was found.
        hint: What to do; empty if nothing.
    """

    about: str
    health: Health
    message: str
    hint: str = ""

    def as_json(self) -> Members:
        """Return the attributes by their names."""
        return {
            "about": self.about,
            "health": self.health.value,
            "message": self.message,
            "hint": self.hint,
        }


def program_step() -> Step:
    """Return the versions of this package, Python and the system."""
    system = f"{platform.system()} {platform.machine()}".strip()
    return Step(
        "program",
        Health.OK,
        f"{REVIEWER_TOOL} {__version__}, Python {platform.python_version()}, {system}, "
        f"{sys.executable}",
    )


def diagnose(context: CheckContext, file: Path | None = None) -> Iterator[Step]:
    """Yield the steps for a trail, and for one file of the project if given."""
    yield Step("audit directory", Health.OK, str(context.directory.path))
    yield from _files(context)
    if os.environ.get(REDACTION) == "off":
        yield Step(
            "masking",
            Health.NOTE,
            f"{REDACTION}=off: secrets are recorded unmasked",
            f"remove {REDACTION} from the environment",
        )
    yield from _git(context)
    yield from _hook(context)
    if context.trail.log.problem is None:
        yield _annotations(context)
    if file is not None:
        yield from _file(context, file)


def _files(context: CheckContext) -> Iterator[Step]:
    checked = (
        ("config.json", check_config),
        ("manifest.json", check_manifest),
        ("annotations.jsonl", check_log),
    )
    for name, check in checked:
        findings = [finding for finding in check(context) if finding.severity != Severity.NOTE]
        for finding in findings[:5]:
            where = f"line {finding.line}: " if finding.line else ""
            yield Step(name, Health.PROBLEM, where + finding.message, finding.check.fix)
        if not findings:
            yield Step(name, Health.OK, _size(context, name))


def _size(context: CheckContext, name: str) -> str:
    if name == "config.json":
        config = context.config.config
        risk = config.risk_scoring is not None and config.risk_scoring.enabled
        return f"level {config.assurance_level}, PRISM {'on' if risk else 'off'}"
    if name == "manifest.json":
        return pluralize(len(context.trail.manifest), "context entry", "context entries")
    return pluralize(len(context.trail.log.columns), "line", "lines")


def _git(context: CheckContext) -> Iterator[Step]:
    if context.repository is None:
        yield Step(
            "git",
            Health.NOTE,
            "the project is not in a git work tree, or git is not installed",
            "commits cannot be derived; everything else works",
        )
        return
    findings = [
        finding for finding in check_git_setup(context) if finding.severity != Severity.NOTE
    ]
    for finding in findings:
        yield Step("git", Health.PROBLEM, f"{finding.file}: {finding.message}", finding.check.fix)
    if not findings:
        hint = (
            "git hosts ignore union merges: if a merge conflicts there, run `vibes merge` locally "
            "and push"
        )
        yield Step(
            "git", Health.OK, "union merge is configured and derived files are ignored", hint
        )


_HOOK_STEPS: Final = {
    HookStatus.OURS: (Health.OK, ""),
    HookStatus.OTHERS: (Health.OK, ""),
    HookStatus.NONE: (
        Health.NOTE,
        "run `vibes init --git-hooks` to install it, or `vibes backfill` from time to time",
    ),
    HookStatus.BROKEN: (
        Health.PROBLEM,
        "run `vibes init --git-hooks`, which repairs it or says what prevents that",
    ),
    HookStatus.SHADOWED: (
        Health.PROBLEM,
        "run `vibes init --git-hooks` again, or remove core.hooksPath from git's configuration",
    ),
}


def _hook(context: CheckContext) -> Iterator[Step]:
    if context.repository is None:
        return
    try:
        report = inspect_hook(context.directory.project)
    except RefusedWrite as error:
        yield Step("git hook", Health.NOTE, error.message, error.hint)
        return
    health, hint = _HOOK_STEPS[report.status]
    yield Step("git hook", health, report.message, hint)


def _annotations(context: CheckContext) -> Step:
    columns = context.trail.log.columns
    count = sum(map(len, columns.annotations.values()))
    if not count:
        return Step(
            "annotations",
            Health.NOTE,
            "the log has no annotations yet",
            "record an edit with `vibes record annotate`, or check that your tool records",
        )
    paths = context.trail.annotated_paths()
    foreign = foreign_paths(paths, context.directory.project)
    annotations = pluralize(count, "annotation", "annotations")
    files = pluralize(len(paths), "file", "files")
    message = f"{annotations} in {files}"
    if foreign:
        missing = pluralize(len(foreign), "file is", "files are")
        message += f"; {missing} not in this checkout"
    if len(foreign) == len(paths):
        return Step(
            "annotations",
            Health.PROBLEM,
            message,
            "the trail belongs to another branch or project; check out its branch",
        )
    return Step("annotations", Health.OK, message)


def _file(context: CheckContext, file: Path) -> Iterator[Step]:
    about = str(file)
    path = _recorded_path(file, context.directory.project)
    if path is None:
        yield Step(
            about,
            Health.PROBLEM,
            "the file is outside the project of this audit directory",
            "give its audit directory with --audit-dir",
        )
        return
    tracked = context.config.tracking.tracks(path)
    if not tracked:
        yield Step(
            about,
            Health.NOTE,
            "the project does not track this file",
            "change tracked_extensions or exclude_patterns in config.json",
        )
    shown = deduplicate(context.trail.lineages_in(path))
    placeholders = sum(1 + len(each.duplicates) for each in shown if each.is_placeholder)
    history = sum(bool(each.lineage.superseded_by) for each in shown)
    if shown:
        message = pluralize(len(shown), "annotation", "annotations")
        message += f", {history:,} of them superseded" if history else ""
        message += (
            f"; {pluralize(placeholders, 'record names', 'records name')} no real line"
            if placeholders
            else ""
        )
        yield Step(about, Health.OK, message, _unverified_reasons(context.trail, path))
        return
    name = normal_path(path).rsplit("/", 1)[-1]
    same_name = [
        each
        for each in context.trail.annotated_paths()
        if normal_path(each).rsplit("/", 1)[-1] == name
    ]
    if same_name:
        hint = f"the log has annotations of {', '.join(same_name[:3])}"
    elif file.exists():
        hint = "record an edit of it with `vibes record annotate`, or check that your tool records"
    else:
        hint = "the file does not exist; check its path"
    yield Step(
        about,
        Health.PROBLEM if tracked else Health.NOTE,
        "the log has no annotation of this file",
        hint,
    )


def _unverified_reasons(trail: Trail, path: str) -> str:
    """Describe the unverified annotations of a file; empty if none or if it is unreadable."""
    try:
        text = read_source(trail.directory.project, path)
    except UnreadableFile:
        return ""
    with ProjectLocator(trail) as locator:
        unverified = [
            (why, in_git_since(each))
            for each in locator.locate(path, text)
            if (why := why_unverified(each)) is not None
        ]
    reasons = Counter(why for why, _ in unverified)
    return "; ".join(
        _reason(why, count, {when for other, when in unverified if other == why and when})
        for why, count in reasons.items()
    )


def _reason(why: str, count: int, times: AbstractSet[str]) -> str:
    when = f", {min(times)}" if times else ""
    advice = f"; {RECORD_BEFORE_COMMIT}" if why == TEXT_OLDER_THAN_EDIT else ""
    return f"{count:,} unverified: {why}{when}{advice}"


def _recorded_path(file: Path, project: Path) -> str | None:
    """Return the path of a file as records name it, following links if needed; None if outside."""
    spelled = Path(os.path.normpath(file.absolute())), Path(os.path.normpath(project.absolute()))
    if spelled[0].is_relative_to(spelled[1]):
        return spelled[0].relative_to(spelled[1]).as_posix()
    real = Path(os.path.realpath(file)), Path(os.path.realpath(project))
    return real[0].relative_to(real[1]).as_posix() if real[0].is_relative_to(real[1]) else None
