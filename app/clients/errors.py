"""What a refusal says about an address, beside what it says about a message."""

from app.core.jobs import Permanent


class PermanentAddressError(Permanent):
    """There is nobody at this address, and there never will be: no message should go there again."""
