"""Diagnostics: what clients report of their own troubles, scrubbed and kept for thirty days."""
