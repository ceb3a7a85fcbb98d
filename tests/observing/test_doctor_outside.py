"""`flask doctor`: whom the service speaks to, each out of reach in turn. Nobody gets a message."""

from dataclasses import replace
from pathlib import Path

import pytest
from flask import Flask

from app.config import Settings
from app.doctor import external_checks
from app.doctor.results import FAIL, OK, WARN
from tests.observing.ward import found, listening
from tests.settings import app_for
from tests.smtp_sink import run_smtp_sink


def test_storage_that_cannot_be_written(app: Flask, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    ours = app.extensions["settings"]
    broken = app_for(
        database_url=ours.DATABASE_URL, redis_url=ours.REDIS_URL, STORAGE_URL=f"file://{tmp_path}/file/storage"
    )
    with broken.app_context():
        told = found(external_checks, broken.extensions["settings"], "storage", FAIL)
    assert f"{tmp_path}/file/storage" in told


def test_storage_keeps_nothing_of_the_visit(app: Flask, settings: Settings) -> None:
    assert "A file was written to" in found(external_checks, settings, "storage", OK)
    assert list((settings.DATA_DIR / "storage").rglob("doctor/*")) == []


def test_no_mail_server_in_production(settings: Settings) -> None:
    assert "no address can be verified" in found(external_checks, settings, "mail", FAIL)


def test_a_mail_server_that_is_away(settings: Settings, closed_port: int) -> None:
    away = replace(settings, SMTP_URL=f"smtp://127.0.0.1:{closed_port}")
    assert "cannot be used" in found(external_checks, away, "mail", FAIL)


def test_a_mail_server_that_refuses_us(settings: Settings) -> None:
    with run_smtp_sink(login=("frieda", "right")) as server:
        wrong = replace(settings, SMTP_URL=f"smtp://frieda:canary-password@localhost:{server.port}")
        told = found(external_checks, wrong, "mail", FAIL)
        assert "refuses our name or password" in told and "canary" not in told
        right = replace(settings, SMTP_URL=server.url)
        assert "accepts our login; nothing was sent" in found(external_checks, right, "mail", OK)
        assert "in the clear" in found(external_checks, right, "mail", WARN)
        assert server.received == []


@pytest.mark.parametrize("name", ["SMS_URL", "PUSH_URL"])
def test_gateways(settings: Settings, closed_port: int, name: str) -> None:
    about = name.removesuffix("_URL").lower()
    assert f"{name} is not set" in found(external_checks, settings, about, WARN)
    away = replace(settings, **{name: f"http://127.0.0.1:{closed_port}/send?key=canary"})
    assert "cannot be reached: Connection refused" in found(external_checks, away, about, FAIL)
    with listening() as port:
        there = replace(settings, **{name: f"http://127.0.0.1:{port}/send"})
        assert "can be reached; nothing was sent" in found(external_checks, there, about, OK)
        no_tls = replace(settings, **{name: f"https://127.0.0.1:{closed_port}/send"})
        assert "cannot be reached" in found(external_checks, no_tls, about, FAIL)


def test_the_rail(app: Flask, settings: Settings, closed_port: int) -> None:
    assert "although people see payments" in found(external_checks, settings, "rail", WARN)
    assert "every payment is refused" in found(
        external_checks, replace(settings, PAYRAIL_MODE="disabled"), "rail", WARN
    )
    live = app_for(
        database_url=settings.DATABASE_URL,
        redis_url=settings.REDIS_URL,
        data_dir=settings.DATA_DIR,
        PAYRAIL_MODE="live",
        PAYRAIL_URL=f"http://127.0.0.1:{closed_port}",
        PAYRAIL_KEY="k",
        PAYRAIL_SECRET="s",
    )
    with live.app_context():
        assert "payments and payouts stop" in found(external_checks, live.extensions["settings"], "rail", FAIL)


def test_those_who_watch(settings: Settings, closed_port: int) -> None:
    away = replace(settings, OTEL_EXPORTER_OTLP_ENDPOINT=f"http://127.0.0.1:{closed_port}")
    assert "cannot be reached" in found(external_checks, away, "watching", WARN)
