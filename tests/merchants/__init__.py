"""Merchants: states, deletion and races."""
