"""A mail server and an application that sends through it."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from flask import Flask

from app.clients import smtp
from tests.clients.mails import configure
from tests.smtp_sink import Sink, run_smtp_sink


@pytest.fixture
def sink() -> Iterator[Sink]:
    with run_smtp_sink() as started:
        yield started


@pytest.fixture
def mailing(app: Flask, sink: Sink, tmp_path: Path) -> Iterator[None]:
    """The application sends through the sink and keeps its mailbox in a folder of the test."""
    before = app.extensions["settings"]
    configure(
        app,
        SMTP_URL=sink.url,
        DATA_DIR=tmp_path,
        MAIL_FROM="Event Commerce <no-reply@events.example>",
        PUBLIC_BASE_URL="https://events.example",
    )
    yield
    smtp.close_connections()
    app.extensions["settings"] = before
