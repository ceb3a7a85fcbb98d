"""Notification campaigns: one message of an organiser to the people of an event, by mail, SMS and push."""
