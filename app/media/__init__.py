"""Uploaded pictures, which are public."""
