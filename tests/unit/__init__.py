"""Tests of one module at a time, layer by layer."""
