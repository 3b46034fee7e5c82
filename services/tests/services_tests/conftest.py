"""Settings and fixtures: those of the product's tests, a provider's folder, and databases."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Final

import pytest

import tests.conftest  # noqa: F401  # an environment of its own for all tests
from services_tests.postgresql_server import postgresql
from services_tests.running_server import serving
from tests.cli.conftest import project, run_vibes, run_vibes_unchecked, valid_trail
from vibes_lsp.attestation.cosigning import COSIGN_PATH
from vibes_services.server.signing_keys import create_keys
from vibes_services.server.tokens import create_token

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

__all__ = ["project", "run_vibes", "run_vibes_unchecked", "valid_trail"]

NOW: Final = datetime(2026, 11, 22, 12, 0, tzinfo=UTC)


@dataclass(frozen=True)
class ProviderFolder:
    """A folder that `vibes cosign-server serve` can serve.

    Attributes:
        path: The folder.
        cosign_token: A token for cosigning only.
        register_token: A token for submitting only.
    """

    path: Path
    cosign_token: str
    register_token: str


@pytest.fixture
def provider(tmp_path: Path) -> ProviderFolder:
    """A folder with a key that is valid now, and two tokens."""
    folder = tmp_path / "provider"
    create_keys(folder, "Example", "example-agent", datetime.now(UTC))
    return ProviderFolder(
        folder,
        create_token(folder, "alice", ["cosign"], NOW),
        create_token(folder, "ci", ["register"], NOW),
    )


@pytest.fixture(scope="module")
def running_provider(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, str]]:
    """The URL of a signing endpoint and a token for it; tests only ask it."""
    folder = tmp_path_factory.mktemp("running") / "provider"
    create_keys(folder, "Example", "example-agent", datetime.now(UTC))
    token = create_token(folder, "alice", ["cosign"], NOW)
    with serving("cosign-server", "serve", folder, "--rate", "100000") as server:
        yield server.url + COSIGN_PATH, token


@pytest.fixture(scope="package")
def postgresql_url() -> Iterator[str]:
    """The URL of a PostgreSQL database that the tests of this package share."""
    with postgresql() as url:
        yield url


@pytest.fixture(params=["sqlite", "postgresql"])
def database_url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """The URL of a database: SQLite and PostgreSQL in turn."""
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path / 'registry.db'}"
    url: str = request.getfixturevalue("postgresql_url")
    return url
