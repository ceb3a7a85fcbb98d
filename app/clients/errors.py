"""Errors of message delivery, besides those of `app.core.jobs`."""

from app.core.jobs import Permanent


class PermanentAddressError(Permanent):
    """The address does not exist and never takes a message; suppress it."""
