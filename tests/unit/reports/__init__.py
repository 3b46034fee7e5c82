"""The reports: numbers, shares and SARIF."""
