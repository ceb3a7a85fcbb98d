"""Payouts in detail."""
