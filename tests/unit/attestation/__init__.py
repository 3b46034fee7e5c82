"""Tests of attestations: keys, envelopes, signatures, and what they still cover."""
