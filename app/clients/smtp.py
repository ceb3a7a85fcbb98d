"""The SMTP conversation: one connection per thread, reused, and never more than 18 s for one mail."""

import os
import re
import smtplib
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass

from app.clients.errors import PermanentAddressError
from app.clients.mime import Envelope
from app.clients.smtp_connection import Smtp, connect
from app.core.jobs import Ambiguous, Permanent, Transient

MAIL_SECONDS, LAST_SECONDS = 18.0, 3.0
REUSED_MESSAGES, REUSED_SECONDS = 100, 30.0
NOBODY = (b"1.1", b"1.2", b"1.3", b"1.6", b"1.10", b"2.1")
"""Enhanced statuses (RFC 3463, RFC 7505) of an address that takes no mail now or later: unknown, moved, disabled."""
_ENHANCED = re.compile(rb"5\.(\d{1,3}\.\d{1,3})\b")
_LEADING_DOT = re.compile(rb"(?m)^\.")


@dataclass
class _Line:
    smtp: Smtp
    url: str
    process: int
    opened: float
    messages: int = 0

    def usable(self, url: str) -> bool:
        """A connection made before a fork belongs to the parent as well: two would talk over each other."""
        fresh = time.monotonic() - self.opened < REUSED_SECONDS and self.messages < REUSED_MESSAGES
        return fresh and self.url == url and self.process == os.getpid()


class _Thread(threading.local):
    line: _Line | None = None


_thread = _Thread()


def deliver(envelope: Envelope, *, url: str, hello: str, fence: Callable[[], None]) -> None:
    """Hands the mail to the server at `url`; `fence` runs after the recipient is accepted, before DATA."""
    deadline = time.monotonic() + MAIL_SECONDS
    try:
        line = _addressed(envelope, url, hello, deadline)
        if deadline - time.monotonic() < LAST_SECONDS:
            raise Transient("the mail server was so slow that no time is left to hand the message over")
        fence()
        _hand_over(line.smtp, envelope.content)
        line.messages += 1
    except BaseException:
        close_connections()
        raise


def close_connections() -> None:
    """Ends this thread's connection, if it has one."""
    line, _thread.line = _thread.line, None
    if line is None:
        return
    if line.process == os.getpid():
        _quit(line.smtp)
    line.smtp.close()


def _addressed(envelope: Envelope, url: str, hello: str, deadline: float) -> _Line:
    """A connection on which sender and recipient are accepted. A stale one is replaced once."""
    line = _thread.line
    if line and line.usable(url):
        line.smtp.deadline = deadline
        try:
            return _address(line, envelope)
        except OSError:
            close_connections()
    close_connections()
    try:
        _thread.line = line = _Line(connect(url, hello, deadline), url, os.getpid(), time.monotonic())
        return _address(line, envelope)
    except OSError as error:
        raise Transient(f"the mail server cannot be reached or used: {_reason(error)}") from error


def _address(line: _Line, envelope: Envelope) -> _Line:
    if envelope.utf8 and not line.smtp.has_extn("smtputf8"):
        raise Permanent("the mail server does not take addresses outside ASCII")
    _expect(250, line.smtp.mail(envelope.sender, ["SMTPUTF8", "BODY=8BITMIME"] if envelope.utf8 else ()))
    _expect(250, _reuse_connection(line.smtp.rcpt(envelope.recipient)))
    return line


def _reuse_connection(answer: tuple[int, bytes]) -> tuple[int, bytes]:
    """The answer to RCPT. Raises AddressRefused when there is nobody; what is said of us, or of a full mailbox, is not
    said of the address."""
    got, text = answer
    status = _ENHANCED.match(text)
    nobody = status[1] in NOBODY if status else got in (550, 551, 553)
    if 500 <= got <= 599 and nobody:
        raise PermanentAddressError(f"the mail server refused the address: {_reply_text(answer)}")
    return answer


def _hand_over(smtp: Smtp, content: bytes) -> None:
    try:
        _expect(354, smtp.docmd("DATA"))
        smtp.send(_LEADING_DOT.sub(b"..", content) + b".\r\n")
    except OSError as error:
        raise Transient(f"the mail server went away before the last line: {_reason(error)}") from error
    try:
        answer = smtp.getreply()
    except OSError as error:
        raise Ambiguous(f"the message was handed over and no answer came: {_reason(error)}") from error
    _expect(250, answer, final=True)


def _expect(code: int, answer: tuple[int, bytes], *, final: bool = False) -> None:
    """421 closes the connection whenever it comes, so before the final dot it counts as a lost one."""
    got, _ = answer
    if got == code or (code == 250 and got == 251):
        return
    if got == 421 and not final:
        raise smtplib.SMTPServerDisconnected("421 from the server")
    if 500 <= got <= 599 and got != 530:
        raise Permanent(f"the mail server refused: {_reply_text(answer)}")
    raise Transient(f"the mail server put it off: {_reply_text(answer)}")


def _reply_text(answer: tuple[int, bytes]) -> str:
    return f"{answer[0]} {' '.join(answer[1].decode(errors='replace').split())}"[:200]


def _quit(smtp: Smtp) -> None:
    try:
        smtp.deadline = time.monotonic() + 1
        smtp.putcmd("quit")
    except OSError:
        return


def _reason(error: OSError) -> str:
    return " ".join(str(error).split())[:200] or type(error).__name__
