"""The gate (RFC 10.4.5): which annotations may pass by their risk and the project's rules, and what a change did to get past them."""
