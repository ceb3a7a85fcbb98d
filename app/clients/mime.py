"""A message as MIME bytes: headers safe from injection, plain text and HTML as alternatives.

Headers are encoded without the email library's parsing, which decodes header values before it writes them: an encoded word
(`=?utf-8?q?=0d=0aBcc:_x?=`) that somebody typed as their name would become a header of its own. A value that looks like an
encoded word, or is not ASCII, is encoded as text.
"""

import re
from dataclasses import dataclass
from email import policy
from email.header import Header
from email.headerregistry import Address
from email.message import EmailMessage
from email.policy import Policy
from email.utils import format_datetime, formataddr, parseaddr
from typing import cast

import idna

from app.clients.message import Attachment, Message
from app.core.clock import utcnow
from app.core.jobs import Permanent

_CONTROL = re.compile(r"[\x00-\x1f\x7f\x85\u2028\u2029]")
_HEADER_NAME = re.compile(r"[A-Za-z0-9-]+")
_ADDRESS_PATTERN = re.compile(r"[^\s<>\"(),:;\[\]\\@]+@[^\s<>\"(),:;\[\]\\@]+")
_POLICY = policy.SMTP.clone(cte_type="7bit")


@dataclass(frozen=True)
class Envelope:
    """The SMTP envelope with the message. With `utf8` the server must support SMTPUTF8."""

    sender: str
    recipient: str
    content: bytes
    utf8: bool


def compose(message: Message, *, mail_from: str) -> Envelope:
    """Encode a message for SMTP. Raises Permanent if it cannot be sent to any server."""
    sender = _normalize_address(parseaddr(mail_from)[1])
    recipient = _normalize_address(message.to)
    mime = EmailMessage(policy=_POLICY)
    try:
        utf8 = not (sender + recipient).isascii()
        mime["From"] = format_mailbox("From", _sender_name(message, mail_from), sender)
        mime["To"] = format_line("To", _encode_address(recipient))
        _set_reply_to(mime, message, utf8=utf8)
        _set_headers(mime, message)
        _set_body(mime, message)
        content = mime.as_bytes(policy=_POLICY.clone(utf8=True) if utf8 else _POLICY)
    except (ValueError, LookupError) as error:
        raise Permanent(f"the message cannot be written: {error}") from error
    return Envelope(sender=sender, recipient=recipient, content=content, utf8=utf8)


def _set_reply_to(mime: EmailMessage, message: Message, *, utf8: bool) -> None:
    """Set Reply-To. A non-ASCII address is left out if the mail does not need SMTPUTF8 anyway."""
    if message.reply_to:
        address = _normalize_address(message.reply_to)
        if utf8 or address.isascii():
            mime["Reply-To"] = format_line("Reply-To", _encode_address(address))


def _set_headers(mime: EmailMessage, message: Message) -> None:
    standard = {"Subject": message.subject, "Message-ID": message.message_id, "Date": format_datetime(utcnow())}
    for name, value in {"Auto-Submitted": "auto-generated", **standard, **message.headers}.items():
        if not _HEADER_NAME.fullmatch(name) or _CONTROL.search(value):
            raise ValueError(f"header {name!r} holds a line break or control character")
        if name in mime or name.lower().startswith(("content-", "mime-")):
            raise ValueError(f"header {name!r} is not the caller's to set")
        mime[name] = encode_text(name, value)


def _encode_address(address: str) -> str:
    user, _, domain = address.rpartition("@")
    return Address(username=user, domain=domain).addr_spec


def _set_body(mime: EmailMessage, message: Message) -> None:
    mime.set_content(message.text, cte="quoted-printable")
    if message.html:
        mime.add_alternative(message.html, subtype="html", cte="quoted-printable")
        _add_pictures(mime, message)
    for attachment in message.attachments:
        if attachment.cid is None:
            main, _, sub = attachment.content_type.partition("/")
            mime.add_attachment(attachment.content, maintype=main, subtype=sub, filename=_safe_filename(attachment))


def _add_pictures(mime: EmailMessage, message: Message) -> None:
    """Add pictures as parts related to the HTML, not as attachments."""
    html = cast(EmailMessage, mime.get_payload(1))
    for attachment in message.attachments:
        if attachment.cid is not None:
            main, _, sub = attachment.content_type.partition("/")
            html.add_related(
                attachment.content,
                maintype=main,
                subtype=sub,
                cid=f"<{attachment.cid}>",
                disposition="inline",
                filename=_safe_filename(attachment),
            )


def _safe_filename(file: Attachment) -> str:
    """The file name without encoded words, which the library would decode."""
    return file.filename.replace("=?", "=_")


def _sender_name(message: Message, mail_from: str) -> str:
    service = parseaddr(mail_from)[0]
    if not message.sender_name:
        return service
    if _CONTROL.search(message.sender_name):
        raise Permanent("the sender's name holds a line break or control character")
    return f"{message.sender_name} via {service}" if service else message.sender_name


def _normalize_address(text: str) -> str:
    """The address with its domain in ASCII. Raises Permanent for an invalid address."""
    user, _, domain = text.rpartition("@")
    try:
        ascii_domain = domain if domain.isascii() else idna.encode(domain, uts46=True).decode()
    except idna.IDNAError as error:
        raise Permanent("the address has no valid domain") from error
    if not _ADDRESS_PATTERN.fullmatch(f"{user}@{ascii_domain}") or _CONTROL.search(text):
        raise Permanent("the address is not one that mail can be sent to")
    return f"{user}@{ascii_domain}"


MAX_UNFOLDED_LENGTH = 900
"""A line may have 998 bytes. Links are never folded, because mail programs do not join them again."""


class Line(str):
    """A header's value that the library writes unchanged, because it has the `name` and `fold` of its header class."""

    name: str

    def fold(self, *, policy: Policy) -> str:
        return f"{self.name}: {self}{policy.linesep}"


def format_line(name: str, value: str) -> Line:
    """A header whose value is written unchanged."""
    line = Line(value)
    line.name = name
    return line


def encode_text(name: str, value: str) -> Line:
    """A header of free text: folded at blanks, and encoded if necessary."""
    if _is_plain(value) and " " not in value and len(value) <= MAX_UNFOLDED_LENGTH:
        return format_line(name, value)
    return format_line(
        name, Header(value, "us-ascii" if _is_plain(value) else "utf-8", header_name=name).encode(linesep="\r\n")
    )


def format_mailbox(name: str, display_name: str, address: str) -> Line:
    """A header with a display name and an address; the address is written unchanged."""
    if not display_name or _is_plain(display_name):
        return format_line(name, formataddr((display_name, address)))
    return format_line(
        name, f"{Header(display_name, 'utf-8', header_name=name).encode(linesep=chr(13) + chr(10))}\r\n <{address}>"
    )


def _is_plain(value: str) -> bool:
    return value.isascii() and "=?" not in value
