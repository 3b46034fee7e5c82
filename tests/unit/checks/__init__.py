"""The checks: what each of them finds, and that it finds nothing in a sound trail."""
