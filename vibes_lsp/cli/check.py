"""`vibes check`: the compliance report (guide, `checks`)."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import click

from vibes_lsp import __version__
from vibes_lsp.checks.context import open_context
from vibes_lsp.checks.finding import Finding, Severity, pluralize
from vibes_lsp.checks.report import Report, check_trail, pass_or_fail
from vibes_lsp.cli.options import (
    audit_dir_option,
    examples,
    json_option,
    refuse_combined,
    sarif_option,
)
from vibes_lsp.cli.output import (
    escape,
    print_finding,
    print_json,
    print_line,
    print_styled,
    progress,
)
from vibes_lsp.cli.pager import paged
from vibes_lsp.cli.project import audit_directory, fold_waiting_events, now
from vibes_lsp.reports.sarif import findings_sarif

_MAX_PER_CHECK = 10


@click.command(
    "check", epilog=examples("vibes check", "vibes check --base origin/main", "vibes check --sarif")
)
@audit_dir_option
@click.option(
    "--base", metavar="REV", help="Revision whose records must all be present and unchanged."
)
@click.option(
    "--badge",
    "badges",
    type=click.Path(path_type=Path),
    multiple=True,
    metavar="FILE",
    help="File with a badge whose claim is checked as well; repeatable.",
)
@sarif_option
@click.option(
    "--all",
    "show_all",
    is_flag=True,
    help=f"All findings.  [default: {_MAX_PER_CHECK} of each check]",
)
@json_option
def command(
    *,
    audit_dir: Path | None,
    base: str | None,
    badges: tuple[Path, ...],
    sarif: bool,
    show_all: bool,
    as_json: bool,
) -> int:
    """Check the audit trail for compliance.

    Prints the compliance report of the standard and every finding with its place. Exits 1 when any
    finding is an error.
    """
    refuse_combined(sarif=sarif, json=as_json)
    directory = audit_directory(audit_dir)
    if base is None:
        fold_waiting_events(directory)
    with progress() as step:
        report = check_trail(open_context(directory, now(), step), base)
    if badges:
        # Imported late: a check without badges locates no annotation.
        from vibes_lsp.cli.badge import check_badges  # noqa: PLC0415

        report = report.with_findings(check_badges(badges, audit_dir))
    if sarif:
        print_json(findings_sarif(report.findings, __version__))
    elif as_json:
        print_json(report.as_json())
    else:
        with paged():
            _print(report, show_all=show_all)
    return 0 if report.passed else 1


def _print(report: Report, *, show_all: bool) -> None:
    print_line("VIBES Standard Compliance Check")
    print_line(f"Project: {escape(report.project, 100)}")
    print_line(f"Assurance Level: {report.level}")
    print_line(f"Files found: {', '.join(report.files) or 'none'}")
    for label, passed in (
        ("Hash integrity", report.hashes_pass),
        ("Schema compliance", report.schema_passes),
        ("Result", report.passed),
    ):
        print_styled(
            [(f"{label}: ", ""), (pass_or_fail(passed), "green" if passed else "bold red")]
        )
    print_line()
    for label, counts in (
        ("Records", report.records),
        ("Entries", report.entries),
        ("Context hashes", report.context_hashes),
        ("Annotation ids", report.annotation_ids),
    ):
        print_styled([(_counts(label, counts), "")])
    if report.findings:
        print_line()
        _print_findings(report.findings, show_all=show_all)
    print_line()
    print_line(
        ", ".join(
            pluralize(report.count(severity), severity, f"{severity}s") for severity in Severity
        )
    )


def _counts(label: str, counts: dict[str, int]) -> str:
    parts = ", ".join(f"{count:,} {name}" for name, count in counts.items() if count)
    return f"{label}: {sum(counts.values()):,}" + (f" ({parts})" if parts else "")


def _print_findings(findings: tuple[Finding, ...], *, show_all: bool) -> None:
    printed: Counter[str] = Counter()
    totals = Counter(finding.check.id for finding in findings)
    for finding in findings:
        check = finding.check.id
        printed[check] += 1
        if show_all or printed[check] <= _MAX_PER_CHECK:
            print_finding(finding)
        elif printed[check] == _MAX_PER_CHECK + 1:
            rest = totals[check] - _MAX_PER_CHECK
            print_styled([(f"  … {rest:,} more of {check}; use --all for all", "dim")])
