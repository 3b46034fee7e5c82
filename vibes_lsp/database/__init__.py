"""`audit.db` (RFC 7.8): the derived SQLite database, and read-only queries over it."""
