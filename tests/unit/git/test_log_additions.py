"""Lines that commits add to a log, which anybody may have written."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from tests.trails import Repository as GitRepository
from vibes_lsp.git.commit_resolution import CommitResolver
from vibes_lsp.git.log_additions import added_lines, record_id_of
from vibes_lsp.git.repository import open_repository
from vibes_lsp.store.bounded_lines import MAX_LINE

if TYPE_CHECKING:
    from pathlib import Path


def test_a_line_that_is_too_long_hides_and_forges_no_record(tmp_path: Path) -> None:
    repository = GitRepository(tmp_path)
    head = '{"annotation_id":"long","text":"'
    record = json.dumps({"annotation_id": "forged"})
    padding = "x" * (MAX_LINE - len(head))
    for piece in ("+", "+", "\x01commit "):  # whatever the next part begins with
        padding += f"{piece}{record}" + "x" * (MAX_LINE // 2)
    after = json.dumps({"annotation_id": "after"})
    log = repository.write("log.jsonl", f'{head}{padding}"}}\n{after}\n')
    commit = repository.commit("Add")
    opened = open_repository(tmp_path)
    assert opened is not None
    lines = list(added_lines(opened, ["HEAD"], "log.jsonl"))
    assert [(record_id_of(line), by) for line, by in lines] == [("", commit), ("after", commit)]
    (long, _), (short, _) = lines
    assert MAX_LINE < len(long) < MAX_LINE + 200
    assert short == f"{after}\n".encode()
    repository.write("log.jsonl", f'{log.read_text()}{head}{padding}"}}\n{record}\n')
    grown = repository.commit("Grow")
    found = CommitResolver(opened, tmp_path, log).by_log(["long", "after", "forged"])
    assert {each: known.commit for each, known in found.items()} == {
        "after": commit,
        "forged": grown,  # its own line
    }
