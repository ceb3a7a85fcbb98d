"""The fields of the suppression list, which the API and the desk share."""

from app.campaigns.states import CHANNELS
from app.campaigns.suppressions import ALL_CHANNELS, BOUNCED, REASONS, STOPPED
from app.web.fields import Choice, Email, Text
from app.web.schema import Query, Schema

REASON_DESCRIPTION = (
    "`unsubscribed` by a link of a message, `stopped` by a member of the organisation, or `bounced`: the address refused "
    "a message for good."
)


class SuppressionFilters(Query):
    """The entries to return."""

    q = Text(max=254, metadata={"example": "example.com", "description": "A part of the address."})
    reason = Choice(*REASONS, metadata={"example": STOPPED, "description": REASON_DESCRIPTION})


class StoppedAddress(Schema):
    """An address that gets no more messages."""

    address = Email(required=True, metadata={"description": "E-mail address that gets no more messages."})


class RemovableEntry(Schema):
    """An entry that a member may take off the list."""

    reason = Choice(
        STOPPED,
        BOUNCED,
        required=True,
        metadata={"example": STOPPED, "description": "Why it is on the list: `stopped` or `bounced`."},
    )
    channel = Choice(
        ALL_CHANNELS,
        *CHANNELS,
        required=True,
        metadata={"example": ALL_CHANNELS, "description": "Channel of the entry; `all` if it was stopped."},
    )
    address = Text(
        required=True,
        max=1024,
        metadata={"example": "gone@example.com", "description": "Address of the entry, as in the list."},
    )
