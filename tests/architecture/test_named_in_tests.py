"""Names of the product that tests and benchmarks hold as text exist, so that a rename finds them."""

import importlib
import re

from tests.architecture import source_tree
from tests.requirements import REPOSITORY

_NAME = re.compile(r"""["'](vibes_(?:lsp|services)(?:\.\w+)+(?::[\w.]+)?)["']""")


def is_known(name: str) -> bool:
    """Whether a dotted name, `module:object` or `module.object`, can be imported."""
    parts = name.replace(":", ".").split(".")
    for end in range(len(parts), 0, -1):
        try:
            found: object = importlib.import_module(".".join(parts[:end]))
        except ModuleNotFoundError:
            continue
        for part in parts[end:]:
            found = getattr(found, part, None)
        return found is not None
    return False


def test_every_name_of_the_product_in_a_string_exists() -> None:
    unknown = {
        path.as_posix(): missing
        for path in source_tree.python_files()
        if path.parts[0] in {"tests", "benchmarks", "tools", "services"}
        if (
            missing := sorted(
                name
                for name in set(_NAME.findall((REPOSITORY / path).read_text(encoding="utf-8")))
                if not is_known(name)
            )
        )
    }
    assert not unknown
