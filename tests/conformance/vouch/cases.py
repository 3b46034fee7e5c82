"""All cases of the pack; importing their modules adds them."""

from tests.conformance.vouch import method_cases, object_cases
from tests.conformance.vouch.case_registry import ATTACKS, CASES, Case

__all__ = ["ATTACKS", "CASES", "Case", "method_cases", "object_cases"]
