"""The standard as types and pure functions (RFC 5-8): records, contexts, config, canonical JSON, hashes. No I/O."""
