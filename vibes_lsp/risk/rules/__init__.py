"""The language of review rules (RFC 10.4.6, R20): conditions over signals, parsed by hand and never evaluated as code.

    either     = both { OR both }
    both       = negated { AND negated }
    negated    = NOT negated | "(" either ")" | comparison
    comparison = operand ( "==" | "!=" | "<" | "<=" | ">" | ">=" ) operand | operand [ NOT ] IN "(" literal { "," literal } ")"
    operand    = literal | NAME | NAME ".value"
    literal    = number | 'text' | "text"

A name stands for the measured quantity, `NAME.value` for the value between 0 and 1. What is not known is neither true nor false, and neither is
what compares it; `NOT` of that is the same, and a rule asks for something only where it is true.
"""

from __future__ import annotations

from vibes_lsp.risk.rules.expressions import Expression, Quantity, evaluate, names_in
from vibes_lsp.risk.rules.grammar import MAX_DEPTH, MAX_LENGTH, parse

__all__ = ["MAX_DEPTH", "MAX_LENGTH", "Expression", "Quantity", "evaluate", "names_in", "parse"]
