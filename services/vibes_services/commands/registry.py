"""`vibes registry`: submit attestations to a registry, find them there, and serve one."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Final

import click

from vibes_lsp.cli.options import examples, json_option, limit_option
from vibes_lsp.cli.output import escape, print_json, print_line
from vibes_lsp.cli.tables import print_table
from vibes_lsp.model.ages import describe_age
from vibes_lsp.model.timestamps import parse_timestamp
from vibes_services.commands.attestation_file import attestation_file, create_new_file
from vibes_services.commands.cosign_server import folder_argument, serving_options

if TYPE_CHECKING:
    from vibes_services.server.app import ServerSettings

_ID_LENGTH: Final = 64


@click.group(
    "registry",
    epilog=examples(
        "vibes registry submit https://registry.example.org",
        "vibes registry find https://registry.example.org --project shop",
    ),
)
def command() -> None:
    """Submit attestations to a registry, or find them there.

    Only the attestation is sent: digests, the project's name and statistics, no record or prompt.
    """


@command.command("submit", epilog=examples("vibes registry submit https://registry.example.org"))
@click.argument("url", metavar="URL")
@click.argument("file", type=click.Path(path_type=Path), required=False, metavar="[FILE]")
@click.option(
    "--public-key",
    "public_keys",
    type=click.Path(path_type=Path, exists=True, dir_okay=False),
    multiple=True,
    metavar="FILE",
    help="Key for the registry to verify with; repeatable.",
)
@json_option
def submit_command(
    url: str, file: Path | None, public_keys: tuple[Path, ...], as_json: bool
) -> None:
    """Submit an attestation. Repeating it has no effect.

    The token is read from VIBES_REGISTRY_TOKEN. FILE is by default the attestation of the audit
    trail.
    """
    from vibes_lsp.attestation.key_files import load_public_key  # noqa: PLC0415
    from vibes_lsp.attestation.verification import read_envelope  # noqa: PLC0415
    from vibes_lsp.cli.cosign_options import token_from  # noqa: PLC0415
    from vibes_services.registry_client import submit  # noqa: PLC0415

    envelope = read_envelope(attestation_file(file))
    keys = [load_public_key(path) for path in public_keys]
    found = submit(url, envelope, token_from("VIBES_REGISTRY_TOKEN"), keys)
    if as_json:
        print_json(found.as_json())
        return
    print_line(f"registered {found.attestation_id}")
    for each in found.signatures:
        state = "verified by the registry" if each.verified else "not verified by the registry"
        print_line(f"  signature of {escape(each.key_id, 80)}: {state}")


@command.command(
    "find",
    epilog=examples(
        "vibes registry find https://registry.example.org --key-id 6f2d0c6a8b1e4f37",
        "vibes registry find https://registry.example.org --id ID --output found.json",
    ),
)
@click.argument("url", metavar="URL")
@click.option("--id", "attestation_id", metavar="ID", help="Whole id of an attestation.")
@click.option("--key-id", "key_id", metavar="ID", help="Key id that a signature declares.")
@click.option("--project", metavar="NAME", help="Whole name of a project.")
@click.option(
    "--output",
    type=click.Path(path_type=Path, dir_okay=False),
    metavar="FILE",
    help="Write the attestation of --id to a new file.",
)
@limit_option("attestations", default=20, largest=1000)
@json_option
def find_command(  # noqa: PLR0917  # click passes them by name
    url: str,
    attestation_id: str | None,
    key_id: str | None,
    project: str | None,
    output: Path | None,
    limit: int,
    as_json: bool,
) -> None:
    """Find attestations in a registry, newest first.

    An id is checked against the content; verify what you find with `vibes verify`.
    """
    from vibes_services.registry_client import fetch, find  # noqa: PLC0415

    if attestation_id is not None:
        if key_id is not None or project is not None:
            raise click.UsageError("--id excludes --key-id and --project")
        if len(attestation_id) != _ID_LENGTH:
            raise click.UsageError(f"--id: expected {_ID_LENGTH} hexadecimal digits")
        entry, envelope = fetch(url, attestation_id)
        if output is not None:
            create_new_file(output, envelope.encode())
            print_line(f"wrote {output}")
            return
        entries = [entry]
    else:
        if output is not None:
            raise click.UsageError("--output needs --id")
        entries = find(url, key_id=key_id, project=project, limit=limit)
    if as_json:
        print_json({"attestations": [each.as_json() for each in entries]})
        return
    if not entries:
        print_line("no attestation found")
        return
    now = datetime.now(UTC)
    print_table(
        ("received", "project", "signed by", "id"),
        [
            (
                describe_age(moment, now) if (moment := parse_timestamp(each.received_at)) else "?",
                each.project or "",
                ", ".join(
                    f"{one.key_id[:24]}{'' if one.verified else ' (not verified)'}"
                    for one in each.signatures
                ),
                each.attestation_id,
            )
            for each in entries
        ],
    )


@command.command(
    "serve",
    epilog=examples(
        "vibes registry serve /srv/vibes",
        "vibes registry serve /srv/vibes --database postgresql://vibes@localhost/vibes",
    ),
)
@folder_argument
@click.option(
    "--database",
    "database_url",
    metavar="URL",
    envvar="VIBES_REGISTRY_DATABASE",
    show_envvar=True,
    help="SQLite or PostgreSQL database.  [default: registry.db in DIR]",
)
@serving_options
def serve_command(folder: Path, database_url: str | None, rate: int) -> ServerSettings:
    """Serve a registry until stopped.

    Submitting needs a token of the scope register (`vibes cosign-server token`); finding needs
    none.
    """
    from vibes_services.server.app import ServerSettings  # noqa: PLC0415

    url = database_url or f"sqlite:///{(folder / 'registry.db').absolute()}"
    return ServerSettings(folder, database_url=url, rate=rate)
