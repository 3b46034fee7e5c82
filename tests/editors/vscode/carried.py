"""What our extension carries in tests: a release of the server that has nothing to install with it, and pip."""

from __future__ import annotations

import ensurepip
import shutil
import sysconfig
import zipfile
from pathlib import Path
from typing import Final

RELEASED: Final = "RELEASED_SERVER"
"""The environment variable that names what the carried server runs in its place."""


def carry_server(extension: Path, server: Path) -> None:
    """Put wheels into the sources of the extension.

    Args:
        extension: Their folder.
        server: What the carried server runs when no variable names another.
    """
    wheels = extension / "dist/wheels"
    wheels.mkdir(parents=True)
    kept = sysconfig.get_config_var("WHEEL_PKG_DIR")  # of distributions that share their wheels
    folder = Path(kept) if kept else Path(ensurepip.__file__).parent / "_bundled"
    (pip,) = folder.glob("pip-*.whl")
    shutil.copy(pip, wheels)
    name, record = "vibes_lsp-0.1.0", "vibes_lsp-0.1.0.dist-info"
    run = f"program = os.environ.get({RELEASED!r}, {str(server)!r})"
    files = {
        "vibes_lsp_release.py": f"import os, sys\n\ndef main():\n    {run}\n    os.execv(program, [program, *sys.argv[1:]])\n",
        f"{record}/METADATA": "Metadata-Version: 2.1\nName: vibes-lsp\nVersion: 0.1.0\n",
        f"{record}/WHEEL": "Wheel-Version: 1.0\nGenerator: tests\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
        f"{record}/entry_points.txt": "[console_scripts]\nvibes-lsp = vibes_lsp_release:main\n",
    }
    with zipfile.ZipFile(wheels / f"{name}-py3-none-any.whl", "w") as archive:
        for path, content in files.items():
            archive.writestr(path, content)
        archive.writestr(
            f"{record}/RECORD", "".join(f"{path},,\n" for path in [*files, f"{record}/RECORD"])
        )
