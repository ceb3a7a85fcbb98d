"""Errors of the ledger."""

from app.core.errors import Conflict


class InsufficientFunds(Conflict):
    number, code = 40990, "INSUFFICIENT_FUNDS"
    message = "There is less money available than that; data.availableMinor says how much there is."
