"""`vibes demo`: creates the same sample repository everywhere."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from tests.cli.run_vibes import vibes
from tests.trails import Repository

if TYPE_CHECKING:
    from pathlib import Path


def placed(root: Path) -> dict[tuple[str, int | None], dict[str, Any]]:
    """Return the placements of each file, by path and first line."""
    found = [
        vibes("blame", path, "--json", cwd=root).json
        for path in ("src/auth.py", "src/limits.py", "src/mail.py", "web/app.ts")
    ]
    return {
        (each["filePath"], each["lineStart"]): each
        for blame in found
        for each in blame["placements"]
    }


def test_it_has_one_of_each_kind(tmp_path: Path) -> None:
    done = vibes("demo", "shop", cwd=tmp_path)
    root = tmp_path / "shop"
    assert (done.code, done.err) == (0, "")
    assert done.lines[0].startswith(f"{root}: a small shop that three AI tools wrote")
    for line in [line for line in done.lines if line.startswith("  vibes ")]:
        assert vibes(*line.split("  ")[1].split()[1:], cwd=root).code == 0, line

    found = placed(root)
    auth, approved = found["src/auth.py", 23], found["src/auth.py", 13]
    assert (auth["state"], auth["intactLines"], auth["band"], auth["review"]) == (
        "edited",
        4,
        "critical",
        None,
    )
    assert (approved["state"], approved["review"]["verdict"], approved["review"]["stale"]) == (
        "moved",
        "approved",
        False,
    )
    assert [found["src/limits.py", line]["state"] for line in (3, 7, 12)] == [
        "exact",
        "moved",
        "moved",
    ]
    assert (found["src/mail.py", 4]["state"], found["src/mail.py", 4].get("sessionId")) == (
        "exact",
        None,
    )
    assert (found["src/mail.py", None]["state"], found["src/mail.py", None]["functionName"]) == (
        "lost",
        "expired",
    )
    assert {each["assuranceLevel"] for each in found.values()} == {"low", "medium", "high"}
    assert auth["storedScore"] == pytest.approx(0.8437)
    assert auth["commitMethod"] == "recorded"
    report = vibes("check", "--base", "HEAD", "--json", cwd=root).json
    assert [(each["check"], each["severity"]) for each in report["findings"]] == [
        ("level-below-policy", "warning")
    ]
    assert report["records"]["delegation"] == report["entries"]["decision"] == 1


def test_it_is_the_same_everywhere_and_its_hook_works(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = vibes("demo", "one", "--json", cwd=tmp_path)
    config = tmp_path / "config"
    config.write_text(
        "[user]\nname = Somebody\n[commit]\ngpgSign = true\n[init]\ndefaultBranch = trunk\n[core]\nautocrlf = true\n"
    )
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(config))
    monkeypatch.setenv("TZ", "Asia/Tokyo")
    second = vibes("demo", "other", "--json", cwd=tmp_path)
    assert [first.json, second.json] == [
        {"path": str(tmp_path / "one")},
        {"path": str(tmp_path / "other")},
    ]
    one, other = Repository(tmp_path / "one"), Repository(tmp_path / "other")
    assert one.head() == other.head()
    for each in (one, other):
        assert each.git("status", "--porcelain").splitlines() == [
            " M src/auth.py",
            " M src/limits.py",
            " M src/mail.py",
        ]
    before = one.git("show", "HEAD:.ai-audit/annotations.jsonl")
    one.git("commit", "--quiet", "--all", "--message", "By hand")
    assert one.git("show", "HEAD:.ai-audit/annotations.jsonl").startswith(before)
    assert one.git("status", "--porcelain") == ""


def test_an_existing_folder_is_not_changed(tmp_path: Path) -> None:
    mine = tmp_path / "mine"
    mine.mkdir()
    (mine / "a.py").write_text("mine\n")
    done = vibes("demo", "mine", cwd=tmp_path)
    assert (done.code, done.out) == (2, "")
    assert f"{mine} is not empty" in done.err
    assert [each.name for each in mine.iterdir()] == ["a.py"]
    done = vibes("demo", "mine/a.py", cwd=tmp_path)
    assert (done.code, done.err.count("\n")) == (2, 1)
