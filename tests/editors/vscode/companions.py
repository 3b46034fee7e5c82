"""Extensions of other makers, as far as a test needs them: their files as they are, put into a .vsix."""

from __future__ import annotations

import zipfile
from pathlib import Path
from typing import Final

HERE: Final = Path(__file__).parent


def packed(name: str, folder: Path) -> Path:
    """Return a .vsix of the extension whose files are beside this module.

    Args:
        name: The folder of its files.
        folder: Where to put it.
    """
    target = folder / f"{name}.vsix"
    with zipfile.ZipFile(target, "w") as archive:
        for file in sorted((HERE / name).iterdir()):
            archive.write(file, f"extension/{file.name}")
    return target
