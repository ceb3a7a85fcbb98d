"""A mail with its attachments, and the errors of message delivery besides those of `app.core.jobs`."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from app.core.jobs import Permanent


@dataclass(frozen=True)
class Attachment:
    """A file. With `cid` it is a picture inside the mail, which the HTML refers to as `cid:…`."""

    filename: str
    content: bytes
    content_type: str = "application/octet-stream"
    cid: str | None = None


@dataclass(frozen=True)
class Message:
    """A rendered mail. `message_id` is derived from a key, so that a repeat can be recognised."""

    to: str
    subject: str
    text: str
    html: str
    message_id: str
    sender_name: str | None = None
    reply_to: str | None = None
    headers: Mapping[str, str] = field(default_factory=dict)
    attachments: tuple[Attachment, ...] = ()


class PermanentAddressError(Permanent):
    """The address does not exist and never takes a message; suppress it."""
