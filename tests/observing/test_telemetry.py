"""Sentry and OpenTelemetry: there when a setting asks, and told nothing that the log would not be told."""

import importlib.util
import json
import sys
from collections.abc import Callable

import pytest
from flask import Flask

from app.config import SettingsError
from app.core import telemetry
from app.core.context import request_id
from app.core.db import db
from app.core.jobs import Run
from app.core.outbox import enqueue
from app.core.outbox.executor import run_due_jobs
from app.core.transaction import transaction
from tests.core.outbox_jobs import does
from tests.http import Client
from tests.observing.fakes import Sentry, Tracing
from tests.settings import app_for
from tests.web import shop

DSN, COLLECTOR = "https://key@sentry.example.com/1", "http://127.0.0.1:4318"
TOKEN = "canary-token-of-43-characters-canary-token-x"


def app_with(app: Flask, **more: str) -> Flask:
    settings = app.extensions["settings"]
    made = app_for(database_url=settings.DATABASE_URL, redis_url=settings.REDIS_URL, data_dir=settings.DATA_DIR, **more)
    shop.register(made)
    return made


@pytest.fixture
def sentry(monkeypatch: pytest.MonkeyPatch) -> Sentry:
    fake = Sentry()
    monkeypatch.setitem(sys.modules, "sentry_sdk", fake)
    return fake


@pytest.fixture
def tracing(monkeypatch: pytest.MonkeyPatch) -> Tracing:
    fake = Tracing()
    fake.install(monkeypatch)
    return fake


@pytest.mark.parametrize(
    ("name", "value", "module"),
    [("SENTRY_DSN", DSN, "sentry_sdk"), ("OTEL_EXPORTER_OTLP_ENDPOINT", COLLECTOR, "opentelemetry.sdk")],
)
def test_without_the_library_the_start_stops_with_a_sentence(
    app: Flask, monkeypatch: pytest.MonkeyPatch, name: str, value: str, module: str
) -> None:
    monkeypatch.setattr("app.core.telemetry.find_spec", lambda name: None)
    with pytest.raises(SettingsError, match=f"{name}: needs {module}, which is not installed; run "):
        app_with(app, **{name: value})


@pytest.mark.parametrize("name", ["SENTRY_DSN", "OTEL_EXPORTER_OTLP_ENDPOINT"])
def test_an_address_that_is_none_stops_the_start(app: Flask, name: str) -> None:
    with pytest.raises(SettingsError, match=f"{name}: must be an http"):
        app_with(app, **{name: "collector:4318"})


def test_without_the_settings_nothing_is_loaded(app: Flask) -> None:
    if importlib.util.find_spec("sentry_sdk") is None:
        assert "sentry_sdk" not in sys.modules
    assert not {"sentry", "spans"} & app.extensions.keys()


def test_an_unexpected_error_is_reported_with_its_place_and_without_secrets(app: Flask, sentry: Sentry) -> None:
    client = Client(app_with(app, SENTRY_DSN=DSN).test_client())
    answer = client.get(
        f"/t/boom?token={TOKEN}", headers={"Authorization": f"Bearer {TOKEN}", "X-Request-Id": "request-0001"}
    )
    assert answer.status_code == 500
    (event,) = sentry.sent
    assert event["tags"] == {"route": "/t/boom", "request_id": "request-0001"}
    (told,) = event["exception"]["values"]
    assert told["type"] == "RuntimeError"
    assert told["stacktrace"]["frames"] == [{"function": "view", "filename": "routes.py", "lineno": 7}]
    text = json.dumps(event)
    assert "canary" not in text and "hunter2" not in text


def test_sentry_is_told_to_gather_nothing_by_itself(app: Flask, sentry: Sentry) -> None:
    app_with(app, SENTRY_DSN=DSN)
    options = sentry.options
    assert options["dsn"] == DSN and options["max_request_body_size"] == "never"
    for name in (
        "default_integrations",
        "auto_enabling_integrations",
        "include_local_variables",
        "send_default_pii",
        "include_source_context",
        "max_breadcrumbs",
    ):
        assert not options[name], name


def test_what_people_do_wrong_is_not_told(app: Flask, sentry: Sentry) -> None:
    client = Client(app_with(app, SENTRY_DSN=DSN).test_client())
    client.get("/nowhere")
    client.get("/api/auth/me")
    client.post("/api/auth/login", {"email": 1})
    assert sentry.sent == []


def test_only_the_first_line_of_an_error_leaves(sentry: Sentry, app: Flask) -> None:
    with app_with(app, SENTRY_DSN=DSN).app_context():
        telemetry.errors.report(ValueError("duplicate key\nDETAIL: Key (email)=(canary@example.com)"))
    assert sentry.sent[0]["exception"]["values"][0]["value"] == "duplicate key"


def work(act: Callable[[Run], None]) -> None:
    """Runs a job that does that, enqueued by a request."""
    token = request_id.set("request-0002")
    with transaction():
        enqueue("core.once", does=does("telemetry", act))
    request_id.reset(token)
    run_due_jobs(worker="test")
    db.engine.dispose()


def test_a_job_that_fails_is_told_by_its_kind(app: Flask, sentry: Sentry) -> None:
    def fail(run: Run) -> None:
        raise RuntimeError(f"password={TOKEN}")

    with app_with(app, SENTRY_DSN=DSN).app_context():
        work(fail)
    (event,) = sentry.sent
    assert event["tags"] == {"kind": "core.once", "request_id": "request-0002"}
    assert "canary" not in json.dumps(event)


# Spans


def test_a_request_is_a_span_with_its_route_and_nothing_of_its_path(app: Flask, tracing: Tracing) -> None:
    client = Client(app_with(app, OTEL_EXPORTER_OTLP_ENDPOINT=COLLECTOR + "/").test_client())
    client.get(f"/claim/{TOKEN}?q=canary", headers={"X-Request-Id": "request-0001", "Authorization": TOKEN})
    (span,) = tracing.spans
    assert tracing.endpoint == COLLECTOR + "/v1/traces"
    assert span.name == "GET /claim/<token>"
    status = span.attributes.pop("status")
    assert status in (404, 410)
    assert span.attributes == {"route": "/claim/<token>", "method": "GET", "request_id": "request-0001"}


def test_a_trace_that_a_caller_has_begun_goes_on(app: Flask, tracing: Tracing) -> None:
    client = Client(app_with(app, OTEL_EXPORTER_OTLP_ENDPOINT=COLLECTOR).test_client())
    begun = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
    client.get("/health", headers={"traceparent": begun, "tracestate": "x=1", "baggage": "canary=1"})
    assert tracing.spans[0].context == {"traceparent": begun}


def test_work_is_a_span_with_the_request_it_came_from(app: Flask, tracing: Tracing) -> None:
    with app_with(app, OTEL_EXPORTER_OTLP_ENDPOINT=COLLECTOR).app_context():
        work(lambda run: None)
    (span,) = tracing.spans
    assert span.name == "job core.once"
    assert span.attributes == {"kind": "core.once", "attempt": 1, "request_id": "request-0002", "outcome": "done"}


def test_of_an_error_only_its_type_is_told(app: Flask, tracing: Tracing) -> None:
    traced = app_with(app, OTEL_EXPORTER_OTLP_ENDPOINT=COLLECTOR)
    told = pytest.raises(ValueError, match="canary")
    with traced.app_context(), told, telemetry.spans.span("work", secret="canary"):
        raise ValueError("canary")
    assert tracing.spans[0].attributes == {"outcome": "ValueError"}


def test_a_process_that_ends_sends_what_waits(app: Flask, sentry: Sentry, tracing: Tracing) -> None:
    both = app_with(app, SENTRY_DSN=DSN, OTEL_EXPORTER_OTLP_ENDPOINT=COLLECTOR)
    telemetry.flush(app)
    assert (sentry.flushed, tracing.flushed) == (0, 0)
    Client(both.test_client()).get("/health")
    telemetry.flush(both)
    assert (sentry.flushed, tracing.flushed) == (1, 1)
