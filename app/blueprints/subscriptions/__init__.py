"""Wishes and devices over HTTP."""
