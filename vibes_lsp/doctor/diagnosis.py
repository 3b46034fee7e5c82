"""Diagnose why no annotation is shown (`vibes doctor`).

Each step between the program and an annotation of a file is tested: program, audit files, git,
agents, recording, file.
"""

from __future__ import annotations

import os
import platform
import sys
from collections import Counter
from collections.abc import Iterator
from collections.abc import Set as AbstractSet
from pathlib import Path
from typing import Final

from vibes_lsp import __version__
from vibes_lsp.agents.agent import UserHome
from vibes_lsp.checks.context import CheckContext
from vibes_lsp.checks.files import check_config, check_git_setup, check_log, check_manifest
from vibes_lsp.checks.finding import Severity, pluralize
from vibes_lsp.checks.hidden_texts import check_hidden_texts
from vibes_lsp.doctor.agents import agent_steps
from vibes_lsp.doctor.recording import recording_steps
from vibes_lsp.doctor.steps import Group, Health, Step
from vibes_lsp.errors import RefusedWrite, UnreadableFile
from vibes_lsp.git.project_files import count_foreign, read_source
from vibes_lsp.git.repository import Repository
from vibes_lsp.git.stored_files import StoredFiles
from vibes_lsp.maintenance.hook_installation import HookStatus, inspect_hook
from vibes_lsp.model.paths import normal_path
from vibes_lsp.placing.placements import (
    RECORD_BEFORE_COMMIT,
    TEXT_OLDER_THAN_EDIT,
    deduplicate,
    in_git_since,
    why_unverified,
)
from vibes_lsp.placing.project_locator import ProjectLocator
from vibes_lsp.recording.entries import REDACTION
from vibes_lsp.store.initialise import REVIEWER_TOOL
from vibes_lsp.trail.trail import Trail


def program_step() -> Step:
    """Return the step that needs no trail: versions."""
    system = f"{platform.system()} {platform.machine()}".strip()
    return Step(
        Group.PROGRAM,
        "program",
        Health.OK,
        f"{REVIEWER_TOOL} {__version__}, Python {platform.python_version()}, {system}, "
        f"{sys.executable}",
    )


def diagnose(context: CheckContext, home: UserHome, file: Path | None = None) -> Iterator[Step]:
    """Yield the steps for a trail, and for one file of the project if given.

    Args:
        context: The trail.
        home: The person's home, with the configuration of agents.
        file: A file whose annotations are missing.
    """
    yield Step(Group.TRAIL, "audit directory", Health.OK, str(context.directory.path))
    yield from _files(context)
    if os.environ.get(REDACTION) == "off":
        yield Step(
            Group.TRAIL,
            "masking",
            Health.NOTE,
            f"{REDACTION}=off: secrets are recorded unmasked",
            f"remove {REDACTION} from the environment",
        )
    if context.trail.log.problem is None:
        yield _annotations(context)
        yield from _hidden_texts(context)
    yield from _git(context)
    yield from _hook(context)
    yield from agent_steps(context.directory, home, context.now)
    yield from recording_steps(context.directory, context.now)
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
            yield Step(
                Group.TRAIL, name, Health.PROBLEM, where + finding.message, finding.check.fix
            )
        if not findings:
            yield Step(Group.TRAIL, name, Health.OK, _size(context, name))


def _size(context: CheckContext, name: str) -> str:
    if name == "config.json":
        config = context.config.config
        risk = config.risk_scoring is not None and config.risk_scoring.enabled
        version = f"standard {config.standard_version}"
        return f"{version}, level {config.assurance_level}, PRISM {'on' if risk else 'off'}"
    if name == "manifest.json":
        return pluralize(len(context.trail.manifest), "context entry", "context entries")
    return pluralize(context.trail.line_count, "line", "lines")


def _git(context: CheckContext) -> Iterator[Step]:
    if context.repository is None:
        yield Step(
            Group.GIT,
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
        yield Step(
            Group.GIT,
            "git",
            Health.PROBLEM,
            f"{finding.file}: {finding.message}",
            finding.check.fix,
        )
    if not findings:
        hint = (
            "git hosts ignore union merges: if a merge conflicts there, run `vibes merge` locally "
            "and push"
        )
        yield Step(
            Group.GIT,
            "git",
            Health.OK,
            "union merge is configured and derived files are ignored",
            hint,
        )


_HOOK_STEPS: Final = {
    HookStatus.OURS: (Health.OK, ""),
    HookStatus.OTHERS: (Health.OK, ""),
    HookStatus.NONE: (
        Health.NOTE,
        (
            "each record changes the audit trail at once, so that `git switch` and `git pull` may"
            " refuse; run `vibes init` to install it, or `vibes backfill` from time to time"
        ),
    ),
    HookStatus.BROKEN: (
        Health.PROBLEM,
        "run `vibes init`, which repairs it or says what prevents that",
    ),
    HookStatus.SHADOWED: (
        Health.PROBLEM,
        "run `vibes init` again, or remove core.hooksPath from git's configuration",
    ),
}


def _hook(context: CheckContext) -> Iterator[Step]:
    if context.repository is None:
        return
    try:
        report = inspect_hook(context.directory.project)
    except RefusedWrite as error:
        yield Step(Group.GIT, "git hook", Health.NOTE, error.message, error.hint)
        return
    health, hint = _HOOK_STEPS[report.status]
    yield Step(Group.GIT, "git hook", health, report.message, hint)


def _annotations(context: CheckContext) -> Step:
    count = context.trail.annotation_count
    if not count:
        return Step(
            Group.TRAIL,
            "annotations",
            Health.NOTE,
            "the log has no annotations yet",
            "record an edit with `vibes record annotate`, or check that your tool records",
        )
    paths = context.trail.annotated_paths()
    foreign = count_foreign(paths, context.directory.project)
    annotations = pluralize(count, "annotation", "annotations")
    files = pluralize(len(paths), "file", "files")
    message = f"{annotations} in {files}"
    if foreign:
        missing = pluralize(foreign, "file is", "files are")
        message += f"; {missing} not in this checkout"
    if foreign == len(paths):
        return Step(
            Group.TRAIL,
            "annotations",
            Health.PROBLEM,
            message,
            "the trail belongs to another branch or project; check out its branch",
        )
    return Step(Group.TRAIL, "annotations", Health.OK, message)


def _hidden_texts(context: CheckContext) -> Iterator[Step]:
    findings = list(check_hidden_texts(context))
    if findings:
        records = pluralize(len(findings), "record has", "records have")
        message = f"{records} lines or hashes of files that git stores encrypted or elsewhere"
        fix = f"`vibes check` lists them. {findings[0].check.fix}"
        yield Step(Group.TRAIL, "hidden texts", Health.PROBLEM, message, fix)


def _file(context: CheckContext, file: Path) -> Iterator[Step]:
    about = str(file)
    path = _recorded_path(file, context.directory.project)
    if path is None:
        yield Step(
            Group.FILE,
            about,
            Health.PROBLEM,
            "the file is outside the project of this audit directory",
            "give its audit directory with --audit-dir",
        )
        return
    tracked = context.config.tracking.tracks(path)
    if not tracked:
        yield Step(
            Group.FILE,
            about,
            Health.NOTE,
            "the policy of the project leaves this file out",
            "change tracked_extensions or exclude_patterns in config.json",
        )
    yield from _filter(context.trail.directory.project, path, about)
    shown = deduplicate(context.trail.lineages_in(path))
    placeholders = sum(
        1 + len(annotation.duplicates) for annotation in shown if annotation.is_placeholder
    )
    history = sum(bool(annotation.lineage.superseded_by) for annotation in shown)
    if shown:
        message = pluralize(len(shown), "annotation", "annotations")
        message += f", {history:,} of them superseded" if history else ""
        message += (
            f"; {pluralize(placeholders, 'record names', 'records name')} no real line"
            if placeholders
            else ""
        )
        yield Step(
            Group.FILE,
            about,
            Health.OK,
            message,
            _unverified_reasons(context.trail, context.repository, path),
        )
        return
    name = normal_path(path).rsplit("/", 1)[-1]
    same_name = [
        annotated_path
        for annotated_path in context.trail.annotated_paths()
        if normal_path(annotated_path).rsplit("/", 1)[-1] == name
    ]
    if same_name:
        hint = f"the log has annotations of {', '.join(same_name[:3])}"
    elif file.exists():
        hint = "record an edit of it with `vibes record annotate`, or check that your tool records"
    else:
        hint = "the file does not exist; check its path"
    yield Step(
        Group.FILE,
        about,
        Health.PROBLEM if tracked else Health.NOTE,
        "the log has no annotation of this file",
        hint,
    )


def _filter(project: Path, path: str, about: str) -> Iterator[Step]:
    """Yield whether a filter keeps a file's text out of git."""
    try:
        name = StoredFiles(project).hiding_filter(path, read_source(project, path))
    except UnreadableFile:
        return
    if name is not None:
        message = f"git stores this file encrypted or elsewhere (filter {name})"
        hint = "edits are recorded as claims, without anchors"
        yield Step(Group.FILE, about, Health.NOTE, message, hint)


def _unverified_reasons(trail: Trail, repository: Repository | None, path: str) -> str:
    """Describe the unverified annotations of a file; empty if none or if it is unreadable."""
    try:
        text = read_source(trail.directory.project, path)
    except UnreadableFile:
        return ""
    with ProjectLocator(trail, repository=repository) as locator:
        unverified = [
            (why, in_git_since(placement))
            for placement in locator.locate(path, text)
            if (why := why_unverified(placement)) is not None
        ]
    reasons = Counter(why for why, _ in unverified)
    return "; ".join(
        _reason(why, count, {when for cause, when in unverified if cause == why and when})
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
