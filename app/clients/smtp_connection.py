"""Opening of an SMTP connection by the URL in SMTP_URL: greeting, encryption and login."""

import smtplib
import ssl
import time
from dataclasses import dataclass
from functools import lru_cache
from typing import Any
from urllib.parse import parse_qs, unquote, urlsplit

CONNECT_SECONDS, COMMAND_SECONDS = 5.0, 15.0


@dataclass(frozen=True)
class _Server:
    host: str
    port: int
    tls: bool
    starttls: bool
    user: str
    password: str


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
