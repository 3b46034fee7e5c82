"""Where the server listens: this machine, TLS, or behind a proxy, and nowhere else."""

from __future__ import annotations

import subprocess
from typing import TYPE_CHECKING

import pytest

from services_tests.attestations import attestation
from services_tests.running_server import VIBES, serving
from tests.unit.attestation.test_http_client import self_signed
from vibes_lsp.attestation.cosigning import COSIGN_PATH, request_cosignature
from vibes_lsp.errors import ServiceFailure, VibesError

if TYPE_CHECKING:
    from pathlib import Path

    from services_tests.conftest import ProviderFolder


@pytest.mark.parametrize("host", ["0.0.0.0", "192.0.2.1", "::", "example.org"])
def test_no_other_address_is_served_without_tls(provider: ProviderFolder, host: str) -> None:
    for command in ("cosign-server", "registry"):
        done = subprocess.run(
            [VIBES, command, "serve", provider.path, "--host", host],
            capture_output=True,
            text=True,
            check=False,
            timeout=300,
        )
        assert done.returncode == 2
        assert f"{host} is not this machine, and there is no TLS certificate" in done.stderr


def test_tls_is_served_and_plain_requests_to_it_fail(
    provider: ProviderFolder, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    certificate, _ = self_signed(tmp_path)
    with serving(
        "cosign-server",
        "serve",
        provider.path,
        "--certificate",
        certificate,
        "--private-key",
        tmp_path / "key.pem",
    ) as server:
        assert server.url.startswith("https://")
        url, envelope = server.url + COSIGN_PATH, attestation()
        with pytest.raises(ServiceFailure, match=r"(?i)certificate"):
            request_cosignature(url, envelope, provider.cosign_token)
        monkeypatch.setenv("SSL_CERT_FILE", str(certificate))
        assert request_cosignature(url, envelope, provider.cosign_token).key_id
        with pytest.raises(ServiceFailure, match="cannot be asked"):
            request_cosignature(url.replace("https:", "http:"), envelope, provider.cosign_token)


def test_a_folder_that_is_not_set_up_is_not_served(tmp_path: Path) -> None:
    from vibes_services.server.app import ServerSettings, create_app

    with pytest.raises(VibesError, match=r"tokens\.json does not exist"):
        create_app(ServerSettings(tmp_path, cosigning=True))
