"""Text messages through the gateway in SMS_URL, with a copy in the mailbox outside production."""

from collections.abc import Callable
from dataclasses import dataclass

from app.clients import dev_mailbox, http_gateway
from app.clients.dispatch import dispatch_message
from app.clients.message_counter import count_message


@dataclass(frozen=True, kw_only=True)
class Sms:
    """A text for a telephone number (E.164). The gateway sends messages with the same `key` once."""

    to: str
    text: str
    key: str
    sender: str | None = None


@count_message("sms")
def send(message: Sms, *, fence: Callable[[], None]) -> str:
    """Send a message; return the gateway's reference. `fence` runs right before the point of no return.

    Raises PermanentAddressError (no such number), Permanent, Transient or Ambiguous.
    """

    def deliver(url: str) -> str:
        fields = {"to": message.to, "text": message.text, "sender": message.sender}
        return http_gateway.post(url, fields, key=message.key, fence=fence)

    def store_copy() -> None:
        dev_mailbox.store_message("sms", message.to, None, message.text, headers={"From": message.sender or ""})

    return dispatch_message("SMS_URL", deliver, store_copy, key=message.key, fence=fence)
