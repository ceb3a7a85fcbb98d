"""Merchants: the business of a stall, its payout details, settings and status."""
