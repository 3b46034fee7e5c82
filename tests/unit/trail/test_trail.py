"""A trail reads its log before its manifest, because entries are written before their records."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tests.trails import TrailWriter
from tests.unit.trail.trails import read_trail
from vibes_lsp.trail.log_index import LogIndex

if TYPE_CHECKING:
    from pathlib import Path

    import pytest


def test_the_entries_of_a_record_that_arrives_while_it_reads_are_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    writer = TrailWriter(tmp_path)
    environment = writer.environment()
    trail = read_trail(tmp_path)
    read_log = LogIndex.refresh
    prompts: list[str] = []

    def refresh_after_another_program_wrote(index: LogIndex, **options: Any) -> bool:
        prompts.append(writer.prompt(f"Prompt {len(prompts)}."))
        writer.line("a.py", 1, 1, environment=environment, prompt=prompts[-1])
        return read_log(index, **options)

    monkeypatch.setattr(LogIndex, "refresh", refresh_after_another_program_wrote)
    for count in (1, 2):
        trail.refresh()
        named = [each.current.text("prompt_hash") for each in trail.lineages_in("a.py")]
        assert named == prompts[:count]
        assert all(prompt in trail.manifest for prompt in prompts)
    trail.close()
