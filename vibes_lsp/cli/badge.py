"""`vibes badge`, and the claims of badges for `vibes check --badge`."""

from __future__ import annotations

from pathlib import Path

import click

from vibes_lsp.attestation.badge import (
    MAX_FILE,
    badge_findings,
    find_badges,
    markdown,
    shields_endpoint,
    svg,
)
from vibes_lsp.attestation.badge_numbers import BadgeNumbers, count_unsigned, measure
from vibes_lsp.attestation.tiers import TrustTier, attestation_path
from vibes_lsp.checks.finding import Finding
from vibes_lsp.cli.options import (
    audit_dir_option,
    examples,
    json_option,
    refuse_combined,
)
from vibes_lsp.cli.output import print_json, print_line
from vibes_lsp.cli.project import absolute, open_project
from vibes_lsp.errors import UnreadableFile, VibesError
from vibes_lsp.reports.coverage import owned_files, project_files
from vibes_lsp.store.files import read_file
from vibes_lsp.trail.trail import Trail


@click.command("badge", epilog=examples("vibes badge", "vibes badge --shields"))
@click.option("--shields", is_flag=True, help="JSON for an endpoint badge of shields.io.")
@click.option("--markdown", "as_markdown", is_flag=True, help="Markdown of a static badge.")
@audit_dir_option
@json_option
def command(shields: bool, as_markdown: bool, audit_dir: Path | None, as_json: bool) -> None:
    """Print a badge with AI share, assurance level and tier.

    Prints an SVG image. Only verified lines count. `vibes check --badge FILE` checks what a badge
    claims.
    """
    refuse_combined(shields=shields, markdown=as_markdown, json=as_json)
    numbers = _measure(audit_dir)
    if as_json:
        print_json(numbers.as_json())
    elif shields:
        print_json(shields_endpoint(numbers.claim))
    elif as_markdown:
        print_line(markdown(numbers.claim))
    else:
        print_line(svg(numbers.claim).removesuffix("\n"))


def check_badges(files: tuple[Path, ...], audit_dir: Path | None) -> list[Finding]:
    """Return what badges in files claim and the data does not show.

    Raises:
        BadBadge: A file has no badge.
        UnreadableFile: A file cannot be read.
    """
    badges_by_file = []
    for file in files:
        content = read_file(file, limit=MAX_FILE)
        if content is None:
            raise UnreadableFile(f"{file} does not exist", hint="draw one with `vibes badge`")
        try:
            badges_by_file.append(
                (_shown_path(file), find_badges(content, is_svg=file.suffix.lower() == ".svg"))
            )
        except VibesError as error:
            raise type(error)(f"{file}: {error.message}", hint=error.hint) from None
    actual = _measure(audit_dir).claim
    return [
        finding
        for path, badges in badges_by_file
        for finding in badge_findings(badges, actual, path)
    ]


def _shown_path(file: Path) -> str:
    """Return a path relative to the current folder where it is below that."""
    path, folder = absolute(file), absolute(Path.cwd())
    return (path.relative_to(folder) if path.is_relative_to(folder) else path).as_posix()


def _measure(audit_dir: Path | None) -> BadgeNumbers:
    project = open_project(audit_dir, uses_saved=False)
    tier, unsigned = _tier(project.trail)
    with project.locator(use_kept_texts=False) as locator:
        files = owned_files(locator, project.config.tracking, project_files(locator))
        return measure(files, project.trail, tier, unsigned)


def _tier(trail: Trail) -> tuple[TrustTier, int]:
    """Return the tier of a trail as `vibes verify` finds it, and how many records it leaves out."""
    if attestation_path(trail.directory) is None:
        return TrustTier.NONE, 0
    try:
        # Imported late: cryptography is optional.
        from vibes_lsp.cli.verify import own_verification  # noqa: PLC0415
    except ModuleNotFoundError as error:
        raise VibesError(
            f"the trail has an attestation, and to verify it the package {error.name} is needed",
            hint="in a checkout of vibes-lsp, run `pip install '.[attest]'`",
        ) from None
    verification = own_verification(trail.directory)
    log = verification.log
    if log is None or not log.added:
        return verification.tier, 0
    # Among the records of a merge, those that were added are not told apart here.
    unsigned = log.added if log.end is None else count_unsigned(trail, log.end)
    return verification.tier, unsigned
