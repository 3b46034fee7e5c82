"""VIBES audit trails for editors and shells: which AI wrote a line, why, and who reviewed it."""

import os

__version__ = "0.1.0"


def search_programs_in_path() -> None:
    """Have Windows not look for programs in the current folder: a repository may have a `git.exe`.

    Call it before any program is started. Elsewhere only `PATH` is searched anyway.
    """
    if os.name == "nt":
        os.environ["NODEFAULTCURRENTDIRECTORYINEXEPATH"] = "1"
