"""Benchmarks against large generated audit trails."""
