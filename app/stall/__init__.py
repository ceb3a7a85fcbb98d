"""The home of a merchant: what is due, their stalls, people and money, from all domains."""
