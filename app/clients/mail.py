"""Mail: one message to one person, over SMTP, with a copy in the mailbox while developing.

Delivery tells three failures apart, because the outbox treats them differently: Permanent (the server said
never), Transient (nothing was delivered), Ambiguous (the final dot was sent and no answer came).
"""

from base64 import b64encode
from collections.abc import Callable
from urllib.parse import quote, urlsplit

from flask import current_app

from app.clients import dev_mailbox, smtp
from app.clients.dispatch import dispatch_message
from app.clients.message import Attachment, Message
from app.clients.message_metrics import counted
from app.clients.mime import compose
from app.config import Settings

__all__ = ["Attachment", "Message", "message_id", "send"]


def message_id(key: str) -> str:
    """`<key@host>`: the same key gives the same id whenever and wherever it is sent."""
    return f"<{quote(key, safe='+=/')}@{_host(_settings())}>"


@counted("mail")
def send(message: Message, *, fence: Callable[[], None]) -> None:
    """Delivers `message`, calling `fence` right before the point of no return.

    Raises Permanent, Transient or Ambiguous; whatever `fence` raises passes through, with nothing sent.
    """
    settings = _settings()
    envelope = compose(message, mail_from=settings.MAIL_FROM)

    def deliver(url: str) -> str:
        smtp.deliver(envelope, url=url, hello=_host(settings), fence=fence)
        return message.message_id

    dispatch_message("SMTP_URL", deliver, lambda: _keep(message), key=message.message_id, fence=fence)


def _keep(message: Message) -> None:
    headers = {"Message-ID": message.message_id, **message.headers}
    if message.reply_to:
        headers["Reply-To"] = message.reply_to
    dev_mailbox.store_message(
        "mail", message.to, message.subject, message.text, _attach_images(message), headers=headers
    )


def _attach_images(message: Message) -> str:
    """The HTML with its pictures in it: the mailbox keeps no files."""
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
