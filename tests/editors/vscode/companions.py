"""Packages the fake third-party extensions beside this module."""

from __future__ import annotations

import zipfile
from pathlib import Path
from typing import Final

HERE: Final = Path(__file__).parent


def packed(name: str, folder: Path) -> Path:
    """Return the .vsix of one of the extensions.

    Args:
        name: Folder of its files.
        folder: Target folder.
    """
    target = folder / f"{name}.vsix"
    with zipfile.ZipFile(target, "w") as archive:
        for file in sorted((HERE / name).iterdir()):
            archive.write(file, f"extension/{file.name}")
    return target
