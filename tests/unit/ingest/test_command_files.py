"""Shell commands that are known to write no file."""

from __future__ import annotations

import pytest

from vibes_lsp.ingest.command_files import only_reads


@pytest.mark.parametrize(
    "command",
    [
        "cat a.py",
        "ls -la src | head -5",
        "cd src && grep -rn total . | wc -l",
        "git diff --cached && cat app.py",
        "git log --oneline; git status",
        "echo done\npwd",
    ],
)
def test_a_command_that_reads(command: str) -> None:
    assert only_reads(command)


@pytest.mark.parametrize(
    "command",
    [
        "",
        " ; ",
        "cat a.py > b.py",
        "cat a.py>b.py",
        "echo x >> a.py",
        "cat a.py | tee b.py",
        "cat $(make a.py)",
        "cat `make a.py`",
        "cat <(make)",
        "ls & ./generate",
        "ls && ./generate",
        "cat a.py | sh",
        "git checkout a.py",
        "git",
        "git diff --output=a.py",
        "find . -delete",
        "sed -i s/a/b/ a.py",
        "FOO=1 cat a.py",
        "python app.py",
        "/tmp/cat a.py",
    ],
)
def test_a_command_that_may_write(command: str) -> None:
    assert not only_reads(command)
