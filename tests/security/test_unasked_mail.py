"""Mail that no request of its sender causes (tickets): so many a day for one address, whatever the mail server does."""

from typing import Any

import pytest
from flask import Flask

from app.accounts import outgoing_mail
from app.clients import dev_mailbox
from app.clients.mail import Message
from app.core.jobs import Run, Transient
from app.core.throttle import Rule
from tests.factories.accounts import create_account, list_mails_to

GUEST = "guest@example.org"


class Lease:
    """A lease that nobody takes away."""

    def fence(self) -> None: ...
    def hold_in(self, session: Any) -> None: ...
    def progress_in(self, session: Any) -> None: ...
    def done_in(self, session: Any) -> None: ...


@pytest.fixture(autouse=True)
def _three_a_day(app: Flask, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        outgoing_mail, "UNREQUESTED_MAILS_PER_RECIPIENT", Rule("mails-unasked", 3, outgoing_mail.ONE_DAY)
    )


def send(sender: str, number: int, *, attempt: int = 1) -> None:
    key = f"ticket-{number}"
    message = Message(
        to=GUEST, subject="Your ticket", text="The code", html="<p>The code</p>", message_id=f"<{key}@test>"
    )
    outgoing_mail.send_for_organisation(sender, message, run=Run(number, key, attempt, Lease()), already_counted=False)


def test_one_address_gets_so_many_a_day_from_one_sender() -> None:
    first, second = (create_account("organiser").id for _ in range(2))
    for number in range(5):
        send(first, number)
    assert len(list_mails_to(GUEST)) == 3
    send(second, 9)
    assert len(list_mails_to(GUEST)) == 4


def test_tickets_leave_when_the_mail_server_is_back_however_often_they_were_tried(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    sender = create_account("organiser").id

    def unavailable(*_: Any, **__: Any) -> None:
        raise Transient("no mail server")

    with monkeypatch.context() as outage:
        outage.setattr(outgoing_mail, "send", unavailable)
        for attempt in range(1, 7):
            for number in range(3):
                with pytest.raises(Transient):
                    send(sender, number, attempt=attempt)
    for number in range(3):
        send(sender, number, attempt=7)
    assert len(list_mails_to(GUEST)) == 3
    assert len(dev_mailbox.list_messages()) == 3
