"""Payouts: a merchant's money on its way to them, from the request over the rail to the statement."""
