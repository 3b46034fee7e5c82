"""`vibes gate`: block code that is too risky or needs review (RFC 10.4.5, 10.4.6)."""

from __future__ import annotations

import gc
import json
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Final

import click

from vibes_lsp import __version__
from vibes_lsp.cli.options import (
    audit_dir_option,
    examples,
    json_option,
    refuse_combined,
    sarif_option,
)
from vibes_lsp.cli.output import (
    print_finding,
    print_json,
    print_line,
    print_styled,
    progress,
)
from vibes_lsp.cli.project import now, open_trail, path_in_project
from vibes_lsp.cli.tables import print_table
from vibes_lsp.errors import HistoryUnavailable, UnreadableFile, VibesError
from vibes_lsp.gate.annotation_decision import parse_threshold
from vibes_lsp.gate.inputs import load_inputs
from vibes_lsp.gate.pull_request import code_quality, markdown_summary, workflow_commands
from vibes_lsp.gate.report import GateItem, GateReport, summary_line
from vibes_lsp.gate.run import GateOptions, run_gate
from vibes_lsp.placing.live_risk import Scorer
from vibes_lsp.placing.project_locator import ProjectLocator
from vibes_lsp.reports.diff import Changes, collect_changes
from vibes_lsp.reports.placements import describe_review
from vibes_lsp.reports.sarif import findings_sarif
from vibes_lsp.risk.policy import Policy
from vibes_lsp.store.audit_dir import AuditDir
from vibes_lsp.store.config import load_config

_MAX_ITEMS: Final = 100
_MAX_FINDINGS: Final = 50
_ADDRESS: Final = re.compile(r"https?://[\w.:/~%@+-]+", re.ASCII)


def _checked_address(
    _context: click.Context, _parameter: click.Parameter, address: str | None
) -> str | None:
    if address is not None and not _ADDRESS.fullmatch(address):
        raise VibesError(
            f"invalid address {address!r} for --links: expected https:// without spaces, quotes,"
            " parentheses or vertical bars"
        )
    return address


@click.command(
    "gate",
    epilog=examples(
        "vibes gate --base origin/main",
        "vibes gate --base origin/main --markdown",
        "vibes gate --threshold high src/auth.py",
    ),
)
@click.argument(
    "files",
    nargs=-1,
    type=click.Path(path_type=Path),
    help="Files to check.  [default: all files; with --base, changed files]",
)
@click.option("--base", metavar="REV", help="Revision to compare with; its policy and rules apply.")
@click.option(
    "--threshold",
    default="critical",
    metavar="BAND|NUMBER",
    help="Risk band or score at which code is blocked.",
    show_default=True,
)
@click.option(
    "--stored",
    is_flag=True,
    help="Scores as recorded, not as computed now.",
)
@click.option(
    "--all",
    "all_records",
    is_flag=True,
    help="All records of the log, including superseded and approved ones.",
)
@click.option("--markdown", is_flag=True, help="Markdown output for a pull request.")
@click.option(
    "--links",
    metavar="URL",
    callback=_checked_address,
    help="Address of the files on their host, for links in Markdown.",
)
@click.option("--github", is_flag=True, help="Output that GitHub Actions shows at the lines.")
@click.option("--gitlab", is_flag=True, help="GitLab Code Quality output.")
@sarif_option
@audit_dir_option
@json_option
def command(  # noqa: PLR0917
    files: Sequence[Path],
    base: str | None,
    threshold: str,
    stored: bool,
    all_records: bool,
    markdown: bool,
    links: str | None,
    github: bool,
    gitlab: bool,
    sarif: bool,
    audit_dir: Path | None,
    as_json: bool,
) -> int:
    """Block code that is too risky or needs review.

    Exits 1 when code is blocked or lacks a required review.
    """
    refuse_combined(markdown=markdown, github=github, gitlab=gitlab, sarif=sarif, json=as_json)
    bound = parse_threshold(threshold)
    with _without_garbage_collection():
        trail = open_trail(audit_dir, folds=False, uses_saved=False)
        only = _relative_paths(files, trail.directory) if files else None
        inputs = load_inputs(trail, base)
        repository = inputs.changed_files.repository if inputs.changed_files is not None else None
        with (
            ProjectLocator(trail, use_kept_texts=False, repository=repository) as locator,
            progress() as step,
        ):
            report = run_gate(
                locator,
                inputs,
                GateOptions(
                    now(),
                    bound,
                    only,
                    use_stored_scores=stored,
                    all_records=all_records,
                    with_commits=as_json,
                    progress=step,
                ),
            )
            changes = _changes(locator, report) if markdown else None
        if sarif:
            print_json(findings_sarif(report.all_findings(), __version__))
        elif as_json:
            print_json(report.as_json())
        elif markdown:
            print_line(markdown_summary(report, changes=changes, links=links).removesuffix("\n"))
        elif github:
            for line in workflow_commands(report.all_findings()):
                print_line(line)
        elif gitlab:
            print_line(json.dumps(code_quality(report.all_findings()), indent=2))
        else:
            _print(report)
    return 0 if report.passed else 1


def _changes(locator: ProjectLocator, report: GateReport) -> Changes | None:
    """Return what the branch changes; None without a base or its history."""
    if report.base is None:
        return None
    config = load_config(locator.trail.directory)
    try:
        return collect_changes(
            locator, f"{report.base}...HEAD", Scorer(locator.trail, Policy()), config.tracking
        )
    except HistoryUnavailable:
        return None


@contextmanager
def _without_garbage_collection() -> Iterator[None]:
    """Disable garbage collection: traversing the annotations, which all live on, takes 20 %."""
    gc.disable()
    try:
        yield
    finally:
        gc.enable()


def _relative_paths(files: Sequence[Path], directory: AuditDir) -> frozenset[str]:
    """Return the files relative to the project, without those of the audit directory.

    Raises:
        UnreadableFile: One does not exist, or is not a file.
    """
    paths = frozenset(path_in_project(file, directory.project) for file in files)
    missing = next(
        (path for path in sorted(paths) if not (directory.project / path).is_file()), None
    )
    if missing is not None:
        what = "is not a file" if (directory.project / missing).exists() else "does not exist"
        raise UnreadableFile(f"{missing} {what}", hint="name files of the project")
    return frozenset(path for path in paths if path.split("/")[0] != directory.path.name)


def _print(report: GateReport) -> None:
    shown = list(report.listed)
    if shown:
        print_table(("", "id", "where", "risk", "why"), [_row(item) for item in shown[:_MAX_ITEMS]])
    if len(shown) > _MAX_ITEMS:
        print_line(f"… and {len(shown) - _MAX_ITEMS:,} more; use --json for all")
    for finding in report.findings[:_MAX_FINDINGS]:
        print_finding(finding)
    if len(report.findings) > _MAX_FINDINGS:
        print_line(
            f"… and {len(report.findings) - _MAX_FINDINGS:,} more findings; use --json for all"
        )
    if shown or report.findings:
        print_line()
    print_line(f"{summary_line(report)}; blocked at {report.bound:g} or more")
    print_styled([("Gate: ", ""), ("PASS", "green") if report.passed else ("FAIL", "bold red")])


def _row(item: GateItem) -> tuple[object, ...]:
    rules = "; ".join(item.reasons[:2])
    parts = [f"rule: {rules}" if rules else "", describe_review(item.facts)]
    return (
        "approved" if item.released else item.verdict,
        item.identifier[:8],
        item.location,
        item.report.describe_risk(item.facts, with_recorded=False) or "",
        " · ".join(part for part in parts if part),
    )
