"""No accepted submission is lost when the server is killed at any moment."""

from __future__ import annotations

import signal
import threading
import time
import uuid
from typing import TYPE_CHECKING, Final

import httpx2

from services_tests.attestations import attestation
from services_tests.running_server import RunningServer, serving
from vibes_services.registry_client import SUBMIT_PATH, fetch, find

if TYPE_CHECKING:
    from services_tests.conftest import ProviderFolder

KILLS: Final = 4
CLIENTS: Final = 8


def test_every_acknowledged_submission_survives_kill_9(
    provider: ProviderFolder, database_url: str
) -> None:
    project = f"killed-{uuid.uuid4()}"
    arguments = ("registry", "serve", provider.path, "--database", database_url, "--rate", "999999")
    acknowledged: set[str] = set()
    number = 0
    for _ in range(KILLS):
        with serving(*arguments) as server:
            goal = len(acknowledged) + 40
            stop = threading.Event()
            clients = [
                threading.Thread(
                    target=_submit_until,
                    args=(stop, server, provider.register_token),
                    kwargs={
                        "project": project,
                        "start": number + at,
                        "acknowledged": acknowledged,
                    },
                )
                for at in range(CLIENTS)
            ]
            number += 1_000_000
            for client in clients:
                client.start()
            deadline = time.monotonic() + 300
            while len(acknowledged) < goal and time.monotonic() < deadline:
                stop.wait(0.01)
            server.kill()  # while requests are on their way
            stop.set()
            for client in clients:
                client.join(300)
            assert len(acknowledged) >= goal, "".join(server.log)
    with serving(*arguments) as server:
        stored = {each.attestation_id for each in find(server.url, project=project, limit=100_000)}
        assert acknowledged <= stored
        # What is stored is whole, acknowledged or not.
        for attestation_id in sorted(stored)[:50]:
            fetch(server.url, attestation_id)


def test_a_server_that_is_asked_to_stop_answers_what_it_accepted(
    provider: ProviderFolder, database_url: str
) -> None:
    project = f"stopped-{uuid.uuid4()}"
    arguments = ("registry", "serve", provider.path, "--database", database_url, "--rate", "999999")
    acknowledged: set[str] = set()
    with serving(*arguments) as server:
        stop = threading.Event()
        client = threading.Thread(
            target=_submit_until,
            args=(stop, server, provider.register_token),
            kwargs={"project": project, "start": 0, "acknowledged": acknowledged},
        )
        client.start()
        deadline = time.monotonic() + 300
        while len(acknowledged) < 10 and time.monotonic() < deadline:
            stop.wait(0.01)
        assert server.stop() in {0, -signal.SIGTERM}
        stop.set()
        client.join(300)
    with serving(*arguments) as server:
        stored = {each.attestation_id for each in find(server.url, project=project, limit=100_000)}
        assert acknowledged
        assert acknowledged <= stored


def _submit_until(
    stop: threading.Event,
    server: RunningServer,
    token: str,
    *,
    project: str,
    start: int,
    acknowledged: set[str],
) -> None:
    """Submit attestations until told to stop; note those that were acknowledged."""
    number = start
    with httpx2.Client(headers={"Authorization": f"Bearer {token}"}, timeout=300) as client:
        while not stop.is_set():
            envelope = attestation(project, number)
            number += CLIENTS
            try:
                answer = client.post(
                    server.url + SUBMIT_PATH, json={"envelope": envelope.as_json()}
                )
            except httpx2.HTTPError:
                return  # killed
            if answer.status_code == 201:
                acknowledged.add(answer.json()["attestation_id"])
