"""Retention: erases old personal data every day, and removes files without a row in the database."""
