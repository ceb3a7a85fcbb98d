"""Preferences and push devices over HTTP."""
