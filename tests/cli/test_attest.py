"""`vibes attest`: checks first, shows what becomes public, and signs what is there."""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tests.cli.run_vibes import vibes
from tests.cli.terminal import terminal
from tests.cli.test_hook import payload
from tests.unit.attestation.attested_trail import envelope, private_key, public_key
from tests.unit.checks.projects import contents
from vibes_lsp.attestation.envelope import parse_envelope
from vibes_lsp.attestation.keys import PrivateKey
from vibes_lsp.ingest import hook

if TYPE_CHECKING:
    from tests.cli.run_vibes import RunVibes
    from tests.unit.checks.projects import Project


@pytest.fixture
def keys(tmp_path: Path) -> Path:
    """A folder with a key pair."""
    folder = tmp_path / "keys"
    assert vibes("keys", "generate", "--keys-dir", folder, cwd=tmp_path).code == 0
    return folder


def attestation(project: Project) -> Path:
    return project.audit / "attestation.json"


def statement(path: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(parse_envelope(path.read_bytes()).payload)
    return found


def test_a_trail_that_passes_is_signed_and_verifies(
    project: Project, keys: Path, run_vibes: RunVibes
) -> None:
    done = run_vibes("attest", "--keys-dir", keys, cwd=project.root)
    assert (done.code, done.err) == (0, "")
    assert "Signed by" in done.lines[-1]
    verified = run_vibes("verify", "--keys-dir", keys, "--json", cwd=project.root).json
    assert (verified["result"], verified["tier"]) == ("PASS", "self-attested")
    assert {each["status"] for each in verified["files"]} == {"equal"}
    assert project.report().passed


def test_every_number_of_the_statement_is_counted_from_the_files(
    project: Project, keys: Path, run_vibes: RunVibes
) -> None:
    run_vibes("attest", "--keys-dir", keys, cwd=project.root)
    predicate = statement(attestation(project))["predicate"]
    records = [
        json.loads(line)
        for line in (project.audit / "annotations.jsonl").read_bytes().split(b"\n")[:-1]
    ]
    entries = json.loads((project.audit / "manifest.json").read_bytes())["entries"]
    assert predicate["annotations"]["records"] == len(records)
    assert predicate["annotations"]["bytes"] == (project.audit / "annotations.jsonl").stat().st_size
    assert predicate["annotations"]["types"] == count(each["type"] for each in records)
    assert predicate["manifest"]["entries"] == len(entries)
    assert predicate["manifest"]["types"] == count(each["type"] for each in entries.values())
    config = json.loads((project.audit / "config.json").read_bytes())
    assert predicate["project"] == {
        "name": config["project_name"],
        "assurance_level": "high",
        "commit": project.head,
    }
    environments = [each for each in entries.values() if each["type"] == "environment"]
    assert any(each["model_name"] == "none" for each in environments)  # a person who reviewed
    for name in ("model", "tool"):
        assert predicate["stats"][f"unique_{name}s"] == len(
            {each[f"{name}_name"] for each in environments if each["model_name"] != "none"}
        )
    assert predicate["validation"]["result"] == "PASS"


def count(names: Any) -> dict[str, int]:
    found: dict[str, int] = {}
    for name in names:
        found[name] = found.get(name, 0) + 1
    return found


def test_a_trail_that_fails_is_not_signed(
    project: Project, keys: Path, run_vibes: RunVibes
) -> None:
    project.writer.line("src/auth.py", 1, 2, environment="ab" * 32)
    done = run_vibes("attest", "--keys-dir", keys, cwd=project.root)
    assert done.code == 1
    assert "Not attested: the trail has " in done.lines[-1]
    assert not attestation(project).exists()


def test_a_trail_that_fails_is_signed_as_failed_when_told(
    project: Project, keys: Path, run_vibes: RunVibes
) -> None:
    project.writer.line("src/auth.py", 1, 2, environment="ab" * 32)
    done = run_vibes("attest", "--allow-failed", "--keys-dir", keys, cwd=project.root)
    assert done.code == 0
    assert "the attestation says FAIL" in done.err
    validation = statement(attestation(project))["predicate"]["validation"]
    assert validation["result"] == "FAIL"
    assert "reference-dangling" in validation["failed_checks"]
    verified = run_vibes("verify", "--keys-dir", keys, "--json", cwd=project.root)
    assert verified.code == 1
    assert verified.json["problems"] == [
        "the trail did not pass `vibes check` when it was attested"
    ]


def test_a_preview_lists_what_becomes_public_and_writes_nothing(
    project: Project, keys: Path, run_vibes: RunVibes
) -> None:
    before = project.contents()
    done = run_vibes("attest", "--dry-run", "--keys-dir", keys, cwd=project.root)
    assert done.code == 0
    assert "Create a sign-up check for email and password." in done.out
    assert "src/auth.py" in done.out
    assert project.contents() == before
    public = run_vibes("attest", "--dry-run", "--json", cwd=project.root).json["public"]
    assert {each["type"] for each in public["texts"]} == {
        "prompt",
        "command",
        "reasoning",
        "decision",
    }
    assert public["paths"] == ["src/auth.py", "src/limits.py", "src/middleware.py"]


def test_a_preview_leaves_what_waits_where_it_is(
    project: Project, keys: Path, run_vibes: RunVibes
) -> None:
    event = payload(project.root, "UserPromptSubmit", prompt="It waits.", prompt_id="waits")
    hook.store_event(json.dumps(event).encode(), lambda: str(project.root))
    entry = {"type": "command", "command_text": "make", "created_at": "2026-02-01T10:00:00.000Z"}
    journal = project.audit / "wal" / "entries.jsonl"
    journal.parent.mkdir()
    journal.write_text(json.dumps({"ab" * 32: entry}) + "\n")
    before = contents(project.root)
    done = run_vibes("attest", "--dry-run", "--allow-failed", "--keys-dir", keys, cwd=project.root)
    assert done.code == 0, done.err
    assert "`vibes attest` records it first" in done.err
    found = run_vibes("attest", "--dry-run", "--allow-failed", "--json", cwd=project.root).json
    assert found["waiting"] == {"events": True, "entries": 1}
    assert contents(project.root) == before


def test_a_private_key_in_the_project_signs_nothing(
    project: Project, keys: Path, run_vibes: RunVibes
) -> None:
    inside = project.root / "provider.key"
    inside.write_bytes((keys / "vibescheck.key").read_bytes())
    inside.chmod(0o600)
    for option in ("--key", "--cosign-key"):
        done = run_vibes("attest", option, inside, "--keys-dir", keys, cwd=project.root)
        assert (done.code, "is in the project" in done.err) == (2, True), done.err
    inside.rename(project.root / "vibescheck.key")
    done = run_vibes("attest", "--keys-dir", project.root, cwd=project.root)
    assert (done.code, "is in the project" in done.err) == (2, True), done.err
    assert not attestation(project).exists()


def test_a_possible_secret_is_listed_without_its_value(
    project: Project, keys: Path, run_vibes: RunVibes
) -> None:
    secret = "ghp_" + "a1B2" * 9
    project.writer.command(f"curl -H 'Authorization: token {secret}'")
    done = run_vibes("attest", "--keys-dir", keys, cwd=project.root)
    assert "2 possible secrets" in done.out
    assert secret not in done.out


def test_hostile_texts_draw_nothing_on_a_terminal(
    project: Project, keys: Path, run_vibes: RunVibes
) -> None:
    project.writer.prompt("\x1b]0;owned\x07 \u202egpj.exe\nsecond line")
    done = run_vibes("attest", "--dry-run", "--keys-dir", keys, cwd=project.root)
    assert not {"\x1b", "\x07", "\u202e"} & set(done.out)


def test_a_file_that_is_no_attestation_is_never_replaced(
    project: Project, keys: Path, run_vibes: RunVibes
) -> None:
    attestation(project).write_text("notes of a person")
    done = run_vibes("attest", "--keys-dir", keys, cwd=project.root)
    assert done.code == 2
    assert "is not an attestation" in done.err
    assert attestation(project).read_text() == "notes of a person"


def test_another_person_countersigns_the_same_statement(
    project: Project, keys: Path, tmp_path: Path, run_vibes: RunVibes
) -> None:
    run_vibes("attest", "--keys-dir", keys, cwd=project.root)
    first = statement(attestation(project))
    other = tmp_path / "other"
    run_vibes("keys", "generate", "--keys-dir", other, cwd=tmp_path)
    done = run_vibes("attest", "--countersign", "--keys-dir", other, cwd=project.root)
    assert done.code == 0
    assert statement(attestation(project)) == first
    args = ("verify", "--public-key", other / "vibescheck.pub", "--keys-dir", keys, "--json")
    verdicts = [each["verdict"] for each in run_vibes(*args, cwd=project.root).json["signatures"]]
    assert verdicts == ["good", "good"]


def test_nobody_countersigns_files_that_are_no_longer_there(
    project: Project, keys: Path, run_vibes: RunVibes
) -> None:
    run_vibes("attest", "--keys-dir", keys, cwd=project.root)
    project.line()
    done = run_vibes("attest", "--countersign", "--keys-dir", keys, cwd=project.root)
    assert done.code == 2
    assert "annotations.jsonl is not as it was attested" in done.err


@pytest.mark.parametrize(
    "claim",
    [
        ("manifest", "canonical_sha256", "0" * 64),
        ("manifest", "frame_sha256", "0" * 64),
        ("manifest", "merkle", {"algorithm": "rfc9162-sha256", "root": "0" * 64, "entries": 1}),
        ("config", "canonical_sha256", "0" * 64),
        ("annotations", "records", 1_000),
        ("annotations", "newest_record", "2020-01-01T00:00:00Z"),
        ("validation", "result", "FAIL"),
        ("project", "name", "another"),
        ("project", "assurance_level", "highest"),
        ("project", "commit", "0" * 40),
        ("project", "commit", "--output=x"),
        ("stats", "total_annotations", 1_000),
        ("stats", "unique_models", 1_000),
    ],
)
def test_nobody_countersigns_a_claim_that_is_not_true(
    project: Project, keys: Path, run_vibes: RunVibes, claim: tuple[str, str, object]
) -> None:
    run_vibes("attest", "--keys-dir", keys, cwd=project.root)
    claims = statement(attestation(project))
    part, member, value = claim
    claims["predicate"][part][member] = value
    forged = envelope(claims, 3)
    attestation(project).write_bytes(forged)
    done = run_vibes("attest", "--countersign", "--keys-dir", keys, cwd=project.root)
    assert done.code == 2, done.out
    assert "sign what is there now" in done.err
    assert attestation(project).read_bytes() == forged


def test_nobody_countersigns_a_time_that_is_yet_to_come(
    project: Project, keys: Path, run_vibes: RunVibes
) -> None:
    run_vibes("attest", "--keys-dir", keys, cwd=project.root)
    claims = statement(attestation(project))
    claims["predicate"]["attested_at"] = "9999-01-01T00:00:00Z"
    attestation(project).write_bytes(envelope(claims, 3))
    done = run_vibes("attest", "--countersign", "--keys-dir", keys, cwd=project.root)
    assert (done.code, "attested_at is '9999-01-01" in done.err) == (2, True), done.err


def test_a_revoked_key_is_not_trusted_again(
    keys: Path, tmp_path: Path, run_vibes: RunVibes
) -> None:
    other = tmp_path / "other"
    run_vibes("keys", "generate", "--keys-dir", other, cwd=tmp_path)
    args = ("keys", "trust", other / "vibescheck.pub", "--keys-dir", keys)
    assert run_vibes(*args, "--name", "Ada", cwd=tmp_path).code == 0
    trusted = keys / "trusted.json"
    trusted.write_text(trusted.read_text().replace('"active"', '"revoked"'))
    revoked = trusted.read_bytes()
    for name in (("--name", "Ada"), ("--provider", "Ada", "--key-id", "another")):
        done = run_vibes(*args, *name, cwd=tmp_path)
        assert (done.code, "is known as revoked" in done.err) == (2, True), done.err
    assert trusted.read_bytes() == revoked


def test_a_key_with_a_passphrase_signs(project: Project, tmp_path: Path) -> None:
    keys, secret = tmp_path / "keys", {"VIBES_KEY_PASSPHRASE": "correct horse"}
    made = vibes("keys", "generate", "--passphrase", "--keys-dir", keys, cwd=tmp_path, **secret)
    assert made.code == 0
    assert b"ENCRYPTED" in (keys / "vibescheck.key").read_bytes()
    refused = vibes("attest", "--keys-dir", keys, cwd=project.root)
    assert (refused.code, "VIBES_KEY_PASSPHRASE" in refused.err) == (2, True)
    wrong = vibes("attest", "--keys-dir", keys, cwd=project.root, VIBES_KEY_PASSPHRASE="wrong")
    assert (wrong.code, "wrong passphrase" in wrong.err) == (2, True)
    assert vibes("attest", "--keys-dir", keys, cwd=project.root, **secret).code == 0


def test_a_missing_file_is_not_attested(project: Project, keys: Path, run_vibes: RunVibes) -> None:
    (project.audit / "config.json").unlink()
    done = run_vibes("attest", "--allow-failed", "--keys-dir", keys, cwd=project.root)
    assert (done.code, "cannot attest without config.json" in done.err) == (2, True)


def test_without_a_key_the_command_says_how_to_make_one(
    project: Project, tmp_path: Path, run_vibes: RunVibes
) -> None:
    done = run_vibes("attest", "--keys-dir", tmp_path / "none", cwd=project.root)
    assert done.code == 2
    assert "vibes keys generate" in done.err


def test_keys_go_in_and_out_as_pem_and_openssh(tmp_path: Path, run_vibes: RunVibes) -> None:
    source, keys = tmp_path / "id", tmp_path / "keys"
    source.write_bytes(PrivateKey(private_key(1)).openssh())
    source.chmod(0o600)
    done = run_vibes(
        "keys", "generate", "--from", source, "--keys-dir", keys, "--json", cwd=tmp_path
    )
    assert done.json["keyId"] == public_key(1).key_id
    assert done.json["sha256"] == hashlib.sha256(public_key(1).der).hexdigest()
    line = run_vibes("keys", "export", "--openssh", "--keys-dir", keys, cwd=tmp_path).out
    assert line.strip() == public_key(1).openssh
    out = tmp_path / "out.pub"
    args = ("keys", "export", "--output", out, "--keys-dir", keys)
    assert run_vibes(*args, cwd=tmp_path).code == 0
    assert out.read_text() == public_key(1).pem
    assert run_vibes(*args, cwd=tmp_path).code == 2  # never over an existing file


def test_trusted_keys_are_listed_with_whose_they_are(tmp_path: Path, run_vibes: RunVibes) -> None:
    keys, file = tmp_path / "keys", tmp_path / "ada.pub"
    file.write_text(public_key(1).pem)
    run_vibes("keys", "trust", file, "--name", "Ada", "--keys-dir", keys, cwd=tmp_path)
    file.write_text(public_key(2).openssh)
    args = ("--provider", "Lamp Inc.", "--key-id", "lamp-2026-01", "--keys-dir", keys)
    run_vibes("keys", "trust", file, *args, cwd=tmp_path)
    listed = run_vibes("keys", "list", "--keys-dir", keys, "--json", cwd=tmp_path).json["keys"]
    assert [(each["keyid"], each["role"], each["name"]) for each in listed] == [
        (public_key(1).key_id, "user", "Ada"),
        ("lamp-2026-01", "tool-provider", "Lamp Inc."),
    ]


def test_a_broken_list_of_keys_is_neither_used_nor_overwritten(
    tmp_path: Path, run_vibes: RunVibes
) -> None:
    keys, file = tmp_path / "keys", tmp_path / "ada.pub"
    keys.mkdir()
    (keys / "trusted.json").write_text("{")
    file.write_text(public_key(1).pem)
    done = run_vibes("keys", "trust", file, "--name", "Ada", "--keys-dir", keys, cwd=tmp_path)
    assert (done.code, "trusted.json" in done.err) == (2, True)
    assert (keys / "trusted.json").read_text() == "{"


def test_the_summary_names_the_package_that_is_missing(project: Project, tmp_path: Path) -> None:
    """As with a plain installation: only the three commands need the packages."""
    (tmp_path / "cryptography.py").write_text(
        "raise ModuleNotFoundError('no', name='cryptography')\n"
    )
    environment = {**os.environ, "PYTHONPATH": str(tmp_path)}

    def run(name: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-m", "vibes_lsp", name]
        return subprocess.run(
            command,
            cwd=project.root,
            env=environment,
            capture_output=True,
            text=True,
            check=False,
        )

    refused = run("verify")
    assert refused.returncode == 2
    assert "pip install '.[attest]'" in refused.stderr
    assert run("check").returncode == 0


KEYRING = """
import json, pathlib
from keyring.backend import KeyringBackend

STORE = pathlib.Path(__file__).with_suffix(".json")


class Keyring(KeyringBackend):
    priority = 9

    def _all(self):
        return json.loads(STORE.read_text()) if STORE.exists() else {}

    def get_password(self, service, name):
        return self._all().get(f"{service} {name}")

    def set_password(self, service, name, value):
        STORE.write_text(json.dumps({**self._all(), f"{service} {name}": value}))

    def delete_password(self, service, name):
        left = self._all()
        del left[f"{service} {name}"]
        STORE.write_text(json.dumps(left))
"""


def test_the_keyring_keeps_the_passphrase_of_a_key(project: Project, tmp_path: Path) -> None:
    (tmp_path / "file_keyring.py").write_text(KEYRING)
    keys = tmp_path / "keys"
    with_keyring = {
        **os.environ,
        "PYTHONPATH": str(tmp_path),
        "PYTHON_KEYRING_BACKEND": "file_keyring.Keyring",
    }

    def run(*arguments: str, environment: dict[str, str]) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-m", "vibes_lsp", *arguments, "--keys-dir", str(keys)],
            cwd=project.root,
            env=environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
        )

    made = run("keys", "generate", "--keyring", environment=with_keyring)
    assert (made.returncode, made.stderr) == (0, "")
    assert b"ENCRYPTED" in (keys / "vibescheck.key").read_bytes()
    (passphrase,) = json.loads((tmp_path / "file_keyring.json").read_text()).values()
    assert passphrase not in made.stdout
    assert run("attest", environment=with_keyring).returncode == 0
    nowhere = {**os.environ, "PYTHON_KEYRING_BACKEND": "keyring.backends.null.Keyring"}
    refused = run("attest", environment=nowhere)
    assert (refused.returncode, "VIBES_KEY_PASSPHRASE" in refused.stderr) == (2, True)
    with_passphrase = {**with_keyring, "VIBES_KEY_PASSPHRASE": "correct horse"}
    replaced = run("keys", "generate", "--passphrase", "--replace", environment=with_passphrase)
    assert (replaced.returncode, replaced.stderr) == (0, "")
    refused = run("attest", environment=with_keyring)
    assert "there is no terminal to ask for the passphrase" in refused.stderr, "not: it is wrong"


def test_an_encrypted_key_that_is_taken_over_stays_encrypted(tmp_path: Path) -> None:
    source, keys = tmp_path / "id", tmp_path / "keys"
    source.write_bytes(PrivateKey(private_key(1)).openssh("correct horse"))
    source.chmod(0o600)
    done = vibes(
        *("keys", "generate", "--from", source, "--keys-dir", keys),
        cwd=tmp_path,
        VIBES_KEY_PASSPHRASE="correct horse",
    )
    assert done.code == 0, done.err
    assert b"ENCRYPTED" in (keys / "vibescheck.key").read_bytes()


@pytest.mark.skipif(sys.platform == "win32", reason="pseudo-terminals of POSIX")
def test_a_terminal_asks_for_the_passphrase_and_shows_nothing_of_it(
    project: Project, tmp_path: Path
) -> None:
    keys = ("--keys-dir", tmp_path / "keys")
    with terminal("keys", "generate", "--passphrase", *keys, cwd=project.root) as shown:
        shown.wait_for("Passphrase: ")
        shown.press("correct horse\n")
        shown.wait_for("Repeat for confirmation: ")
        shown.press("correct horse\n")
        assert shown.wait_for_exit() == 0
        assert "correct" not in shown.whole
    with terminal("attest", *keys, cwd=project.root) as shown:
        shown.wait_for("vibescheck.key: ")
        shown.press("correct horse\n")
        assert shown.wait_for_exit() == 0
        assert "correct" not in shown.whole
    assert attestation(project).exists()
