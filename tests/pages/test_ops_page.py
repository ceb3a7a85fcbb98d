"""The operations page: what it tells, for how long, that it changes nothing; and how it looks."""

import time
from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta

import pytest
from flask import Flask
from playwright.sync_api import Browser
from sqlalchemy import text

from app.core.db import db, transaction_engine
from app.core.outbox import heartbeat
from app.core.transaction import transaction
from app.web.operations_page import queries
from app.web.operations_page.links import LINK_SECONDS, build_link, encode_token
from tests.counting import count_statements
from tests.factories.outbox import add_job
from tests.pages.browser import open_view
from tests.pages.pages import Visitor

SERIES = "ops"
REFUSED = "Permanent: 550 5.1.1 <b>nobody</b> is called that here"
LOST = text("INSERT INTO heartbeat (name, at) VALUES ('worker:bar-2:4711', now() - interval '12 minutes')")


@pytest.fixture(autouse=True)
def _looked_at_anew(app: Flask) -> Iterator[None]:
    """Readiness and figures are remembered for seconds; what a test breaks is not left to the next one."""
    for name in ("computed_metrics", "readiness"):
        app.extensions.pop(name, None)
    yield
    for name in ("computed_metrics", "readiness"):
        app.extensions.pop(name, None)


@pytest.fixture
def path(app: Flask) -> str:
    return f"/ops/{build_link().rpartition('/')[2]}"


@pytest.fixture
def trouble(app: Flask) -> None:
    """Work that waits, work that has ended badly, a worker that is gone."""
    add_job("ready", timedelta(minutes=12), kind="accounts.renew_code")
    add_job("dead", timedelta(minutes=3), kind="campaigns.deliver", error=REFUSED)
    add_job("uncertain", timedelta(minutes=2), kind="campaigns.deliver", error="Ambiguous: the line broke")
    heartbeat.record_heartbeat(heartbeat.RELAY)
    with transaction() as session:
        session.execute(LOST)


def test_it_tells_what_waits_what_ended_badly_and_who_is_gone(trouble: None, path: str, visitor: Visitor) -> None:
    page = visitor.open(path)
    assert page.status_code == 200
    for words in (
        "Ready, with something missing.",
        "the oldest for 12 minutes",
        "accounts.renew_code",
        "campaigns.deliver",
        "uncertain",
        "&lt;b&gt;nobody&lt;/b&gt;",
        "the line broke",
        "worker:bar-2:4711",
        "12 minutes ago: stopped",
        "none: mail, codes and reports are not sent",
        "none open",
    ):
        assert words in page.text, words
    assert "<b>nobody" not in page.text


def test_it_says_so_when_all_is_quiet(app: Flask, path: str, visitor: Visitor) -> None:
    page = visitor.open(path)
    for words in ("No job is due.", "No failed jobs.", "No process has reported"):
        assert words in page.text, words


def test_it_answers_while_the_database_does_not(
    app: Flask, path: str, visitor: Visitor, monkeypatch: pytest.MonkeyPatch
) -> None:
    away = replace(app.extensions["settings"], DATABASE_URL="postgresql://nobody@127.0.0.1:9/none")
    monkeypatch.setitem(app.extensions, "settings", away)
    page = visitor.open(path)
    assert page.status_code == 200
    for words in ("Not ready.", "does not answer", "we cannot count the waiting jobs"):
        assert words in page.text, words


def test_a_link_is_good_for_ten_minutes(app: Flask, visitor: Visitor) -> None:
    now = int(time.time())
    assert visitor.open(f"/ops/{encode_token(now + 5)}").status_code == 200
    page = visitor.open(f"/ops/{encode_token(now)}")
    assert page.status_code == 410 and "prints a new one" in page.text
    assert LINK_SECONDS == 600


@pytest.mark.parametrize("token", ["nothing", "x" * 43, encode_token.__name__])
def test_a_link_that_was_never_made_is_unknown(app: Flask, visitor: Visitor, token: str) -> None:
    assert visitor.open(f"/ops/{token}").status_code == 404


def test_one_changed_character_makes_it_unknown(path: str, visitor: Visitor) -> None:
    for place in (5, 20, -1):
        letter = "A" if path[place] != "A" else "B"
        changed = f"{path[:place]}{letter}{path[place + 1 :] if place != -1 else ''}"
        assert visitor.open(changed).status_code == 404, changed


def test_it_only_shows(path: str, visitor: Visitor) -> None:
    answers = [visitor.flask.open(path, method=method).status_code for method in ("HEAD", "POST", "PUT", "DELETE")]
    assert answers[0] == 200 and not {200, 201, 204} & set(answers[1:])


def test_nobody_keeps_it_and_nothing_is_loaded(path: str, visitor: Visitor) -> None:
    headers = visitor.open(path).headers
    assert headers["Cache-Control"] == "no-store" and headers["Referrer-Policy"] == "no-referrer"
    assert "default-src 'none'" in headers["Content-Security-Policy"]


def test_it_takes_six_statements_however_much_has_happened(trouble: None, path: str, visitor: Visitor) -> None:
    answer, took = count_statements(lambda: visitor.flask.get(path))
    assert answer.status_code == 200 and len(took) <= 6, "\n\n".join(took)


@pytest.mark.parametrize(
    ("statement", "index"), [(queries.DUE_ROWS_SQL, "ix_outbox_due"), (queries.FAILED_ROWS_SQL, "ix_outbox_ended")]
)
def test_rows_are_found_by_an_index(app: Flask, statement: str, index: str) -> None:
    with transaction_engine(db.engine).connect() as connection:
        connection.exec_driver_sql("SET LOCAL enable_seqscan = off")
        plan = "\n".join(connection.exec_driver_sql(f"EXPLAIN {statement}").scalars())
    assert index in plan and "Seq Scan on outbox" not in plan


def test_the_command_prints_a_link_that_opens_the_page(app: Flask, visitor: Visitor) -> None:
    told = app.test_cli_runner().invoke(args=["ops", "link"])
    assert told.exit_code == 0
    address = told.stdout.split()[-1]
    assert visitor.open("/" + address.split("/", 3)[3]).status_code == 200


@pytest.mark.parametrize("scripts", [True, False], ids=["scripts", "plain"])
def test_how_it_looks(trouble: None, path: str, address: str, chromium: Browser, scripts: bool) -> None:
    with open_view(chromium, SERIES, scripts=scripts) as view:
        view.page.goto(address + path)
        view.check("trouble")


def test_how_it_looks_when_all_is_quiet_and_when_the_link_is_dead(
    app: Flask, path: str, address: str, chromium: Browser
) -> None:
    heartbeat.record_heartbeat(heartbeat.RELAY)
    heartbeat.record_heartbeat(heartbeat.worker_name())
    with open_view(chromium, SERIES) as view:
        view.page.goto(address + path)
        view.check("quiet")
        view.page.goto(f"{address}/ops/{encode_token(1)}")
        view.check("dead")
