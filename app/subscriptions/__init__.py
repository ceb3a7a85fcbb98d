"""Subscriptions: how a person is reached by organisers' messages, and how a person says no."""
