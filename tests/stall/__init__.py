"""The home of a merchant: the next step."""
