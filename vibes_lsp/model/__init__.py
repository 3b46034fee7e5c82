"""The standard as types and pure functions: JSON, hashes, schemas, secrets, paths. No I/O."""
