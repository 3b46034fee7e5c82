"""One module decodes JSON, so that all readers of a trail handle the same errors."""

import ast
from collections.abc import Iterator

from tests.architecture import source_tree
from tests.requirements import REPOSITORY

THE_DECODER = "vibes_lsp/model/canonical_json.py"
OWN_CACHES = {
    "vibes_lsp/git/git_cache.py",
    "vibes_lsp/ingest/command_files.py",
    "vibes_lsp/reports/found_annotations.py",
}
"""They read msgpack that they wrote, to a database of the user's cache folder."""
THE_YAML_READER = "vibes_lsp/knowledge/object_format.py"
"""It loads plain values only, of bounded size and depth, without aliases."""
DECODERS = {
    "json": {
        "load",
        "loads",
        "detect_encoding",
        "JSONDecoder",
        "JSONDecodeError",
        "decoder",
        "scanner",
    },
    "msgspec": {
        "convert",
        "msgpack",
        "toml",
        "yaml",
        "DecodeError",
        "MsgspecError",
        "ValidationError",
    },
    "msgspec.json": {"decode", "Decoder"},
    "pydantic_core": {"from_json"},
}
"""By module: functions that decode untrusted bytes, and the errors that only these raise."""
METHODS = {"validate_json", "model_validate_json", "raw_decode"}
"""Allowed only for the output of `canonical_json`, which was decoded before."""
UNSAFE = {
    "eval",
    "exec",
    "marshal",
    "orjson",
    "pickle",
    "plistlib",
    "shelve",
    "simplejson",
    "tomllib",
    "ujson",
    "yaml",
}


def test_one_module_decodes_json() -> None:
    found = [
        f"{path.as_posix()}:{line}: {what}"
        for path in source_tree.product_files()
        if path.as_posix() not in {THE_DECODER, THE_YAML_READER, *OWN_CACHES}
        for line, what in _decoding(ast.parse((REPOSITORY / path).read_text(encoding="utf-8")))
    ]
    assert not found, f"decode it in {THE_DECODER}, which bounds what a text may do"


def test_the_search_finds_decoders() -> None:
    sources = (
        "import json\njson.loads(x)",
        "from json import loads",
        "from msgspec.json import Decoder",
        "import msgspec\nmsgspec.json.decode(x)",
        "import msgspec as m\nm.json.Decoder(int)",
        "from msgspec import json as quick\nquick.decode(x)",
        "import pickle",
        "adapter.validate_json(x)",
        "eval(x)",
    )
    assert [source for source in sources if not list(_decoding(ast.parse(source)))] == []
    assert (
        list(
            _decoding(
                ast.parse("import json, msgspec\njson.dumps(x)\nmsgspec.json.encode(x)\nx.decode()")
            )
        )
        == []
    )


def _decoding(tree: ast.Module) -> list[tuple[int, str]]:
    names: dict[str, str] = {}
    found: list[tuple[int, str]] = []
    for line, local, whole in _imported(tree):
        names[local] = whole
        module, _, name = whole.rpartition(".")
        if whole.partition(".")[0] in UNSAFE or name in DECODERS.get(module, set()):
            found.append((line, whole))
    printed = {
        id(node.func)
        for node in ast.walk(tree)
        if isinstance(node, ast.Call) and _is_canonical(node.args)
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and id(node) not in printed:
            if node.attr in DECODERS.get(_name(node.value, names), set()) or node.attr in METHODS:
                found.append((node.lineno, node.attr))
        elif isinstance(node, ast.Name) and node.id in {"eval", "exec"}:
            found.append((node.lineno, node.id))
    return found


def _imported(tree: ast.Module) -> Iterator[tuple[int, str, str]]:
    """Yield each imported name: its line, its local name and its full name."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                top = alias.name.partition(".")[0]
                yield node.lineno, alias.asname or top, alias.name if alias.asname else top
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield from (
                (node.lineno, alias.asname or alias.name, f"{node.module}.{alias.name}")
                for alias in node.names
            )


def _is_canonical(arguments: list[ast.expr]) -> bool:
    return (
        len(arguments) == 1
        and isinstance(arguments[0], ast.Call)
        and ast.unparse(arguments[0].func) == "canonical_json"
    )


def _name(node: ast.expr, names: dict[str, str]) -> str:
    if isinstance(node, ast.Name):
        return names.get(node.id, "")
    if isinstance(node, ast.Attribute):
        return f"{_name(node.value, names)}.{node.attr}"
    return ""
