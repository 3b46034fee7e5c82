"""Fills dist/wheels with the server, all that it needs and pip, so that *Install* needs no index.

    python editors/vscode/wheelhouse.py [TARGET]

TARGET is a platform that `vsce package --target` names, by default this machine's. It is printed
when all is there. `universal` has no wheels: a package without a platform carries no server.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import sysconfig
import zipfile
from collections.abc import Iterator, Mapping
from email.parser import HeaderParser
from pathlib import Path
from typing import Final, NamedTuple

from packaging.requirements import Requirement
from packaging.utils import NormalizedName, canonicalize_name, parse_wheel_filename

ROOT: Final = Path(__file__).resolve().parents[2]
WHEELS: Final = Path(__file__).parent / "dist" / "wheels"
PYTHONS: Final = ("3.11", "3.12", "3.13", "3.14")


class Target(NamedTuple):
    """A platform.

    Attributes:
        tags: The platform tags of its wheels.
        markers: The environment markers in which it differs from the machine that builds.
        extra: The extra whose packages are carried, too; empty where they have no wheels.
    """

    tags: tuple[str, ...]
    markers: Mapping[str, str]
    extra: str = "attest"  # what editors offer of the extras


def _linux(machine: str) -> Target:
    versions = ("2014", "_2_17", "_2_27", "_2_28")
    tags = (*(f"manylinux{version}_{machine}" for version in versions),)
    return Target(tags, _markers("linux", "Linux", "posix", machine))


def _darwin(machine: str) -> Target:
    return Target((f"macosx_12_0_{machine}",), _markers("darwin", "Darwin", "posix", machine))


def _windows(tag: str, machine: str) -> Target:
    return Target((tag,), _markers("win32", "Windows", "nt", machine))


def _markers(platform: str, system: str, os_name: str, machine: str) -> Mapping[str, str]:
    return {
        "sys_platform": platform,
        "platform_system": system,
        "os_name": os_name,
        "platform_machine": machine,
        "implementation_name": "cpython",
        "platform_python_implementation": "CPython",
    }


TARGETS: Final[Mapping[str, Target]] = {
    "linux-x64": _linux("x86_64"),
    "linux-arm64": _linux("aarch64"),
    "alpine-x64": Target(
        ("musllinux_1_1_x86_64", "musllinux_1_2_x86_64"),
        _markers("linux", "Linux", "posix", "x86_64"),
    ),
    "darwin-x64": _darwin("x86_64")._replace(extra=""),
    "darwin-arm64": _darwin("arm64"),
    "win32-x64": _windows("win_amd64", "AMD64"),
    "win32-arm64": _windows("win_arm64", "ARM64")._replace(extra=""),
}


def main() -> None:
    """Fill the folder for the target that the command line names."""
    name = sys.argv[1] if len(sys.argv) > 1 else this_machine()
    shutil.rmtree(WHEELS, ignore_errors=True)
    if name == "universal":
        return
    if name not in TARGETS:
        sys.exit(f"unknown target {name!r}: expected universal or one of {', '.join(TARGETS)}")
    fill(TARGETS[name])
    print(name)


def this_machine() -> str:
    """Return the target of this machine."""
    platform = sysconfig.get_platform()
    if platform.startswith("linux"):
        system = (
            "alpine" if "musl" in (sysconfig.get_config_var("HOST_GNU_TYPE") or "") else "linux"
        )
    else:
        system = "win32" if platform.startswith("win") else "darwin"
    machine = "arm64" if re.search(r"arm64|aarch64", platform) else "x64"
    return f"{system}-{machine}"


def fill(target: Target) -> None:
    """Download the wheels of a target, for each version of Python."""
    WHEELS.mkdir(parents=True)
    _run("hatchling", "build", "-t", "wheel", "-d", str(WHEELS))
    (server,) = WHEELS.glob("vibes_lsp-*.whl")
    _run("pip", "download", *_OPTIONS, "--no-deps", "pip")
    for version in PYTHONS:
        _download(target, version, f"{server}[{target.extra}]" if target.extra else str(server))
        while missing := set(_missing(target, version)):  # pip reads markers for this machine
            _download(target, version, "--no-deps", *sorted(missing))


_OPTIONS: Final = (
    *("--disable-pip-version-check", "--quiet", "--only-binary", ":all:"),
    *("--constraint", str(ROOT / "constraints.txt"), "--dest", str(WHEELS)),
)


def _download(target: Target, version: str, *what: str) -> None:
    tags = [part for tag in target.tags for part in ("--platform", tag)]
    python = ("--implementation", "cp", "--python-version", version)
    _run("pip", "download", *_OPTIONS, *python, *tags, *what)


def _missing(target: Target, version: str) -> Iterator[str]:
    """Yield the requirements of the server, and theirs, that have no wheel for a Python version."""
    tag = f"cp{version.replace('.', '')}"
    environment = {
        **target.markers,
        "python_version": version,
        "python_full_version": f"{version}.0",
    }
    wheels = {}
    for wheel in WHEELS.glob("*.whl"):
        name, _, _, tags = parse_wheel_filename(wheel.name)
        if any(each.interpreter in {tag, "py3"} or each.abi == "abi3" for each in tags):
            wheels[name] = wheel
    pending: list[tuple[NormalizedName, str]] = [(canonicalize_name("vibes-lsp"), target.extra)]
    seen: set[tuple[NormalizedName, str]] = set()
    while pending:
        name, extra = pending.pop()
        seen.add((name, extra))
        for text in _requirements(wheels[name]):
            requirement = Requirement(text)
            marker, needed = requirement.marker, canonicalize_name(requirement.name)
            if marker is not None and not marker.evaluate({**environment, "extra": extra}):
                continue
            if needed not in wheels:
                yield f"{requirement.name}{requirement.specifier}"
                continue
            found = {(needed, each) for each in ("", *requirement.extras)}
            pending.extend(found - seen)


def _requirements(wheel: Path) -> list[str]:
    with zipfile.ZipFile(wheel) as archive:
        (file,) = (name for name in archive.namelist() if name.endswith(".dist-info/METADATA"))
        metadata = HeaderParser().parsestr(archive.read(file).decode())
    return [str(each) for each in metadata.get_all("Requires-Dist", [])]


def _run(*module: str) -> None:
    subprocess.run([sys.executable, "-m", *module], cwd=ROOT, check=True, stdout=subprocess.DEVNULL)


if __name__ == "__main__":
    main()
