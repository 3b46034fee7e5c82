"""The published SARIF 2.1.0 JSON schema, read from the schemastore package's cache.

schemastore's own interface uses the network when a cached response is old, so its cache file is
read directly. The responses are pickles, which are only tokenized here: nothing in them runs.
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
        LookupError: The installed schemastore does not have it.
    """
    database = Path(str(distribution("schemastore").locate_file("schemastore/cache.sqlite")))
    if not database.is_file():
        message = "the installed schemastore has no cache.sqlite"
        raise LookupError(message)
    with closing(
        sqlite3.connect(f"{database.as_uri()}?mode=ro&immutable=1", uri=True)
    ) as connection:
        for (response,) in connection.execute(
            "SELECT value FROM responses WHERE instr(value, CAST(? AS BLOB))", (SCHEMA_URL,)
        ):
            schema = _body(response)
            if (
                schema.get("title")
                == "Static Analysis Results Format (SARIF) Version 2.1.0 JSON Schema"
            ):
                return schema
    message = f"the installed schemastore does not have {SCHEMA_URL}"
    raise LookupError(message)


def _body(response: bytes) -> dict[str, Any]:
    """Return the JSON body of a cached HTTP response: the first byte string in the pickle."""
    body = next(
        argument for _, argument, _ in pickletools.genops(response) if isinstance(argument, bytes)
    )
    parsed: dict[str, Any] = json.loads(body)
    return parsed
