"""What the documentation says to type, typed."""
