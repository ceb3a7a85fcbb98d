"""The home of an organiser: their events, and what waits for them, from all domains."""
