"""Subscriptions: channel preferences, unsubscriptions and push devices of the recipients of messages."""
