"""The queries that RFC 10 gives, run as they stand there by the programs that they are for."""
