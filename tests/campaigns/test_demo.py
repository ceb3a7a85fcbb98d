"""The demo campaigns."""

from flask import Flask

from app import demo
from app.clients import dev_mailbox
from tests.factories.accounts import deliver
from tests.factories.campaigns import hurry, rows


def test_one_campaign_is_sent_and_one_is_a_draft(app: Flask) -> None:
    assert demo.seed() and not demo.seed()
    for _ in range(4):
        deliver()
        hurry()
    assert rows("SELECT name, status FROM campaign ORDER BY name") == [
        ("Gates and parking", "sent"),
        ("Thank you", "draft"),
    ]
    mails = [
        message
        for message in dev_mailbox.list_messages()
        if "Windhoek Lights" in message["subject"] and "/r/" in message["text"]
    ]
    assert len(mails) == 5 and all("Unsubscribe" in "".join(mail["headers"]) for mail in mails)
