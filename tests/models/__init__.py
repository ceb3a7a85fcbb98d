"""Hypothesis state machines over the real HTTP application and database."""
