"""What the name of a revision means: one commit, or the name is refused."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Final

from vibes_lsp.errors import HistoryUnavailable
from vibes_lsp.history.git import run_git

_SUFFIX: Final = re.compile(r"[~^]|@\{")
_SEARCH: Final = re.compile(r":|\{/")
"""What asks git to look for a commit by its message, or for a path: whoever writes messages would choose."""
_OWN: Final = frozenset(
    {
        "",
        "@",
        "HEAD",
        "FETCH_HEAD",
        "ORIG_HEAD",
        "MERGE_HEAD",
        "CHERRY_PICK_HEAD",
        "REBASE_HEAD",
        "REVERT_HEAD",
    }
)
"""What git itself writes, beside the refs: it comes before every ref of that name, and no push makes it."""
_HASH: Final = re.compile(r"[0-9a-f]{40}|[0-9a-f]{64}", re.IGNORECASE)
_SHORT_HASH: Final = re.compile(r"[0-9a-f]{4,63}", re.IGNORECASE)
_PLACES: Final = (
    "refs/{}",
    "refs/tags/{}",
    "refs/heads/{}",
    "refs/remotes/{}",
    "refs/remotes/{}/HEAD",
)
"""Where git looks for a name (gitrevisions). It takes the first that it finds, and only warns of others."""
_HINT: Final = "give a branch, a tag or a commit; a shallow clone may lack it"


def commit_named(root: Path, revision: str) -> str:
    """Return the whole hash of the commit that a revision names.

    Args:
        root: The top folder of the work tree.
        revision: As people write it.

    Raises:
        HistoryUnavailable: It names none, or git would have to choose between several.
    """
    if _SEARCH.search(revision):
        raise HistoryUnavailable(f"{revision!r} names no commit here", hint=_HINT)
    _refuse_ambiguity(root, _SUFFIX.split(revision, maxsplit=1)[0])
    try:
        found = run_git(
            root, "rev-parse", "--verify", "--quiet", "--end-of-options", f"{revision}^{{commit}}"
        )
    except HistoryUnavailable:
        raise HistoryUnavailable(f"{revision!r} names no commit here", hint=_HINT) from None
    return found.decode().strip()


def _refuse_ambiguity(root: Path, name: str) -> None:
    """Raise where more than one thing has a name; a whole ref or hash means only itself."""
    if name in _OWN or name.startswith(("refs/", "-")) or _HASH.fullmatch(name):
        return
    places = [place.format(name) for place in _PLACES]
    try:
        listed = (
            run_git(root, "for-each-ref", "--format=%(refname)", *places)
            .decode("utf-8", "replace")
            .splitlines()
        )
        found = [place for place in places if place in listed]
        if found and _SHORT_HASH.fullmatch(name):
            found += run_git(root, "rev-parse", f"--disambiguate={name}").decode().split()
    except HistoryUnavailable:
        raise HistoryUnavailable(f"{name!r} names no commit here", hint=_HINT) from None
    if len(found) > 1:
        raise HistoryUnavailable(
            f"{name!r} is ambiguous: it names {' and '.join(found[:4])}",
            hint="give one of these whole names",
        )
