"""The wheel has all of the package and works alone, as the release checklist tries it; the source archive builds that very wheel."""

from __future__ import annotations

import os
import re
import subprocess
import sysconfig
import tarfile
import zipfile
from pathlib import Path

import pytest

from tests.packaging.building import BIN, build, lend_dependencies
from tests.requirements import REPOSITORY
from vibes_lsp import __version__


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("released")
    build(folder / "dist")
    return folder


def wheel_of(folder: Path) -> Path:
    return folder / f"dist/vibes_lsp-{__version__}-py3-none-any.whl"


def test_the_wheel_has_the_package_its_licence_and_nothing_else(built: Path) -> None:
    names = set(zipfile.ZipFile(wheel_of(built)).namelist())
    package = {
        file
        for file in (REPOSITORY / "vibes_lsp").rglob("*")
        if file.is_file() and "__pycache__" not in file.parts
    }
    about = f"vibes_lsp-{__version__}.dist-info"
    expected = {file.relative_to(REPOSITORY).as_posix() for file in package}
    assert "vibes_lsp/py.typed" in expected
    assert names - expected == {
        f"{about}/{name}"
        for name in ("METADATA", "WHEEL", "RECORD", "entry_points.txt", "licenses/LICENSE")
    }
    assert expected <= names
    page = zipfile.ZipFile(wheel_of(built)).read(f"{about}/METADATA").decode()
    assert "which AI wrote a line" in page.partition("\n\n")[2]


def test_the_source_archive_is_whole_and_builds_the_same_wheel(built: Path, tmp_path: Path) -> None:
    with tarfile.open(built / f"dist/vibes_lsp-{__version__}.tar.gz") as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
        archive.extraction_filter = getattr(
            tarfile, "data_filter", None
        )  # Python 3.11 has it from 3.11.4 on
        archive.extractall(tmp_path)
    whole = {
        "LICENSE",
        "README.md",
        "CHANGELOG.md",
        "Makefile",
        "constraints.txt",
        "CONTRIBUTING.md",
        "tests/conftest.py",
    }
    assert whole | {"editors/neovim/plugin/vibes.lua", "editors/vscode/package.json"} <= names
    assert not [
        name
        for name in names
        if re.search(r"node_modules|\.tools/|(^|/)dist/|__pycache__|\.vsix$", name)
    ]
    again, _ = build(tmp_path / "again", tmp_path / f"vibes_lsp-{__version__}")
    assert again.read_bytes() == wheel_of(built).read_bytes()


@pytest.mark.skipif(os.name == "nt", reason="the checklist is in shell")
def test_the_checklist_tries_the_wheel(built: Path) -> None:
    (steps,) = re.findall(
        r"^```sh\n(.*?)^```$",
        (REPOSITORY / "CONTRIBUTING.md").read_text(encoding="utf-8"),
        re.MULTILINE | re.DOTALL,
    )
    make, rest = steps.split("\n", 1)
    environment = {
        **os.environ,
        "PATH": f"{sysconfig.get_path('scripts')}{os.pathsep}{os.environ['PATH']}",
        "PIP_NO_DEPS": "1",
        "PIP_NO_INDEX": "1",
    }
    environment.pop("PYTHONPATH", None)
    subprocess.run(
        ["sh", "-euc", make], cwd=built, env=environment, check=True, capture_output=True
    )
    lend_dependencies(built / "build/release")
    done = subprocess.run(
        ["sh", "-euc", rest],
        cwd=built,
        env=environment,
        capture_output=True,
        text=True,
        encoding="utf-8",
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert "def valid_email" in done.stdout
    assert f"vibes-lsp {__version__}" in done.stdout
    where = "import sys, vibes_lsp; print(vibes_lsp.__file__)"
    found = subprocess.run(
        [built / "build/release" / BIN / "python", "-c", where],
        cwd=built,
        capture_output=True,
        text=True,
        check=True,
    )
    assert Path(found.stdout.strip()).is_relative_to(built), "it is the repository's"


def test_every_target_that_the_documentation_names_is_one() -> None:
    targets = set(
        re.findall(
            r"^([a-z-]+):", (REPOSITORY / "Makefile").read_text(encoding="utf-8"), re.MULTILINE
        )
    )
    pages = [REPOSITORY / "README.md", *(REPOSITORY / "docs").rglob("*.md")]
    named = {
        (page.name, target)
        for page in pages
        for words in re.findall(
            r"(?:`|^|\$ )make ([a-z -]+)(?:`|$)", page.read_text(encoding="utf-8"), re.MULTILINE
        )
        for target in words.split()
    }
    assert len(named) > 5
    assert {target for _, target in named} <= targets, named
