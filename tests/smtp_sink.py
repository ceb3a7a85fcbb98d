"""A test mail server that accepts messages, or refuses, delays or disconnects at a planned step."""

import asyncio
import ssl
import threading
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from email import message_from_bytes, policy
from email.message import EmailMessage
from typing import Any

from aiosmtpd.smtp import SMTP, AuthResult, Envelope, LoginPassword, Session


@dataclass
class Plan:
    """The replies to one message at each step; without a reply the step is accepted."""

    mail: str | None = None
    rcpt: str | None = None
    data: str | None = None
    final: str | None = None
    drop: bool = False
    drop_at_mail: bool = False
    seconds: float = 0.0


@dataclass
class Received:
    sender: str
    recipients: list[str]
    content: bytes
    options: list[str]
    tls: bool

    @property
    def message(self) -> EmailMessage:
        parsed = message_from_bytes(self.content.replace(b"\r\n", b"\n"), policy=policy.default)
        assert isinstance(parsed, EmailMessage)
        return parsed


@dataclass
class Sink:
    port: int = 0
    scheme: str = "smtp"
    login: tuple[str, str] | None = None
    plans: deque[Plan] = field(default_factory=deque)
    commands: list[str] = field(default_factory=list)
    received: list[Received] = field(default_factory=list)
    connections: int = 0
    signed_in: int = 0

    @property
    def url(self) -> str:
        user = f"{self.login[0]}:{self.login[1]}@" if self.login else ""
        return f"{self.scheme}://{user}localhost:{self.port}"

    def next(self, **plan: Any) -> None:
        """Adds a plan for the next message without one. Messages without a plan are accepted."""
        self.plans.append(Plan(**plan))

    def allows(self, session: Session, mechanism: str, data: Any) -> AuthResult:
        credentials = (data.login.decode(), data.password.decode()) if isinstance(data, LoginPassword) else None
        self.signed_in += credentials == self.login
        return AuthResult(success=credentials == self.login, handled=False)


class _Server(SMTP):
    """An SMTP server that records each command before the reply."""

    def __init__(self, sink: Sink, **options: Any) -> None:
        super().__init__(_Handler(sink), hostname="sink.test", **options)
        self.sink = sink
        sink.connections += 1

    async def smtp_DATA(self, arg: str) -> None:  # noqa: N802
        self.sink.commands.append("DATA")
        plan = self.sink.plans[0] if self.sink.plans else Plan()
        if plan.data:
            self.sink.plans.popleft()
            await self.push(plan.data)
            return
        await super().smtp_DATA(arg)


class _Handler:
    def __init__(self, sink: Sink) -> None:
        self.sink = sink

    async def handle_MAIL(  # noqa: N802
        self,
        server: SMTP,
        session: Session,
        envelope: Envelope,
        address: str,
        options: list[str],
    ) -> str:
        self.sink.commands.append("MAIL")
        if self.sink.plans and self.sink.plans[0].drop_at_mail:
            self.sink.plans.popleft()
            _disconnect(server)
            return "421 away"
        envelope.mail_from = address
        envelope.mail_options.extend(options)
        return self._planned("mail") or "250 OK"

    async def handle_RCPT(  # noqa: N802
        self,
        server: SMTP,
        session: Session,
        envelope: Envelope,
        address: str,
        options: list[str],
    ) -> str:
        self.sink.commands.append("RCPT")
        envelope.rcpt_tos.append(address)
        return self._planned("rcpt") or "250 OK"

    async def handle_DATA(self, server: SMTP, session: Session, envelope: Envelope) -> str:  # noqa: N802
        plan = self.sink.plans.popleft() if self.sink.plans else Plan()
        await asyncio.sleep(plan.seconds)
        if plan.final is None:
            self.sink.received.append(_build_received(server, envelope))
        if plan.drop:
            _disconnect(server)
        return plan.final or "250 taken"

    def _planned(self, step: str) -> str | None:
        reply = getattr(self.sink.plans[0], step) if self.sink.plans else None
        if reply:
            self.sink.plans.popleft()
        return reply


@contextmanager
def run_smtp_sink(
    *,
    tls: ssl.SSLContext | None = None,
    starttls: bool = False,
    login: tuple[str, str] | None = None,
    utf8: bool = True,
) -> Iterator[Sink]:
    """A running sink on a free local port, in its own thread."""
    sink = Sink(scheme="smtps" if tls and not starttls else "smtp", login=login)
    options: dict[str, Any] = {"enable_SMTPUTF8": utf8}
    if login:
        options |= {
            "authenticator": lambda server, session, envelope, mechanism, data: sink.allows(session, mechanism, data),
            "auth_require_tls": False,
        }
    if starttls:
        options |= {"tls_context": tls, "require_starttls": True}
    loop = asyncio.new_event_loop()
    serve = loop.create_server(
        lambda: _Server(sink, loop=loop, **options), "127.0.0.1", 0, ssl=None if starttls else tls
    )
    server = loop.run_until_complete(serve)
    sink.port = server.sockets[0].getsockname()[1]
    thread = threading.Thread(target=loop.run_forever, daemon=True)
    thread.start()
    try:
        yield sink
    finally:
        asyncio.run_coroutine_threadsafe(_close(server), loop).result(5)
        loop.call_soon_threadsafe(loop.stop)
        thread.join(90)
        loop.close()


async def _close(server: asyncio.Server) -> None:
    server.close()
    other_tasks = asyncio.all_tasks() - {asyncio.current_task()}
    for task in other_tasks:
        task.cancel()
    await asyncio.gather(*other_tasks, return_exceptions=True)


def _disconnect(server: SMTP) -> None:
    assert isinstance(server.transport, asyncio.Transport)
    server.transport.abort()


def _build_received(server: SMTP, envelope: Envelope) -> Received:
    content = envelope.original_content or b""
    assert server.transport
    return Received(
        sender=envelope.mail_from or "",
        recipients=list(envelope.rcpt_tos),
        content=content,
        options=list(envelope.mail_options),
        tls=server.transport.get_extra_info("ssl_object") is not None,
    )
