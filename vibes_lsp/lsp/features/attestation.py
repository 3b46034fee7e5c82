"""The commands `vibes.verify` and `vibes.attest`."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from vibes_lsp.lsp.protocol.extensions import CommandName
from vibes_lsp.lsp.state.attestations import file_and_tier
from vibes_lsp.lsp.state.child_process import run_vibes
from vibes_lsp.lsp.state.debouncer import Debouncer
from vibes_lsp.lsp.state.refresh import refresh_documents
from vibes_lsp.lsp.state.server import Server
from vibes_lsp.lsp.state.shown_documents import ShownDocuments
from vibes_lsp.model.escaping import code_block
from vibes_lsp.store.audit_dir import AuditDir


@dataclass(frozen=True, slots=True)
class VerifyArguments:
    """The argument of `vibes.verify`.

    Attributes:
        uri: A file or folder of the project; by default the first workspace folder.
        show: Whether to open the report, if there is an attestation.
    """

    uri: str | None = None
    show: bool = False


@dataclass(frozen=True, slots=True)
class AttestArguments:
    """The argument of `vibes.attest`.

    Attributes:
        uri: A file or folder of the project; by default the first workspace folder.
        preview: Whether to sign nothing and return what becomes public.
        allowFailed: Whether to sign a trail that fails `vibes check`.
    """

    uri: str | None = None
    preview: bool = False
    allowFailed: bool = False  # noqa: N815  # its name on the wire


def register(server: Server, shown: ShownDocuments) -> None:
    """Offer the commands, and refresh audit files when there is a new result."""

    async def refresh(directory: AuditDir) -> None:
        opened = [
            uri
            for uri in server.documents.uris()
            if (audit_file := server.projects.audit_file(uri)) is not None
            and audit_file[0].directory == directory
        ]
        await refresh_documents(server, opened)

    server.attestations.on_change = Debouncer(refresh, 0).schedule

    @server.command(CommandName.VERIFY)
    async def verify(ls: Server, arguments: VerifyArguments) -> dict[str, Any]:
        """Return `{attested, tier, holds, summary, report, verification, problem}`.

        That is the trust tier, the state in a line and as text, and the result of `vibes verify
        --json`. It runs in a process of its own, again only after a file of the trail or of the
        trusted keys has changed. `show` opens the report, if the trail is attested.
        """
        directory = ls.find_project(arguments.uri).directory
        state = await ls.attestations.verify(directory)
        summary = file_and_tier(state)
        if arguments.show and summary["attested"]:
            lines = state.report(datetime.now(UTC)).splitlines()
            text = f"# Attestation\n\n{code_block(lines, 'text')}\n"
            summary["uri"] = await shown.show(ls, "attestation.md", text)
        return summary

    @server.command(CommandName.ATTEST)
    async def attest(ls: Server, arguments: AttestArguments) -> dict[str, Any]:
        """Return `{attested, path, attestationId, keyIds, validation, public}`.

        As `vibes attest --json`; `preview` signs nothing and returns what becomes public. A key
        with a passphrase needs a terminal, a keyring or `VIBES_KEY_PASSPHRASE`.
        """
        directory = ls.find_project(arguments.uri).directory
        options = [
            *(["--dry-run"] if arguments.preview else []),
            *(["--allow-failed"] if arguments.allowFailed else []),
        ]
        code, members = await run_vibes(directory, "attest", *options)
        if not arguments.preview:
            ls.attestations.last(directory)  # verified again: what is shown changes
        return {"attested": code == 0 and not arguments.preview, **members}
