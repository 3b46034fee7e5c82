"""What is known of one annotation before it is scored; whoever has the trail or makes a record fills it in."""

from __future__ import annotations

from dataclasses import dataclass

import msgspec

from vibes_lsp.risk.standing import Standing


class PromptLength(msgspec.Struct, frozen=True, gc=False):
    """How long a prompt is.

    Attributes:
        tokens: Its tokens.
        bytes: The bytes that they were estimated from; None where the producer counted (R22).
    """

    tokens: int
    bytes: int | None = None


@dataclass(frozen=True, slots=True)
class CustomSignal:
    """A signal that a recorder gave (RFC 10.4.1): its name has a namespace, its value lies between 0 and 1."""

    signal: str
    value: float
    reason: str | None = None


class Measured(msgspec.Struct, frozen=True, gc=False):
    """The sources of the eight signals, and the values of further ones; what is None is not known, and its signal is left out.

    Attributes:
        temperature: The model's parameter.
        action: What the AI did; of a remapped record, what its root did (R27).
        lines: Number of lines that the annotation is about.
        total_lines: Number of lines of the whole file.
        files: Number of files that its session touched.
        level: The assurance level it was recorded at.
        standing: Where it stands with its reviewers.
        prompt: How long its prompt is.
        model: The model's name.
        custom: What the recorder gave besides.
    """

    temperature: float | None = None
    action: str | None = None
    lines: int | None = None
    total_lines: int | None = None
    files: int | None = None
    level: str | None = None
    standing: Standing = Standing.UNREVIEWED
    prompt: PromptLength | None = None
    model: str | None = None
    custom: tuple[CustomSignal, ...] = ()


_BYTES_PER_TOKEN = 4
"""A rule of thumb that holds for English and for source text; other scripts have more bytes and more tokens for each character."""


def estimated_length(prompt: str) -> PromptLength:
    """Return how long a prompt is, by its bytes (R22)."""
    size = len(prompt.encode("utf-8", "surrogatepass"))
    return PromptLength(-(-size // _BYTES_PER_TOKEN), size)
