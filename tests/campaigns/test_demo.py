"""The demo campaigns."""

from flask import Flask

from app import demo
from app.clients import dev_mailbox
from tests.factories.accounts import run_jobs
from tests.factories.campaigns import fetch_sql_rows, make_postponed_jobs_due


def test_one_campaign_is_sent_and_one_is_a_draft(app: Flask) -> None:
    assert demo.seed() and not demo.seed()
    for _ in range(6):
        run_jobs()
        make_postponed_jobs_due()
    assert fetch_sql_rows("SELECT name, status FROM campaign ORDER BY name") == [
        ("Gates and parking", "sent"),
        ("Thank you", "draft"),
    ]
    mails = [
        message
        for message in dev_mailbox.list_messages()
        if "Windhoek Lights" in message["subject"] and "/r/" in message["text"]
    ]
    assert len(mails) == 5 and all("Unsubscribe" in "".join(mail["headers"]) for mail in mails)
