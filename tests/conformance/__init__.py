"""Tests of the RFC's requirements and of our readings; `docs/conformance.md` is made from them."""
