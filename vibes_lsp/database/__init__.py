"""`audit.db` (RFC 7.8): build the derived SQLite database, and query it read-only."""
