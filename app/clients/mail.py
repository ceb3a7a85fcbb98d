"""Mail: a message to one recipient over SMTP, with a copy in the mailbox outside production.

Delivery has three failures, which the outbox treats differently: Permanent (the server refused it), Transient (nothing
was delivered), Ambiguous (the final dot was sent and no reply came).
"""

from base64 import b64encode
from collections.abc import Callable
from urllib.parse import quote, urlsplit

from flask import current_app

from app.clients import dev_mailbox, smtp
from app.clients.dispatch import dispatch_message
from app.clients.message import Attachment, Message
from app.clients.message_counter import count_message
from app.clients.mime import compose
from app.config import Settings

__all__ = ["Attachment", "Message", "message_id", "send"]


def message_id(key: str) -> str:
    """The Message-ID `<key@host>`."""
    return f"<{quote(key, safe='+=/')}@{_host(_settings())}>"


@count_message("mail")
def send(message: Message, *, fence: Callable[[], None]) -> None:
    """Deliver `message`. `fence` runs right before the point of no return; if it raises, nothing was sent.

    Raises Permanent, Transient or Ambiguous.
    """
    settings = _settings()
    envelope = compose(message, mail_from=settings.MAIL_FROM)

    def deliver(url: str) -> str:
        smtp.deliver(envelope, url=url, host_name=_host(settings), fence=fence)
        return message.message_id

    dispatch_message("SMTP_URL", deliver, lambda: _store_copy(message), key=message.message_id, fence=fence)


def _store_copy(message: Message) -> None:
    headers = {"Message-ID": message.message_id, **message.headers}
    if message.reply_to:
        headers["Reply-To"] = message.reply_to
    dev_mailbox.store_message(
        "mail",
        message.to,
        message.subject,
        message.text,
        _inline_images(message),
        headers=headers,
        attachments=[attachment for attachment in message.attachments if attachment.cid is None],
    )


def _inline_images(message: Message) -> str:
    """The HTML with its pictures as data URLs, so that a browser shows them."""
    html = message.html
    for attachment in message.attachments:
        if attachment.cid is not None:
            inline = f"data:{attachment.content_type};base64,{b64encode(attachment.content).decode()}"
            html = html.replace(f"cid:{attachment.cid}", inline)
    return html


def _settings() -> Settings:
    settings: Settings = current_app.extensions["settings"]
    return settings


def _host(settings: Settings) -> str:
    return urlsplit(settings.PUBLIC_BASE_URL).hostname or "localhost"
