"""Each closed vocabulary is the RFC's list, in its order if it has one."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from vibes_lsp.model import vocabulary
from vibes_lsp.model.defaults import DEFAULT_THRESHOLDS, DEFAULT_WEIGHTS

if TYPE_CHECKING:
    from enum import StrEnum

LISTS: list[tuple[type[StrEnum], str]] = [
    (vocabulary.RecordType, "line function session edge delegation"),
    (vocabulary.ContextType, "environment prompt command reasoning decision"),
    (vocabulary.AssuranceLevel, "low medium high"),
    (vocabulary.Action, "create modify delete review rebase_remap rebase_orphan"),
    (vocabulary.SessionEvent, "start end"),
    (vocabulary.EdgeType, "caused_by depends_on informed_by delegated_to supersedes reviewed_by"),
    (vocabulary.NodeType, "annotation context session"),
    (vocabulary.DelegationType, "task review test refactor other"),
    (
        vocabulary.PromptType,
        "user_instruction edit_command chat_message inline_completion review_request refactor_request other",
    ),
    (vocabulary.CommandType, "shell file_write file_read file_delete api_call tool_use other"),
    (vocabulary.Confidence, "high medium low"),
    (vocabulary.Band, "low medium high critical"),
    (vocabulary.RuleAction, "flag require_review block"),
    (
        vocabulary.Signal,
        "temperature action_type scope_lines scope_files assurance_gap human_review_present prompt_token_count model_capability_tier",
    ),
    (vocabulary.SupersedesReason, "commit rewrite orphan covers"),
    (vocabulary.Verdict, "approved rejected"),
    (vocabulary.ReviewerKind, "human ai unknown"),
]


@pytest.mark.parametrize(("words", "listed"), LISTS, ids=[words.__name__ for words, _ in LISTS])
def test_each_vocabulary_is_the_list_of_the_rfc(words: type[StrEnum], listed: str) -> None:
    assert [word.value for word in words] == listed.split()


def test_default_weights_are_those_of_the_rfc() -> None:
    assert list(DEFAULT_WEIGHTS.values()) == [0.15, 0.15, 0.15, 0.10, 0.10, 0.15, 0.10, 0.10]
    assert list(DEFAULT_WEIGHTS) == list(vocabulary.Signal)


def test_default_bounds_are_those_of_the_rfc() -> None:
    assert list(DEFAULT_THRESHOLDS.items()) == [
        ("low", 0.0),
        ("medium", 0.3),
        ("high", 0.6),
        ("critical", 0.8),
    ]
