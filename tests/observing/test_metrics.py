"""`/metrics`: what it counts, what it looks up, and who may read it."""

import re
from datetime import timedelta
from pathlib import Path
from types import SimpleNamespace

import pytest
from flask import Flask
from redis import Redis
from sqlalchemy import text
from sqlalchemy.exc import TimeoutError

from app.clients import mail
from app.clients.payrail import rail
from app.core.db import db, transaction_engine
from app.core.jobs import Permanent
from app.core.metrics import Metric
from app.core.outbox import heartbeat
from app.web.error_handlers import to_app_error
from app.web.metrics_endpoint import response
from tests.exposition import read_value
from tests.factories.outbox import add_job
from tests.http import Client, read_error
from tests.settings import app_for
from tests.timing import assert_in_time

LINE = re.compile(r'[a-zA-Z_:][\w:]*(\{(\w+="([^"\\\n]|\\["\\n])*"(,|(?=\})))+\})? (-?[\d.e+-]+|\+Inf|NaN)')
TOKEN = "a-token-for-prometheus-only"
OUTSIDE = {"REMOTE_ADDR": "203.0.113.9"}


@pytest.fixture(autouse=True)
def _looked_at_anew(app: Flask) -> None:
    app.extensions.pop("computed_metrics", None)


def read(client: Client) -> str:
    answer = client.get("/metrics")
    assert answer.status_code == 200
    return answer.get_data(as_text=True)


value = read_value


def test_what_has_no_labels_is_told_before_anybody_counts(client: Client) -> None:
    """Between nothing and one Prometheus sees no rise; between zero and one it does."""
    page = read(client)
    plain = {item.name for item in Metric.catalogue.values() if item.stored and not item.labels}
    assert {"commerce_database_pool_timeouts_total", "commerce_log_lines_lost_total"} <= plain
    assert not [name for name in plain if not re.search(rf"^{name} \S+$", page, re.M)]


def test_every_line_is_one_that_prometheus_takes(client: Client) -> None:
    client.get("/health")
    answer = client.get("/metrics")
    assert answer.headers["Content-Type"] == "text/plain; version=0.0.4; charset=utf-8"
    page = answer.get_data(as_text=True)
    assert page.endswith("\n")
    names = set()
    for line in page.splitlines():
        if line.startswith("# TYPE "):
            name, kind = line.split()[2:]
            assert name not in names and kind == Metric.catalogue[name].kind
            names.add(name)
        elif not line.startswith("# HELP "):
            assert LINE.fullmatch(line), line
    assert len(names) > 12


def test_a_request_is_counted_by_its_route_and_never_by_its_path(client: Client) -> None:
    rule = next(str(it) for it in client.flask.application.url_map.iter_rules() if "media" in str(it))
    series = f'commerce_http_requests_total{{route="{rule}",method="GET",status="404"}}'
    seconds = f'commerce_http_request_seconds_count{{route="{rule}",method="GET"}}'
    before = read(client)
    for number in range(3):
        client.get(rule.replace("<name>", f"secret-{number}.png"))
    client.get("/no/such/secret-place")
    client.open("PURGE", "/secret")
    after = read(client)
    assert value(after, series) - value(before, series) == 3
    assert value(after, seconds) - value(before, seconds) == 3
    assert 'method="GET",route="none",status="404"' in after
    assert 'method="other",route="none"' in after
    assert "secret" not in after


def test_pages_are_counted_by_their_rule(client: Client) -> None:
    client.get("/claim/canary-token-of-43-characters-canary-token-x")
    page = read(client)
    assert 'route="/claim/<token>"' in page
    assert "canary" not in page


def test_only_this_request_is_in_flight_and_no_connection_stays_taken(app: Flask, tmp_path: Path) -> None:
    """On a node of its own: what other processes have taken is theirs."""
    ours = app.extensions["settings"]
    node = app_for(database_url=ours.DATABASE_URL, redis_url=ours.REDIS_URL, METRICS_DIR=str(tmp_path))
    client = Client(node.test_client())
    client.get("/api/events/public")
    page = read(client)
    assert "\ncommerce_database_pool_in_use 0.0\n" in page
    assert value(page, "commerce_http_requests_in_flight") == 1
    with node.app_context():
        with db.engine.connect():
            client.get("/api/events/public")
            assert "\ncommerce_database_pool_in_use 1.0\n" in read(client)
        db.engine.dispose()


def test_work_is_told_by_state_and_by_how_long_it_waits(client: Client) -> None:
    for state, ago in (("ready", 90), ("ready", -3600), ("dead", 10), ("uncertain", 10), ("leased", 10)):
        add_job(state, timedelta(seconds=ago))
    page = read(client)
    counts = {
        state: value(page, f'commerce_outbox_rows{{state="{state}"}}')
        for state in ("due", "scheduled", "dead", "uncertain", "leased")
    }
    assert counts == {"due": 1, "scheduled": 1, "dead": 1, "uncertain": 1, "leased": 1}
    assert 89 < value(page, "commerce_outbox_oldest_due_seconds") < 120
    assert value(page, "commerce_outbox_expired_leases") == 1


def test_nothing_waiting_is_zero_seconds(client: Client) -> None:
    assert "commerce_outbox_oldest_due_seconds 0.0\n" in read(client)


def test_the_newest_heartbeat_of_each_kind_counts(client: Client) -> None:
    heartbeat.record_heartbeat(heartbeat.RELAY)
    heartbeat.record_heartbeat("worker:a:1")
    with transaction_engine(db.engine).begin() as connection:
        connection.execute(text("INSERT INTO heartbeat VALUES ('worker:b:2', now() - interval '5 min')"))
    page = read(client)
    assert value(page, "commerce_workers_alive") == 1
    ages = [value(page, f'commerce_heartbeat_age_seconds{{process="{name}"}}') for name in ("worker", "relay")]
    assert_in_time(max(ages) < 5, ages)


def test_mail_is_counted_by_what_became_of_it(app: Flask, client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    before = read(client)
    message = mail.Message(to="a@example.com", subject="s", text="t", html="", message_id="<a@b>")
    mail.send(message, fence=lambda: None)
    with pytest.raises(Permanent):
        mail.send(mail.Message(to="no address", subject="", text="", html="", message_id=""), fence=lambda: None)
    after = read(client)
    for outcome in ("sent", "refused"):
        series = f'commerce_messages_total{{channel="mail",outcome="{outcome}"}}'
        assert value(after, series) - value(before, series) == 1


def test_the_database_away_is_a_number_and_no_error(app: Flask, tmp_path_factory: pytest.TempPathFactory) -> None:
    settings = app.extensions["settings"]
    away = app_for(
        database_url="postgresql://nobody@127.0.0.1:1/none",
        redis_url="redis://127.0.0.1:1/0",
        data_dir=settings.DATA_DIR,
    )
    page = read(Client(away.test_client()))
    assert "commerce_database_up 0.0\n" in page and "commerce_redis_up 0.0\n" in page
    assert "commerce_outbox_rows" not in page


def test_what_is_looked_up_is_looked_up_once_in_five_seconds(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    asked, seconds = [], [0.0]
    monkeypatch.setattr(response, "time", SimpleNamespace(monotonic=lambda: seconds[0]))
    monkeypatch.setattr(response.database_metrics, "load_database_metrics", lambda url: asked.append(url) or {})
    for seconds[0] in (0.0, 1.0, 5.0):
        read(client)
    assert len(asked) == 1
    seconds[0] = 5.1
    read(client)
    assert len(asked) == 2


def test_figures_ask_two_statements(client: Client) -> None:
    with db.engine.connect() as connection:
        for statement in (response.database_metrics.OUTBOX_SQL, response.database_metrics.SERVICE_SQL):
            connection.exec_driver_sql("SET enable_seqscan = off")
            plan = "\n".join(row[0] for row in connection.exec_driver_sql("EXPLAIN " + statement.replace("%", "%%")))
            assert not re.search(r"Seq Scan on (outbox|payout)\b", plan), plan


def test_waiting_wakeups_are_counted(app: Flask, client: Client) -> None:
    Redis.from_url(app.extensions["settings"].REDIS_URL).rpush("rq:queue:outbox", "a", "b")
    page = read(client)
    assert (value(page, "commerce_redis_up"), value(page, "commerce_bells_waiting")) == (1, 2)


def test_a_rail_that_fails_is_counted_until_its_breaker_opens(app: Flask, closed_port: int) -> None:
    settings = app.extensions["settings"]
    live = app_for(
        database_url=settings.DATABASE_URL,
        redis_url=settings.REDIS_URL,
        data_dir=settings.DATA_DIR,
        PAYRAIL_MODE="live",
        PAYRAIL_URL=f"http://127.0.0.1:{closed_port}",
        PAYRAIL_KEY="k",
        PAYRAIL_SECRET="s",
    )
    before = read(Client(live.test_client()))
    assert "commerce_rail_breaker_state 0.0\n" in before
    with live.app_context():
        for _ in range(2):
            rail().transfer_status("6565a1f0c3d2e1b0a9f8e7d6")
    live.extensions.pop("computed_metrics")
    after = read(Client(live.test_client()))
    made, kept = (
        value(after, series) - value(before, series)
        for series in (
            'commerce_rail_calls_total{method="GET",outcome="no_answer"}',
            'commerce_rail_calls_total{method="GET",outcome="breaker_open"}',
        )
    )
    assert (made, kept) == (5, 1)
    assert value(after, 'commerce_rail_call_seconds_count{method="GET"}') >= 5
    assert "commerce_rail_breaker_state 2.0\n" in after


def test_a_request_that_gets_no_connection_is_counted(client: Client) -> None:
    before = value(read(client), "commerce_database_pool_timeouts_total")
    assert to_app_error(TimeoutError()).code == "BUSY"
    assert value(read(client), "commerce_database_pool_timeouts_total") == before + 1


# Who may read


@pytest.fixture
def guarded(app: Flask) -> Client:
    settings = app.extensions["settings"]
    other = app_for(
        database_url=settings.DATABASE_URL,
        redis_url=settings.REDIS_URL,
        data_dir=settings.DATA_DIR,
        METRICS_TOKEN=TOKEN,
    )
    return Client(other.test_client())


@pytest.mark.parametrize("address", ["127.0.0.1", "127.8.8.8", "::1", ""])
def test_this_machine_itself_may_read(client: Client, address: str) -> None:
    assert client.get("/metrics", environ_base={"REMOTE_ADDR": address}).status_code == 200


@pytest.mark.parametrize("header", ["X-Forwarded-For", "Forwarded", "Via", "X-Real-IP", "X-Forwarded-Proto"])
def test_what_a_proxy_passes_on_is_not_from_this_machine(client: Client, header: str) -> None:
    answer = client.get("/metrics", headers={header: "127.0.0.1"})
    assert read_error(answer) == (403, "METRICS_CLOSED")


@pytest.mark.parametrize("address", ["203.0.113.9", "10.0.0.7", "2001:db8::1", "nonsense"])
def test_without_a_token_elsewhere_is_closed(client: Client, address: str) -> None:
    base = {"REMOTE_ADDR": address}
    for given in ({}, {"Authorization": "Bearer "}, {"Authorization": "Bearer None"}):
        assert read_error(client.get("/metrics", environ_base=base, headers=given)) == (403, "METRICS_CLOSED")


def test_a_scraper_on_a_node_of_production_needs_no_setting(app: Flask) -> None:
    settings = app.extensions["settings"]
    production = app_for(
        database_url=settings.DATABASE_URL,
        redis_url=settings.REDIS_URL,
        data_dir=settings.DATA_DIR,
        APP_ENV="production",
        PAYRAIL_ALLOW_MOCK="1",
        PUBLIC_BASE_URL="https://tickets.example.com",
        PROXY_HOPS="1",
    )
    client = Client(production.test_client())
    for host, status in (("127.0.0.1:8000", 200), ("localhost:8000", 200), ("other.example.com", 400)):
        assert client.get("/metrics", headers={"Host": host}).status_code == status
    through_proxy = {"Host": "tickets.example.com", "X-Forwarded-For": "127.0.0.1"}
    assert read_error(client.get("/metrics", headers=through_proxy)) == (403, "METRICS_CLOSED")


def test_the_token_opens_it_from_elsewhere(guarded: Client) -> None:
    def status(given: str | None) -> int:
        headers = {"Authorization": given} if given else {}
        return guarded.get("/metrics", environ_base=OUTSIDE, headers=headers).status_code

    assert status(f"Bearer {TOKEN}") == 200
    for wrong in (None, TOKEN, f"Basic {TOKEN}", f"Bearer {TOKEN}x", f"Bearer {TOKEN[:-1]}", "Bearer \xff"):
        assert status(wrong) == 403
