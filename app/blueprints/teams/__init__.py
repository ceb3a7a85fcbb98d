"""Routes of teams, devices and API keys."""
