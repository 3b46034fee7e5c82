"""`vibes cosign-server`: sign attestations as a tool's provider."""

from __future__ import annotations

import functools
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from vibes_lsp.cli.options import examples, json_option
from vibes_lsp.cli.output import escape, print_json, print_line
from vibes_lsp.cli.tables import print_table
from vibes_lsp.model.ages import describe_age

if TYPE_CHECKING:
    from vibes_services.server.app import ServerSettings

_F = TypeVar("_F", bound=Callable[..., Any])


def folder_argument(function: _F) -> _F:
    """Add the argument DIR, the server's folder."""
    return click.argument("folder", type=click.Path(path_type=Path), metavar="DIR")(function)


def serving_options(function: Callable[..., ServerSettings]) -> Callable[..., None]:
    """Add the options that say where and how a server listens, and serve what `function` returns.

    Args:
        function: Gets the remaining options, with `folder` and `rate`, and returns what to serve.
    """

    @functools.wraps(function)
    def serve_until_stopped(  # click passes them by name
        host: str,
        port: int,
        certificate: Path | None,
        private_key: Path | None,
        behind_proxy: bool,
        **others: Any,
    ) -> None:
        from vibes_services.server.serve import Address, serve  # noqa: PLC0415

        serve(function(**others), Address(host, port, certificate, private_key, behind_proxy))

    wrapped: Callable[..., None] = serve_until_stopped
    path = click.Path(path_type=Path, exists=True, dir_okay=False)
    for option in reversed(
        (
            click.option(
                "--host", default="127.0.0.1", show_default=True, help="Address to listen on."
            ),
            click.option(
                "--port",
                type=click.IntRange(0, 65_535),
                default=8470,
                show_default=True,
                metavar="N",
                help="Port to listen on.",
            ),
            click.option("--certificate", type=path, metavar="FILE", help="TLS certificate, PEM."),
            click.option(
                "--private-key",
                type=path,
                metavar="FILE",
                help="Private key of the certificate (PEM).",
            ),
            click.option("--behind-proxy", is_flag=True, help="A proxy in front ends TLS."),
            click.option(
                "--rate",
                type=click.IntRange(1),
                default=60,
                show_default=True,
                metavar="N",
                help="Requests of a token in a minute.",
            ),
        )
    ):
        wrapped = option(wrapped)
    return wrapped


@click.group(
    "cosign-server",
    epilog=examples(
        "vibes cosign-server init /srv/vibes --provider Example --tool-name agent",
        "vibes cosign-server token /srv/vibes alice",
        "vibes cosign-server serve /srv/vibes",
    ),
)
def command() -> None:
    """Cosign attestations as the provider of a tool.

    The server signs 32-byte digests and never sees audit data. services/docs/cosigning.md says
    how to run one.
    """


@command.command("init", epilog=examples("vibes cosign-server init DIR --provider P --tool-name T"))
@folder_argument
@click.option("--provider", required=True, metavar="NAME", help="Your name.")
@click.option("--tool-name", "tool", required=True, metavar="NAME", help="Your tool's name.")
def init_command(folder: Path, provider: str, tool: str) -> None:
    """Create a provider's folder with its first key."""
    from vibes_services.server.signing_keys import create_keys  # noqa: PLC0415

    key = create_keys(folder, provider, tool, datetime.now(UTC))
    print_line(f"created {folder} with key {key.declared_id}")


@command.command("rotate", epilog=examples("vibes cosign-server rotate /srv/vibes"))
@folder_argument
def rotate_command(folder: Path) -> None:
    """Make a new key; retire the others, which stay published.

    A running server uses the new key from its next request on.
    """
    from vibes_services.server.signing_keys import rotate_keys  # noqa: PLC0415

    key = rotate_keys(folder, datetime.now(UTC))
    print_line(f"key {key.declared_id} signs from now on")


@command.command("keys", epilog=examples("vibes cosign-server keys /srv/vibes"))
@folder_argument
@json_option
def keys_command(folder: Path, as_json: bool) -> None:
    """List the published keys, newest first."""
    from vibes_services.server.signing_keys import SigningKeys  # noqa: PLC0415

    keys, now = SigningKeys(folder).provider().keys, datetime.now(UTC)
    if as_json:
        print_json({"keys": [each.as_json() for each in keys]})
        return
    print_table(
        ("key", "status", "since", "until"),
        [
            (
                each.declared_id,
                each.status.value,
                describe_age(each.valid_from, now) if each.valid_from else "",
                f"{each.valid_until:%Y-%m-%d}" if each.valid_until else "",
            )
            for each in keys
        ],
    )


@command.command(
    "token",
    epilog=examples(
        "vibes cosign-server token /srv/vibes alice",
        "vibes cosign-server token /srv/vibes ci --scope register",
        "vibes cosign-server token /srv/vibes alice --revoke",
    ),
)
@folder_argument
@click.argument("name", metavar="NAME")
@click.option(
    "--scope",
    "scopes",
    type=click.Choice(["cosign", "register"]),
    multiple=True,
    default=("cosign",),
    show_default=True,
    help="What the token allows; repeatable.",
)
@click.option("--revoke", is_flag=True, help="Remove the token instead.")
def token_command(folder: Path, name: str, scopes: tuple[Any, ...], revoke: bool) -> None:
    """Create a token and print it once, or revoke it.

    Only its SHA-256 is stored. A running server accepts it immediately.
    """
    # Imported late, as everything that only this command needs.
    from vibes_services.server.tokens import create_token, revoke_token  # noqa: PLC0415

    if revoke:
        revoke_token(folder, name)
        print_line(f"revoked the token of {escape(name)}")
        return
    print_line(create_token(folder, name, scopes, datetime.now(UTC)))


@command.command(
    "serve",
    epilog=examples(
        "vibes cosign-server serve /srv/vibes",
        "vibes cosign-server serve /srv/vibes --registry sqlite:////srv/vibes/registry.db",
    ),
)
@folder_argument
@click.option(
    "--registry",
    "database_url",
    metavar="URL",
    envvar="VIBES_REGISTRY_DATABASE",
    show_envvar=True,
    help="Also serve a registry, with this database.",
)
@serving_options
def serve_command(folder: Path, database_url: str | None, rate: int) -> ServerSettings:
    """Answer requests for cosignatures until stopped."""
    from vibes_services.server.app import ServerSettings  # noqa: PLC0415

    return ServerSettings(folder, cosigning=True, database_url=database_url, rate=rate)
