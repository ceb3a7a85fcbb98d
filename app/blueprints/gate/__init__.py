"""Routes of the gate: scans, the log of admissions, and its figures."""
