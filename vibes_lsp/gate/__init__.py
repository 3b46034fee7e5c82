"""The gate (RFC 10.4.5): decides by risk, rules and reviews what may be merged."""
