"""Mail: one message to one person, over SMTP, with a copy in the mailbox while developing.

Delivery tells three failures apart, because the outbox treats them differently: Permanent (the server said
never), Transient (nothing was delivered), Ambiguous (the final dot was sent and no answer came).
"""

from base64 import b64encode
from collections.abc import Callable
from urllib.parse import quote, urlsplit

import structlog
from flask import current_app

from app.clients import mailbox
from app.clients.counted import counted
from app.clients.message import Attachment, Message
from app.clients.mime import compose
from app.clients.smtp import deliver
from app.config import Settings
from app.core.jobs import Transient
from app.core.transaction import assert_no_transaction

logger = structlog.get_logger(__name__)

__all__ = ["Attachment", "Message", "message_id", "send"]


def message_id(key: str) -> str:
    """`<key@host>`: the same key gives the same id whenever and wherever it is sent."""
    return f"<{quote(key, safe='+=/')}@{_host(_settings())}>"


def send(message: Message, *, fence: Callable[[], None]) -> None:
    """Delivers `message`, calling `fence` right before the point of no return.

    Raises Permanent, Transient or Ambiguous; whatever `fence` raises passes through, with nothing sent.
    """
    assert_no_transaction()
    with counted("mail"):
        _send(message, _settings(), fence)


def _send(message: Message, settings: Settings, fence: Callable[[], None]) -> None:
    envelope = compose(message, mail_from=settings.MAIL_FROM)
    if settings.SMTP_URL:
        deliver(envelope, url=settings.SMTP_URL, hello=_host(settings), fence=fence)
        _keep_copy(message, settings)
        return
    if settings.production:
        raise Transient("SMTP_URL is not set, so no mail can leave")
    fence()
    _keep(message)


def _keep_copy(message: Message, settings: Settings) -> None:
    """A full disk must not make a delivered mail look undelivered, or it would be sent again."""
    if settings.production:
        return
    try:
        _keep(message)
    except Transient as error:
        logger.warning("mailbox_copy_failed", reason=str(error))


def _keep(message: Message) -> None:
    headers = {"Message-ID": message.message_id, **message.headers}
    if message.reply_to:
        headers["Reply-To"] = message.reply_to
    try:
        mailbox.keep("mail", message.to, message.subject, message.text, _illustrated(message), headers=headers)
    except OSError as error:
        raise Transient(f"the mailbox cannot be written: {error.strerror}") from error


def _illustrated(message: Message) -> str:
    """The HTML with its pictures in it: the mailbox keeps no files."""
    html = message.html
    for each in message.attachments:
        if each.cid is not None:
            inline = f"data:{each.content_type};base64,{b64encode(each.content).decode()}"
            html = html.replace(f"cid:{each.cid}", inline)
    return html


def _settings() -> Settings:
    settings: Settings = current_app.extensions["settings"]
    return settings


def _host(settings: Settings) -> str:
    return urlsplit(settings.PUBLIC_BASE_URL).hostname or "localhost"
