"""The stock of events."""
