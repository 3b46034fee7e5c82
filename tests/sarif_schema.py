"""The published SARIF 2.1.0 JSON schema, out of the schemastore package's cache; validating with it is left to the tests.

schemastore's own interface asks the network again once a cached answer is old, so its cache file is read directly. The answers
in it are pickles, which are only tokenised here: nothing in them is run.
"""

import json
import pickletools
import sqlite3
from contextlib import closing
from functools import cache
from importlib.metadata import distribution
from pathlib import Path
from typing import Any

SCHEMA_URL = "https://json.schemastore.org/sarif-2.1.0.json"


@cache
def load() -> dict[str, Any]:
    """Return the schema (JSON Schema draft 7).

    Raises:
        LookupError: The installed schemastore does not hold it.
    """
    database = Path(str(distribution("schemastore").locate_file("schemastore/cache.sqlite")))
    if not database.is_file():
        message = "the installed schemastore has no cache.sqlite"
        raise LookupError(message)
    with closing(
        sqlite3.connect(f"{database.as_uri()}?mode=ro&immutable=1", uri=True)
    ) as connection:
        for (answer,) in connection.execute(
            "SELECT value FROM responses WHERE instr(value, CAST(? AS BLOB))", (SCHEMA_URL,)
        ):
            schema = _body(answer)
            if (
                schema.get("title")
                == "Static Analysis Results Format (SARIF) Version 2.1.0 JSON Schema"
            ):
                return schema
    message = f"the installed schemastore does not hold {SCHEMA_URL}"
    raise LookupError(message)


def _body(answer: bytes) -> dict[str, Any]:
    """Return the JSON body of one cached HTTP answer: the first byte string in the pickle."""
    body = next(
        argument for _, argument, _ in pickletools.genops(answer) if isinstance(argument, bytes)
    )
    parsed: dict[str, Any] = json.loads(body)
    return parsed
