"""Retention: personal data that has served its purpose is erased every day, and files that no row names are removed."""
