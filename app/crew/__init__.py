"""Crew: the people who work at a stall, their shift codes, shifts and hours."""
