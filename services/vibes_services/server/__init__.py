"""The reference server for attestations: a cosigning endpoint and a registry, one ASGI app.

It stores what it is given and signs digests; it never reads an audit trail. What its answers mean
is decided by `vibes_lsp.attestation`, on the user's side.
"""
