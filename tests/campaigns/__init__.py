"""Campaigns, below the API."""
