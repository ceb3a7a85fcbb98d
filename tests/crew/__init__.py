"""Crew and shifts, in detail: races, codes, days."""
