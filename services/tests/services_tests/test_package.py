"""The wheel has all of the package and adds its commands to a `vibes` that is installed elsewhere."""

from __future__ import annotations

import os
import subprocess
import tomllib
import venv
import zipfile
from pathlib import Path

import vibes_lsp
import vibes_services
from tests.packaging.building import BIN, build, lend_dependencies
from tests.requirements import REPOSITORY

SERVICES = REPOSITORY / "services"


def test_the_version_is_that_of_the_product_which_it_needs() -> None:
    project = tomllib.loads((SERVICES / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert vibes_services.__version__ == vibes_lsp.__version__
    assert f"vibes-lsp[attest]=={vibes_lsp.__version__}" in project["dependencies"]


def test_the_wheel_is_whole_and_adds_its_commands(tmp_path: Path) -> None:
    product, _ = build(tmp_path / "product")
    wheel, archive = build(tmp_path / "services", SERVICES)
    assert archive.exists()
    names = set(zipfile.ZipFile(wheel).namelist())
    package = {
        file.relative_to(SERVICES).as_posix()
        for file in (SERVICES / "vibes_services").rglob("*")
        if file.is_file() and "__pycache__" not in file.parts
    }
    about = f"vibes_lsp_services-{vibes_services.__version__}.dist-info"
    assert "vibes_services/py.typed" in package
    assert names == package | {
        f"{about}/{name}"
        for name in ("METADATA", "WHEEL", "RECORD", "entry_points.txt", "licenses/LICENSE")
    }

    environment = tmp_path / "environment"
    venv.create(environment, with_pip=True)
    python = environment / BIN / "python"
    install = [str(python), "-m", "pip", "install", "--quiet", "--no-deps", "--no-index"]
    clean = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    subprocess.run([*install, str(product), str(wheel)], env=clean, check=True)
    lend_dependencies(environment)
    vibes = environment / BIN / "vibes"
    for name in ("cosign-server", "registry", "timestamp"):
        done = subprocess.run(
            [vibes, name, "--help"], cwd=tmp_path, env=clean, capture_output=True, check=False
        )
        assert (done.returncode, done.stderr) == (0, b"")
        assert done.stdout.startswith(f"Usage: vibes {name} ".encode())
    where = subprocess.run(
        [python, "-c", "import vibes_services; print(vibes_services.__file__)"],
        cwd=tmp_path,
        env=clean,
        capture_output=True,
        text=True,
        check=True,
    )
    assert Path(where.stdout.strip()).is_relative_to(environment)
