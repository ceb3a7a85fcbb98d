"""Accounts: who people are, how they prove it, and the sessions in which they act."""
