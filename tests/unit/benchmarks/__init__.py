"""Tests of what the benchmarks take for true."""
