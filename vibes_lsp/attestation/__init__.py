"""Attestations (RFC 11): sign the digests of a trail's files, and verify what others signed."""
