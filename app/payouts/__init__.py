"""Payouts: a merchant's money on its way to him, from the request over the rail to the statement."""
