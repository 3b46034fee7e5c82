"""Names of those who act: `VOUCH_AGENT`, a user of the system, a reviewer at an editor.

The review gate compares them, and people read them in the audit log, so that a name must not pass
for another one.
"""

from __future__ import annotations

import getpass
import os
import unicodedata
from typing import Final

from vibes_lsp.errors import InvalidObject
from vibes_lsp.model.escaping import INVISIBLE

_MAX_NAME: Final = 100
_ALIKE: Final = str.maketrans(
    "авекмнорстухіјѕһԁԛԝ" + "αβεικνορτυχ" + "\u0261\u0251\u0131",  # Cyrillic, Greek, Latin itself
    "abekmhopctyxijshdqw" + "abeikvoptux" + "gai",
)
"""Small letters that look like Latin ones."""
_CAPITALS_ALIKE: Final = str.maketrans(
    "\u0391\u0392\u0395\u0396\u0397\u0399\u039a\u039c\u039d\u039f\u03a1\u03a4\u03a5\u03a7",
    "ABEZHIKMNOPTYX",
)
"""Greek capitals that look like Latin ones, whose small letters look like others or none."""


def system_user() -> str:
    """Return the name of the user of the system, else the number: containers have users unnamed.

    Windows has no numbers of users, and asks only the environment for the name.
    """
    try:
        return getpass.getuser()
    except (ImportError, KeyError, OSError):
        return f"uid-{os.getuid()}" if hasattr(os, "getuid") else "unknown-user"


def checked_actor(name: str) -> str:
    """Return a name without spaces around it.

    Raises:
        InvalidObject: It is empty or too long, or has invisible characters.
    """
    stripped = name.strip()
    if not stripped or len(stripped) > _MAX_NAME or INVISIBLE.search(stripped):
        raise InvalidObject(
            f"actor: expected a name of 1 to {_MAX_NAME} visible characters",
            hint="set VOUCH_AGENT to one",
        )
    return stripped


def is_same_actor(first: str, second: str) -> bool:
    """Return whether two names are equal, or look alike to people who read them."""
    return _skeleton(first) == _skeleton(second)


def _skeleton(name: str) -> str:
    """Return what is left of a name without case, width, accents, spaces and other scripts."""
    plain = unicodedata.normalize("NFKD", INVISIBLE.sub("", name)).translate(_CAPITALS_ALIKE)
    plain = plain.casefold().translate(_ALIKE)
    return "".join(
        letter for letter in plain if not letter.isspace() and not unicodedata.combining(letter)
    )
