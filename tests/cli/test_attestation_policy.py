"""`vibes verify --policy`: who must have signed, how long ago, which tier; and from which revision."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from vibes_lsp.attestation.keys import generate_private_key

if TYPE_CHECKING:
    from pathlib import Path

    from tests.cli.attested_project import AttestedProject


def _requirements(project: AttestedProject, policy: Path, code: int, *more: str) -> dict[str, Any]:
    done = project.run("verify", "--policy", policy, "--json", *more, code=code)
    return {
        each["rule"]: (each["result"], each["reason"])
        for each in done.json["policy"]["requirements"]
    }


def test_a_policy_that_is_fulfilled(own: AttestedProject, tmp_path: Path) -> None:
    file = own.policy(tmp_path, 'tier = "self-attested"\nmax-age-days = 30\nproject = "shop"')
    found = _requirements(own, file, 0)
    assert {rule: result for rule, (result, _) in found.items()} == dict.fromkeys(
        ("integrity", "required", "signatures", "tier", "max-age-days", "growth", "project"),
        "PASS",
    )
    assert "Policy: PASS" in own.run("verify", "--policy", file).lines


def test_only_the_keys_of_the_policy_count(own: AttestedProject, tmp_path: Path) -> None:
    other = tmp_path / "other"
    own.run("keys", "generate", "--keys-dir", other)
    file = tmp_path / "policy.toml"
    key = (other / "vibescheck.pub").read_text()
    file.write_text(f'[[signer]]\nname = "Bo"\nrequired = true\npublic-key = """\n{key}"""\n')
    found = _requirements(own, file, 1)
    assert found["required"] == ("FAIL", "Bo did not sign it")
    assert found["tier"] == ("FAIL", "the tier is none, expected self-attested or higher")
    own.run("attest", "--countersign", "--key", other / "vibescheck.key")
    assert _requirements(own, file, 0)["required"] == ("PASS", "Bo signed it")


def test_growth_is_refused_unless_allowed(own: AttestedProject, tmp_path: Path) -> None:
    own.append_record()
    found = _requirements(own, own.policy(tmp_path), 1)
    assert found["growth"][0] == "FAIL"
    assert "1 added since" in found["growth"][1]
    assert found["integrity"][0] == "PASS"
    assert "growth" not in _requirements(own, own.policy(tmp_path, 'growth = "allowed"'), 0)


def test_growth_of_a_file_that_is_not_there_is_unknown(
    own: AttestedProject, tmp_path: Path
) -> None:
    (own.root / ".gitignore").write_text(".ai-audit/manifest.json\n")
    own.repository.git("rm", "--cached", "--quiet", ".ai-audit/manifest.json")
    (own.audit / "manifest.json").unlink()
    found = _requirements(own, own.policy(tmp_path), 3)
    assert found["growth"] == (
        "UNKNOWN",
        ".ai-audit/manifest.json: it is not published: git ignores it",
    )
    own.append_record()
    found = _requirements(own, own.policy(tmp_path), 1)
    assert found["growth"][0] == "FAIL"
    assert "1 added since" in found["growth"][1]


def test_a_changed_file_fails_whatever_the_policy_allows(
    own: AttestedProject, tmp_path: Path
) -> None:
    log = own.audit / "annotations.jsonl"
    log.write_bytes(log.read_bytes().replace(b'"create"', b'"modify"', 1))
    found = _requirements(own, own.policy(tmp_path, 'growth = "allowed"'), 1)
    assert found["integrity"][0] == "FAIL"
    assert "annotations.jsonl" in found["integrity"][1]


def test_a_change_cannot_weaken_its_own_policy(own: AttestedProject) -> None:
    policy = own.policy(own.root, 'tier = "tool-corroborated"')
    own.repository.git("add", policy.name)
    base = own.repository.commit("Require cosigning")
    own.policy(own.root, 'tier = "self-attested"')
    own.repository.git("add", policy.name)
    own.repository.commit("Weaken")
    assert _requirements(own, policy, 0)["tier"][0] == "PASS"
    assert _requirements(own, policy, 1, "--base", base)["tier"][0] == "FAIL"


def test_a_change_cannot_bring_its_own_policy(own: AttestedProject, tmp_path: Path) -> None:
    policy = own.policy(own.root)
    done = own.run("verify", "--policy", policy, "--base", "HEAD", code=2)
    assert "there is no policy attestation-policy.toml at HEAD" in done.err
    outside = own.policy(tmp_path)
    done = own.run("verify", "--policy", outside, "--base", "HEAD", code=2)
    assert "is outside the repository" in done.err


def test_a_policy_names_a_provider_by_the_id_that_it_publishes(
    own: AttestedProject, tmp_path: Path
) -> None:
    provider = generate_private_key()
    secret = tmp_path / "provider.key"
    secret.write_bytes(provider.pem())
    secret.chmod(0o600)
    own.run("attest", "--cosign-key", secret, "--cosign-keyid", "example-2026-01")
    head = 'tier = "tool-corroborated"'
    signer = f"""required = true
[[signer]]
name = "Example"
role = "tool-provider"
required = true
public-key = '''
{provider.public.pem}'''
"""
    without = _requirements(own, own.policy(tmp_path, head, signer), 1)
    assert without["required"][0] == without["tier"][0] == "FAIL"
    named = own.policy(tmp_path, head, f'{signer}key-id = "example-2026-01"')
    assert {result for result, _ in _requirements(own, named, 0).values()} == {"PASS"}
    for wrong in ("", "\\u001b[2J", "x" * 201):
        broken = own.policy(tmp_path, head, f'{signer}key-id = "{wrong}"')
        assert "signer[1].key-id' is" in own.run("verify", "--policy", broken, code=2).err


def test_a_policy_that_is_broken_stops_with_its_reason(
    own: AttestedProject, tmp_path: Path
) -> None:
    done = own.run("verify", "--policy", own.policy(tmp_path, 'teir = "none"'), code=2)
    assert "unknown member 'teir'" in done.err
