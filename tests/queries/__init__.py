"""The queries of RFC 10, run unchanged with jq, DuckDB and SQLite."""
