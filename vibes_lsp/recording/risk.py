"""The risk of an edit as it is recorded (RFC 10.4.4, R21): what is known at that moment, and what the caller says about it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from vibes_lsp.index.live_risk import MAX_CUSTOM_SIGNALS, prompt_length, temperature_of
from vibes_lsp.model.members import Members, mapping, text
from vibes_lsp.model.vocabulary import is_custom_signal
from vibes_lsp.recording.arguments import RiskSignal, WrongArgument
from vibes_lsp.recording.context import RecordingContext
from vibes_lsp.recording.entries import Entries
from vibes_lsp.risk.scoring import compute_score
from vibes_lsp.risk.signals import CustomSignal, Measurements, factors_as_recorded

_SCORE_DIGITS: Final = 4


def custom_signals(given: Sequence[RiskSignal], entries: Entries) -> tuple[CustomSignal, ...]:
    """Return the caller's signals, without secrets in their reasons.

    Raises:
        WrongArgument: One is not what it may be.
    """
    if len(given) > MAX_CUSTOM_SIGNALS:
        raise WrongArgument("signals", f"are {MAX_CUSTOM_SIGNALS} at most")
    for number, each in enumerate(given):
        if not is_custom_signal(each.signal):
            raise WrongArgument(
                f"signals.{number}.signal",
                f"is a name with a namespace, as in org:name, not {each.signal[:60]!r}",
            )
        if not 0 <= each.value <= 1:
            raise WrongArgument(f"signals.{number}.value", "is a number from 0 to 1")
        if each.signal in {other.signal for other in given[:number]}:
            raise WrongArgument(f"signals.{number}.signal", f"{each.signal!r} is given twice")
    return tuple(
        CustomSignal(each.signal, each.value, entries.clean_or_none(each.reason)) for each in given
    )


def risk_members(
    situation: RecordingContext,
    record: Members,
    lines: tuple[int, int],
    custom: tuple[CustomSignal, ...],
) -> Members:
    """Return the risk members of an annotation; none while the project scores no risk (R27).

    Args:
        situation: The trail and its policy.
        record: The annotation so far.
        lines: How many lines it is about, and how many the file has.
        custom: The caller's own signals.
    """
    policy = situation.config.policy
    if not policy.computes_scores:
        return {}
    environment = _entry(situation, text(record, "environment_hash"))
    session, path = text(record, "session_id"), text(record, "file_path") or ""
    score = compute_score(
        Measurements(
            temperature=temperature_of(mapping(environment, "model_parameters")),
            action=text(record, "action"),
            lines=lines[0],
            total_lines=lines[1],
            files=len(situation.trail.files_of_session(session) | {path}) if session else None,
            level=situation.level.value,
            prompt=prompt_length(_entry(situation, text(record, "prompt_hash"))),
            model=text(environment, "model_name"),
            custom=custom,
        ),
        policy,
    )
    if score is None:
        return {}
    return {
        "risk_score": round(score.value, _SCORE_DIGITS),
        "risk_factors": factors_as_recorded(score.factors),
    }


def _entry(situation: RecordingContext, key: str | None) -> Members:
    return ({} if key is None else situation.entry_of(key)) or {}
