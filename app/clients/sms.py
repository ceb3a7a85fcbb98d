"""Text messages: through the gateway that SMS_URL names, with a copy in the mailbox while developing."""

from collections.abc import Callable
from dataclasses import dataclass

from app.clients import dev_mailbox, http_gateway
from app.clients.dispatch import dispatch_message
from app.clients.message_metrics import counted


@dataclass(frozen=True, kw_only=True)
class Sms:
    """A text for a telephone (E.164). The same `key` is the same message, however often it is sent."""

    to: str
    text: str
    key: str
    sender: str | None = None


@counted("sms")
def send(message: Sms, *, fence: Callable[[], None]) -> str:
    """What the gateway calls the message, which it has taken. `fence` runs right before the point of no return.

    Raises AddressRefused (no such number), Permanent, Transient or Ambiguous, as the outbox takes them.
    """

    def deliver(url: str) -> str:
        said = {"to": message.to, "text": message.text, "sender": message.sender}
        return http_gateway.post(url, said, key=message.key, fence=fence)

    def keep() -> None:
        dev_mailbox.store_message("sms", message.to, None, message.text, headers={"From": message.sender or ""})

    return dispatch_message("SMS_URL", deliver, keep, key=message.key, fence=fence)
