"""Text messages through the gateway in SMS_URL, with a copy in the mailbox outside production."""

from collections.abc import Callable
from dataclasses import dataclass

from app.clients import dev_mailbox, http_gateway
from app.clients.dispatch import dispatch_message
from app.clients.message_counter import count_message

GSM_CHARACTERS = frozenset(
    "@£$¥èéùìòÇ\nØø\rÅåΔ_ΦΓΛΩΠΨΣΘΞÆæßÉ !\"#¤%&'()*+,-./0123456789:;<=>?¡ABCDEFGHIJKLMNOPQRSTUVWXYZÄÖÑÜ§¿"
    "abcdefghijklmnopqrstuvwxyzäöñüà"
)
GSM_PAIRS = frozenset("^{}\\[~]|€\f")
"""Characters that take two places in a text message."""


@dataclass(frozen=True, kw_only=True)
class Sms:
    """A text for a telephone number (E.164). The gateway sends messages with the same `key` once."""

    to: str
    text: str
    key: str
    sender: str | None = None


def count_parts(text: str) -> int:
    """The number of parts in which a text is sent (GSM 03.38): each is billed as one message.

    A part has 160 characters, or 153 if there are several; with a character outside of GSM 70, or 67.
    """
    if all(character in GSM_CHARACTERS or character in GSM_PAIRS for character in text):
        length = len(text) + sum(character in GSM_PAIRS for character in text)
        single, several = 160, 153
    else:
        length = len(text.encode("utf-16-le")) // 2
        single, several = 70, 67
    return 1 if length <= single else -(-length // several)


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
