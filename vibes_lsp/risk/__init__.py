"""PRISM (RFC 10.4): what is measured, what each signal is worth, the sum, its band, and the rules of review. Pure.

The way of a score: `measured` (what is known) -> `signals` (a factor for each) -> `scoring` (the sum and its band); `policy` says how much each
counts. `rules` is the language of `review_rules`, `tiers` the table of models, `standing` what reviews are worth.
"""
