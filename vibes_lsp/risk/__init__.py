"""PRISM risk scores (RFC 10.4), pure.

`signals` turns measurements into a factor per signal, `scoring` combines the factors into a score
and its band, `policy` holds the project's weights and thresholds. `rules` parses and evaluates
`review_rules`, `review_status` derives the status of an annotation from its reviews.
"""
