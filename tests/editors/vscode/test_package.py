"""What the extension's package contains."""

from __future__ import annotations

import zipfile
from pathlib import Path
from typing import Final

_LIMIT: Final = 1_000_000


def test_the_package_without_the_server_is_under_a_megabyte(extensions: list[Path]) -> None:
    with zipfile.ZipFile(extensions[0]) as package:
        sizes = {each.filename: each.file_size for each in package.infolist()}
    own = {name: size for name, size in sizes.items() if "/dist/wheels/" not in name}
    assert own["extension/dist/extension.js"] > 0
    assert sum(own.values()) < _LIMIT, f"unpacked, in bytes: {own}"
