"""Subscriptions: conditions, mails, links and races."""
