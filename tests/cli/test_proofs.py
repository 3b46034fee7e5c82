"""`vibes attest --disclose` and `--tag`: what a stranger can check with the file or the tag alone."""

from __future__ import annotations

import json
import subprocess
from typing import TYPE_CHECKING

import pytest

from tests.cli.attested_project import AttestedProject
from tests.requirements import require
from tests.trails import TrailWriter

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def elsewhere(tmp_path: Path) -> Path:
    """A folder without a trail."""
    folder = tmp_path / "elsewhere"
    folder.mkdir()
    return folder


def _disclosure(project: AttestedProject, folder: Path) -> Path:
    file = folder / "entry.json"
    file.write_text(project.run("attest", "--disclose", project.entry("prompt")[0][:12]).out)
    return file


def test_an_entry_is_proven_without_the_trail(attested: AttestedProject, elsewhere: Path) -> None:
    file = _disclosure(attested, elsewhere)
    key, entry = attested.entry("prompt")
    (elsewhere / "ada.pub").write_text(attested.public_key)
    done = attested.run(
        "verify", "--disclosure", file, "--public-key", "ada.pub", "--json", cwd=elsewhere
    )
    assert done.json["result"] == "PASS"
    assert (done.json["contextHash"], done.json["entry"]) == (key, entry)
    assert (done.json["included"], done.json["hashVariants"]) == (True, ["spec"])
    [signature] = done.json["signatures"]
    assert signature["verdict"] == "good"


def test_the_text_says_what_is_proven(attested: AttestedProject, elsewhere: Path) -> None:
    done = attested.run("verify", "--disclosure", _disclosure(attested, elsewhere), cwd=elsewhere)
    assert "  key        the hash of the entry" in done.lines
    assert any("one of the 17 that the root covers" in line for line in done.lines)
    assert done.lines[-1] == "Result: PASS"


def test_without_the_key_it_is_not_checked(
    attested: AttestedProject, elsewhere: Path, tmp_path: Path
) -> None:
    file = _disclosure(attested, elsewhere)
    stranger = AttestedProject(attested.root, tmp_path / "stranger")
    stranger.home.mkdir()
    done = stranger.run("verify", "--disclosure", file, "--json", code=3, cwd=elsewhere)
    assert (done.json["result"], done.json["included"]) == ("UNKNOWN", True)


def test_a_changed_entry_is_not_proven(attested: AttestedProject, elsewhere: Path) -> None:
    file = _disclosure(attested, elsewhere)
    content = json.loads(file.read_bytes())
    content["entry"]["prompt_text"] += "!"
    file.write_text(json.dumps(content))
    done = attested.run("verify", "--disclosure", file, code=1, cwd=elsewhere)
    assert any("it does not lead to the root" in line for line in done.lines)


def test_the_attestation_of_another_trail_proves_nothing(
    attested: AttestedProject, own: AttestedProject, elsewhere: Path
) -> None:
    manifest = json.loads((own.audit / "manifest.json").read_bytes())
    key, _ = own.entry("reasoning")
    manifest["entries"][key]["created_at"] = "2026-02-01T00:00:00.000Z"
    (own.audit / "manifest.json").write_text(json.dumps(manifest))
    own.run("attest")
    content = json.loads(_disclosure(attested, elsewhere).read_bytes())
    content["envelope"] = json.loads((own.audit / "attestation.json").read_bytes())
    file = elsewhere / "replayed.json"
    file.write_text(json.dumps(content))
    done = own.run("verify", "--disclosure", file, "--json", code=1, cwd=elsewhere)
    assert (done.json["result"], done.json["included"]) == ("FAIL", False)


def test_an_entry_is_disclosed_after_the_manifest_has_grown(
    own: AttestedProject, elsewhere: Path
) -> None:
    manifest = json.loads((own.audit / "manifest.json").read_bytes())
    added = "ab" * 32
    manifest["entries"][added] = {
        "type": "prompt",
        "prompt_text": "Later.",
        "created_at": "2026-03-01T00:00:00.000Z",
    }
    (own.audit / "manifest.json").write_text(json.dumps(manifest, indent=1))
    own.run("verify", "--disclosure", _disclosure(own, elsewhere))
    done = own.run("attest", "--disclose", added, code=2)
    assert "is not covered: it is newer than the signed root" in done.err


def test_a_trail_without_attestation_discloses_with_a_root_to_compare(
    own: AttestedProject, elsewhere: Path
) -> None:
    (own.audit / "attestation.json").unlink()
    done = own.run("attest", "--disclose", own.entry("prompt")[0])
    root = done.err.strip().rsplit(" ", 1)[1]
    file = elsewhere / "entry.json"
    file.write_text(done.out)
    own.run("verify", "--disclosure", file, code=3)
    own.run("verify", "--disclosure", file, "--root", root)
    own.run("verify", "--disclosure", file, "--root", "0" * 64, code=1)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["attest", "--disclose", "ffff"], "no record, context entry or session"),
        (["verify", "--disclosure", "absent.json"], "absent.json does not exist"),
        (["verify", "--disclosure", ".ai-audit/config.json"], "not a disclosure"),
        (["verify", "--disclosure", "x", "--tag", "y"], "--disclosure and --tag exclude"),
        (["verify", "--root", "00"], "--root is only for use with --disclosure"),
        (["verify", "--base", "HEAD"], "--base is only for use with --policy"),
        (["verify", "--tag", "absent"], "there is no annotated tag 'absent'"),
    ],
)
def test_wrong_use_is_explained(
    attested: AttestedProject, arguments: list[str], message: str
) -> None:
    assert message in attested.run(*arguments, code=2).err


@pytest.fixture
def allowed_signers(own: AttestedProject) -> Path:
    """Git signs with an SSH key of the project's user; returns the file of allowed signers."""
    require("ssh-keygen", "git signs with it")
    key = own.home / "id_ed25519"
    subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", key], check=True)
    (own.home / ".gitconfig").write_text(
        "[user]\n\tname = Ada\n\temail = ada@example.org\n"
        f"\tsigningkey = {key}.pub\n[gpg]\n\tformat = ssh\n"
    )
    allowed = own.home / "allowed"
    allowed.write_text(f"ada@example.org {key.with_suffix('.pub').read_text()}")
    return allowed


def test_a_signed_tag_has_the_root_of_its_commit(
    own: AttestedProject, allowed_signers: Path
) -> None:
    made = own.run("attest", "--tag", "audit-1", "--json").json
    check = ("verify", "--tag", "audit-1", "--json", "--allowed-signers", allowed_signers)
    found = own.run(*check).json
    assert (found["verdict"], found["ofCommit"], found["added"]) == ("good", True, 0)
    assert (found["root"], found["entries"]) == (made["root"], 17)
    assert own.run("verify", "--tag", "audit-1", code=3).lines[1].split()[1:4] == [
        "could",
        "not",
        "check:",
    ]


def test_a_tag_finds_a_changed_entry_and_a_wrong_root(
    own: AttestedProject, allowed_signers: Path
) -> None:
    own.run("attest", "--tag", "audit-1")
    manifest = own.audit / "manifest.json"
    manifest.write_bytes(manifest.read_bytes().replace(b"Store passwords", b"Keep passwords"))
    check = ("verify", "--tag", "audit-1", "--allowed-signers", allowed_signers)
    assert "not all are there as they were" in own.run(*check, code=1).out
    own.repository.git("checkout", "--quiet", "--", ".ai-audit")
    own.run(*check)
    message = own.repository.git("for-each-ref", "--format=%(contents:body)", "refs/tags/audit-1")
    root = message.split("rfc9162-sha256:")[1][:64]
    _sign_another_root(own, message.replace(root, "0" * 64))
    other = own.run(*("forged" if each == "audit-1" else each for each in check), code=1)
    assert "not that of it" in other.out


def _sign_another_root(project: AttestedProject, message: str) -> None:
    """Sign a tag of the same commit with another root, with the same key."""
    body = message.split("-----BEGIN", maxsplit=1)[0]
    settings = f"include.path={project.home / '.gitconfig'}"
    text = f"Audit trail\n\n{body}"
    subprocess.run(
        ["git", "-c", settings, "tag", "--sign", "--message", text, "forged"],
        cwd=project.root,
        check=True,
    )


def test_an_entry_of_a_trail_that_failed_its_check_is_not_passed(
    own: AttestedProject, elsewhere: Path
) -> None:
    dangling = TrailWriter(own.root).line("src/gone.py", 1, 2, environment="ab" * 32)
    assert dangling
    own.run("attest", "--allow-failed")
    file = _disclosure(own, elsewhere)
    found = own.run("verify", "--disclosure", file, "--json", cwd=elsewhere, code=1).json
    assert (found["result"], found["included"]) == ("FAIL", True)
    assert found["problems"] == ["the trail did not pass `vibes check` when it was attested"]
    text = own.run("verify", "--disclosure", file, cwd=elsewhere, code=1).out
    assert "problem    the trail did not pass `vibes check`" in text
