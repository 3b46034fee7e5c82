"""Tests of the reference server: real processes on loopback, real databases."""
