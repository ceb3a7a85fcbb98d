"""What an event can be about."""

CATEGORIES = ("music", "food", "arts", "sport", "business", "community", "family", "other")
