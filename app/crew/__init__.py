"""Crew: who works at a stall, their shift codes, and their hours."""
