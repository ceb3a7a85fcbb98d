"""Push messages: through the gateway that PUSH_URL names, with a copy in the mailbox while developing."""

from collections.abc import Callable
from dataclasses import dataclass

from app.clients import dev_mailbox, http_gateway
from app.clients.dispatch import dispatch_message
from app.clients.message_metrics import counted


@dataclass(frozen=True, kw_only=True)
class Push:
    """A message for one device, by the token its push service gave it, and that service (`ios`, `android`, `web`).

    The same `key` is the same message, however often it is sent.
    """

    token: str
    platform: str
    title: str
    text: str
    key: str
    href: str | None = None
    image_url: str | None = None


@counted("push")
def send(message: Push, *, fence: Callable[[], None]) -> str:
    """What the gateway calls the message, which it has taken. `fence` runs right before the point of no return.

    Raises AddressRefused (the device is gone), Permanent, Transient or Ambiguous, as the outbox takes them.
    """

    def deliver(url: str) -> str:
        said = {
            "token": message.token,
            "platform": message.platform,
            "title": message.title,
            "text": message.text,
            "href": message.href,
            "imageUrl": message.image_url,
        }
        return http_gateway.post(url, said, key=message.key, fence=fence)

    def keep() -> None:
        more = {"Platform": message.platform, "Opens": message.href, "Picture": message.image_url}
        values = {name: value for name, value in more.items() if value}
        dev_mailbox.store_message("push", message.token, message.title, message.text, headers=values)

    return dispatch_message("PUSH_URL", deliver, keep, key=message.key, fence=fence)
