"""Delivery of a mail over SMTP_URL: one connection per thread, reused, and at most 18 s per mail."""

import os
import re
import smtplib
import ssl
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import Any
from urllib.parse import parse_qs, unquote, urlsplit

from app.clients.message import PermanentAddressError
from app.clients.mime import Envelope
from app.core.jobs import Ambiguous, Permanent, Transient

MAX_MAIL_SECONDS, MIN_DATA_SECONDS = 18.0, 3.0
MAX_REUSED_MESSAGES, MAX_REUSED_SECONDS = 100, 30.0
UNKNOWN_ADDRESS_CODES = (b"1.1", b"1.2", b"1.3", b"1.6", b"1.10", b"2.1")
"""Enhanced status codes (RFC 3463, RFC 7505) of an address that never takes mail: unknown, moved, disabled."""
_ENHANCED = re.compile(rb"5\.(\d{1,3}\.\d{1,3})\b")
_LEADING_DOT = re.compile(rb"(?m)^\.")


class Smtp(smtplib.SMTP):
    """An SMTP client with a deadline for the whole mail (monotonic seconds), which limits each send and reply."""

    def __init__(self, *, deadline: float, **options: Any) -> None:
        self.deadline = deadline
        super().__init__(**options)

    def send(self, s: Any) -> None:
        self._limit_timeout()
        super().send(s)

    def getreply(self) -> tuple[int, bytes]:
        self._limit_timeout()
        return super().getreply()

    def _limit_timeout(self) -> None:
        remaining = self.deadline - time.monotonic()
        if remaining <= 0:
            raise TimeoutError("the time for this mail is over")
        if self.sock:
            self.sock.settimeout(min(COMMAND_SECONDS, remaining))


@dataclass
class _Connection:
    smtp: Smtp
    url: str
    process: int
    opened: float
    messages: int = 0

    def is_usable(self, url: str) -> bool:
        """Whether it may be reused. A connection from before a fork may not: the parent process uses it too."""
        is_recent = time.monotonic() - self.opened < MAX_REUSED_SECONDS and self.messages < MAX_REUSED_MESSAGES
        return is_recent and self.url == url and self.process == os.getpid()


class _ThreadState(threading.local):
    connection: _Connection | None = None


_thread_state = _ThreadState()


def deliver(envelope: Envelope, *, url: str, host_name: str, fence: Callable[[], None]) -> None:
    """Send the mail to the server at `url`. `fence` runs after the recipient is accepted, before DATA.

    Raises Permanent, Transient or Ambiguous.
    """
    deadline = time.monotonic() + MAX_MAIL_SECONDS
    try:
        connection = _start_mail(envelope, url, host_name, deadline)
        if deadline - time.monotonic() < MIN_DATA_SECONDS:
            raise Transient("the mail server was so slow that no time is left to hand the message over")
        fence()
        _send_content(connection.smtp, envelope.content)
        connection.messages += 1
    except BaseException:
        close_connections()
        raise


def close_connections() -> None:
    """Close this thread's connection, if it has one."""
    connection, _thread_state.connection = _thread_state.connection, None
    if connection is None:
        return
    if connection.process == os.getpid():
        _quit(connection.smtp)
    connection.smtp.close()


def _start_mail(envelope: Envelope, url: str, host_name: str, deadline: float) -> _Connection:
    """A connection on which sender and recipient are accepted. A reused one that fails is replaced."""
    connection = _thread_state.connection
    if connection and connection.is_usable(url):
        connection.smtp.deadline = deadline
        try:
            return _send_addresses(connection, envelope)
        except OSError:
            close_connections()
    close_connections()
    try:
        _thread_state.connection = connection = _Connection(
            connect(url, host_name, deadline), url, os.getpid(), time.monotonic()
        )
        return _send_addresses(connection, envelope)
    except OSError as error:
        raise Transient(f"the mail server cannot be reached or used: {_reason(error)}") from error


def _send_addresses(connection: _Connection, envelope: Envelope) -> _Connection:
    if envelope.utf8 and not connection.smtp.has_extn("smtputf8"):
        raise Permanent("the mail server does not take addresses outside ASCII")
    _expect(250, connection.smtp.mail(envelope.sender, ["SMTPUTF8", "BODY=8BITMIME"] if envelope.utf8 else ()))
    _expect(250, _check_recipient(connection.smtp.rcpt(envelope.recipient)))
    return connection


def _check_recipient(reply: tuple[int, bytes]) -> tuple[int, bytes]:
    """The reply to RCPT. Raises PermanentAddressError if the address takes no mail.

    A refusal of the sender, or a full mailbox, does not mean that.
    """
    code, text = reply
    status = _ENHANCED.match(text)
    is_unknown_address = status[1] in UNKNOWN_ADDRESS_CODES if status else code in (550, 551, 553)
    if 500 <= code <= 599 and is_unknown_address:
        raise PermanentAddressError(f"the mail server refused the address: {_reply_text(reply)}")
    return reply


def _send_content(smtp: Smtp, content: bytes) -> None:
    try:
        _expect(354, smtp.docmd("DATA"))
        smtp.send(_LEADING_DOT.sub(b"..", content) + b".\r\n")
    except OSError as error:
        raise Transient(f"the mail server went away before the last line: {_reason(error)}") from error
    try:
        reply = smtp.getreply()
    except OSError as error:
        raise Ambiguous(f"the message was handed over and no answer came: {_reason(error)}") from error
    _expect(250, reply, final=True)


def _expect(expected: int, reply: tuple[int, bytes], *, final: bool = False) -> None:
    """Raise Permanent or Transient unless the reply has the expected code.

    421 closes the connection, so before the final dot it counts as a lost connection.
    """
    code, _ = reply
    if code == expected or (expected == 250 and code == 251):
        return
    if code == 421 and not final:
        raise smtplib.SMTPServerDisconnected("421 from the server")
    if 500 <= code <= 599 and code != 530:
        raise Permanent(f"the mail server refused: {_reply_text(reply)}")
    raise Transient(f"the mail server put it off: {_reply_text(reply)}")


def _reply_text(reply: tuple[int, bytes]) -> str:
    return f"{reply[0]} {' '.join(reply[1].decode(errors='replace').split())}"[:200]


def _quit(smtp: Smtp) -> None:
    try:
        smtp.deadline = time.monotonic() + 1
        smtp.putcmd("quit")
    except OSError:
        return


def _reason(error: OSError) -> str:
    return " ".join(str(error).split())[:200] or type(error).__name__


CONNECT_SECONDS, COMMAND_SECONDS = 5.0, 15.0


@dataclass(frozen=True)
class _Server:
    host: str
    port: int
    tls: bool
    starttls: bool
    user: str
    password: str


class SmtpTls(Smtp, smtplib.SMTP_SSL):
    """The same over TLS from the first byte."""


def connect(url: str, hello: str, deadline: float) -> Smtp:
    """A connection after EHLO, with TLS and login as the URL demands. Raises OSError."""
    server = _parse_url(url)
    smtp_class = SmtpTls if server.tls else Smtp
    options = {"context": ssl.create_default_context()} if server.tls else {}
    smtp = smtp_class(
        deadline=deadline, host=server.host, port=server.port, local_hostname=hello, timeout=CONNECT_SECONDS, **options
    )
    try:
        smtp.ehlo_or_helo_if_needed()
        if server.starttls:
            smtp.starttls(context=ssl.create_default_context())
            smtp.ehlo_or_helo_if_needed()
        if server.user:
            smtp.login(server.user, server.password)
    except BaseException:
        smtp.close()
        raise
    return smtp


@lru_cache(maxsize=8)
def _parse_url(url: str) -> _Server:
    parts = urlsplit(url)
    tls = parts.scheme == "smtps"
    starttls = not tls and parse_qs(parts.query).get("starttls", ["0"])[0] in ("1", "true", "yes")
    port = parts.port or (465 if tls else 587 if starttls else 25)
    return _Server(
        host=parts.hostname or "localhost",
        port=port,
        tls=tls,
        starttls=starttls,
        user=unquote(parts.username or ""),
        password=unquote(parts.password or ""),
    )
