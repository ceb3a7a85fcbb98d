"""Push messages through the gateway in PUSH_URL, with a copy in the mailbox outside production."""

from collections.abc import Callable
from dataclasses import dataclass

from app.clients import dev_mailbox, http_gateway
from app.clients.dispatch import dispatch_message
from app.clients.message_counter import count_message


@dataclass(frozen=True, kw_only=True)
class Push:
    """A message to a device, by its token at the push service of `platform` (`ios`, `android`, `web`).

    The gateway sends messages with the same `key` once.
    """

    token: str
    platform: str
    title: str
    text: str
    key: str
    href: str | None = None
    image_url: str | None = None


@count_message("push")
def send(message: Push, *, fence: Callable[[], None]) -> str:
    """Send a message; return the gateway's reference. `fence` runs right before the point of no return.

    Raises PermanentAddressError (the device is gone), Permanent, Transient or Ambiguous.
    """

    def deliver(url: str) -> str:
        fields = {
            "token": message.token,
            "platform": message.platform,
            "title": message.title,
            "text": message.text,
            "href": message.href,
            "imageUrl": message.image_url,
        }
        return http_gateway.post(url, fields, key=message.key, fence=fence)

    def store_copy() -> None:
        fields = {"Platform": message.platform, "Opens": message.href, "Picture": message.image_url}
        headers = {name: field for name, field in fields.items() if field}
        dev_mailbox.store_message("push", message.token, message.title, message.text, headers=headers)

    return dispatch_message("PUSH_URL", deliver, store_copy, key=message.key, fence=fence)
