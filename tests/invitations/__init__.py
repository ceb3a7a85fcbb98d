"""Invitations in detail: races, plans."""
