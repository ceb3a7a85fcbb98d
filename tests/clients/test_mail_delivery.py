"""Mail to a server that refuses, disconnects or stops responding at any step."""

import socket
import threading
from typing import Any

import pytest
from flask import Flask

from app.clients import smtp
from app.clients.mail import send
from app.clients.message import PermanentAddressError
from app.core.jobs import Ambiguous, Permanent, Transient
from app.core.transaction import TransactionOpen, transaction
from tests.clients.mails import configure, mail, no_fence
from tests.smtp_sink import Sink

pytestmark = pytest.mark.usefixtures("mailing")


def test_many_mails_share_one_connection(sink: Sink) -> None:
    for _ in range(5):
        send(mail(), fence=no_fence)
    assert (sink.connections, len(sink.received)) == (1, 5)


def test_each_thread_has_its_own_connection(app: Flask, sink: Sink) -> None:
    def in_thread() -> None:
        with app.app_context():
            send(mail(), fence=no_fence)
            smtp.close_connections()

    send(mail(), fence=no_fence)
    thread = threading.Thread(target=in_thread)
    thread.start()
    thread.join()
    assert (sink.connections, len(sink.received)) == (2, 2)


def test_a_connection_is_given_up_after_its_share(sink: Sink, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(smtp, "MAX_REUSED_MESSAGES", 2)
    for _ in range(5):
        send(mail(), fence=no_fence)
    assert (sink.connections, len(sink.received)) == (3, 5)


@pytest.mark.parametrize("plan", [{"drop_at_mail": True}, {"mail": "421 too many here"}])
def test_a_stale_connection_is_replaced_without_anyone_noticing(sink: Sink, plan: dict[str, Any]) -> None:
    send(mail(), fence=no_fence)
    sink.next(**plan)
    send(mail(), fence=no_fence)
    assert (sink.connections, len(sink.received)) == (2, 2)


def test_a_connection_from_before_a_fork_is_not_shared(sink: Sink, monkeypatch: pytest.MonkeyPatch) -> None:
    send(mail(), fence=no_fence)
    monkeypatch.setattr("os.getpid", lambda: -1)
    send(mail(), fence=no_fence)
    assert (sink.connections, len(sink.received)) == (2, 2)


@pytest.mark.parametrize("step", ["mail", "rcpt", "data", "final"])
@pytest.mark.parametrize(
    ("reply", "outcome"),
    [
        ("550 5.1.1 no such person", Permanent),
        ("451 4.3.0 later", Transient),
    ],
)
def test_a_refusal_is_final_or_not_as_the_server_says(
    sink: Sink,
    step: str,
    reply: str,
    outcome: type[Exception],
) -> None:
    sink.next(**{step: reply})
    with pytest.raises(outcome, match=reply[:9]):
        send(mail(), fence=no_fence)
    assert sink.received == []
    send(mail(), fence=no_fence)
    assert len(sink.received) == 1


def test_a_server_that_hangs_up_after_the_final_dot_leaves_it_open(sink: Sink) -> None:
    sink.next(drop=True)
    with pytest.raises(Ambiguous):
        send(mail(), fence=no_fence)
    assert len(sink.received) == 1


def test_a_server_that_falls_silent_after_the_final_dot_leaves_it_open(
    sink: Sink,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(smtp, "COMMAND_SECONDS", 0.3)
    sink.next(seconds=1.5)
    with pytest.raises(Ambiguous):
        send(mail(), fence=no_fence)


def test_no_mail_takes_longer_than_its_time(sink: Sink, app: Flask, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(smtp, "MAX_MAIL_SECONDS", 0.3)
    with socket.create_server(("127.0.0.1", 0)) as silent:
        configure(app, SMTP_URL=f"smtp://127.0.0.1:{silent.getsockname()[1]}")
        with pytest.raises(Transient):
            send(mail(), fence=no_fence)


def test_a_refused_connection_can_be_tried_again(app: Flask) -> None:
    with socket.create_server(("127.0.0.1", 0)) as closing:
        port = closing.getsockname()[1]
    configure(app, SMTP_URL=f"smtp://127.0.0.1:{port}")
    with pytest.raises(Transient, match="cannot be reached"):
        send(mail(), fence=no_fence)


def test_the_fence_comes_after_the_recipient_and_before_the_data(sink: Sink) -> None:
    seen: list[list[str]] = []
    send(mail(), fence=lambda: seen.append(list(sink.commands)))
    assert seen == [["MAIL", "RCPT"]]


def test_raising_fence_stops_the_mail(sink: Sink) -> None:
    class Lost(Exception):
        pass

    def fence() -> None:
        raise Lost

    with pytest.raises(Lost):
        send(mail(), fence=fence)
    assert "DATA" not in sink.commands
    send(mail(), fence=no_fence)
    assert len(sink.received) == 1


def test_sending_inside_a_transaction_raises(sink: Sink) -> None:
    with pytest.raises(TransactionOpen), transaction():
        send(mail(), fence=no_fence)
    assert sink.connections == 0


def test_server_that_is_too_slow_gets_no_data(sink: Sink, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(smtp, "MIN_DATA_SECONDS", smtp.MAX_MAIL_SECONDS)
    with pytest.raises(Transient, match="slow"):
        send(mail(), fence=no_fence)
    assert "DATA" not in sink.commands


@pytest.mark.parametrize(
    ("reply", "nobody"),
    [
        ("550 5.1.1 No such user", True),
        ("553 5.1.3 Bad address", True),
        ("550 No such user", True),
        ("551 Moved", True),
        ("556 5.1.10 Null MX", True),
        ("550 5.2.1 Disabled", True),
        ("550 5.7.1 You are on a list", False),
        ("552 5.2.2 Mailbox full", False),
        ("554 No", False),
        ("550 5.7.26 Not signed", False),
        ("550 5.1.8 Bad sender", False),
    ],
)
def test_only_refusals_of_the_address_suppress_it(sink: Sink, reply: str, nobody: bool) -> None:
    sink.next(rcpt=reply)
    with pytest.raises(Permanent, match=reply[:3]) as refused:
        send(mail(), fence=no_fence)
    assert isinstance(refused.value, PermanentAddressError) is nobody
    sink.next(final=reply)
    with pytest.raises(Permanent) as refused:
        send(mail(), fence=no_fence)
    assert not isinstance(refused.value, PermanentAddressError)
