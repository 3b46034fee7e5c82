"""The write side's use cases: whatever makes a trail grow goes through `Recorder`. Other programs may import what is named here."""

from vibes_lsp.model.vocabulary import Action, CommandType, Confidence, DelegationType, EdgeType, NodeType, PromptType, Verdict
from vibes_lsp.recording.annotating import Edit
from vibes_lsp.recording.arguments import (
    Command,
    Decision,
    DecisionOption,
    Function,
    Model,
    Origin,
    Prompt,
    Reasoning,
    RiskSignal,
    Tool,
    WrongArgument,
)
from vibes_lsp.recording.correcting import Reanchoring
from vibes_lsp.recording.recorder import Recorder
from vibes_lsp.recording.relating import Relation
from vibes_lsp.recording.results import (
    Corrected,
    Delegated,
    Ended,
    Recorded,
    RecordedCommand,
    RecordedDecision,
    RecordedEdge,
    Result,
    Reviewed,
    Session,
    as_json,
)
from vibes_lsp.recording.reviewed import Reviewing, ReviewScope

__all__ = [
    "Action",
    "Command",
    "CommandType",
    "Confidence",
    "Corrected",
    "Decision",
    "DecisionOption",
    "Delegated",
    "DelegationType",
    "EdgeType",
    "Edit",
    "Ended",
    "Function",
    "Model",
    "NodeType",
    "Origin",
    "Prompt",
    "PromptType",
    "Reanchoring",
    "Reasoning",
    "Recorded",
    "RecordedCommand",
    "RecordedDecision",
    "RecordedEdge",
    "Recorder",
    "Relation",
    "Result",
    "ReviewScope",
    "Reviewed",
    "Reviewing",
    "RiskSignal",
    "Session",
    "Tool",
    "Verdict",
    "WrongArgument",
    "as_json",
]
