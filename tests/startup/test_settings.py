"""What production refuses to start with."""

import os
import secrets
import subprocess
import sys
import uuid
from pathlib import Path

import pytest

from app.config import DEVELOPMENT_SECRET, SettingsError, load
from tests.house.sources import ROOT

PRODUCTION = {
    "APP_ENV": "production",
    "SECRET_KEY": secrets.token_urlsafe(48),
    "DATABASE_URL": "postgresql://db/x",
    "REDIS_URL": "redis://r",
    "PAYRAIL_MODE": "disabled",
    "PUBLIC_BASE_URL": "https://festival.example",
}
GUESSABLE = [
    DEVELOPMENT_SECRET,
    f" {DEVELOPMENT_SECRET} ",
    "a" * 64,
    "ab" * 32,
    "0123456789" * 4,
    "password" * 6,
    "abcdefghijklmnopqrstuvwxyz0123456789",
    "0123456789abcdef" * 4,
    "zyxwvutsrqponmlkjihgfedcba9876543210",
    "short",
    "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaabcdefg",
    "changeme" * 4 + "1",
    "REPLACE_ME_WITH_32_RANDOM_CHARACTERS",
    "your-secret-key-goes-here-please-change",
    "qwertyuiopasdfghjklzxcvbnm1234567890",
]
PUBLIC = "http://festival.example"


def problems(**changes: str) -> list[str]:
    try:
        load({**PRODUCTION, **changes})
    except SettingsError as error:
        return [line.split(":")[0] for line in str(error).splitlines()]
    return []


@pytest.mark.parametrize("secret", [*GUESSABLE, DEVELOPMENT_SECRET.upper(), f"{DEVELOPMENT_SECRET}-1"])
def test_production_refuses_guessable_secret_key(secret: str) -> None:
    assert problems(SECRET_KEY=secret) == ["SECRET_KEY"]


@pytest.mark.parametrize(
    "make", [lambda: secrets.token_hex(16), lambda: secrets.token_urlsafe(24), lambda: str(uuid.uuid4())]
)
def test_production_takes_random_secret_keys(make: object) -> None:
    assert callable(make)
    for _ in range(2000):
        assert problems(SECRET_KEY=make()) == []


@pytest.mark.parametrize("secret", ["a", "bootstrap", "a" * 40, "0123456789abcdef"])
def test_production_refuses_guessable_bootstrap_secret(secret: str) -> None:
    assert problems(BOOTSTRAP_SECRET=secret) == ["BOOTSTRAP_SECRET"]
    assert secret == load({"BOOTSTRAP_SECRET": secret}).BOOTSTRAP_SECRET


def test_production_takes_random_bootstrap_secrets() -> None:
    for _ in range(2000):
        assert problems(BOOTSTRAP_SECRET=secrets.token_hex(8)) == []
    assert problems(BOOTSTRAP_SECRET="") == []


@pytest.mark.parametrize("name", ["PUBLIC_BASE_URL", "APPLE_JWKS_URL", "GOOGLE_JWKS_URL", "SMS_URL", "PUSH_URL"])
def test_production_refuses_addresses_without_tls(name: str) -> None:
    assert problems(**{name: PUBLIC}) == [name]
    assert problems(**{name: "https://festival.example"}) == []
    assert load({name: PUBLIC})


@pytest.mark.parametrize("name", ["PUBLIC_BASE_URL", "APPLE_JWKS_URL", "GOOGLE_JWKS_URL"])
@pytest.mark.parametrize("url", ["festival.example", "ftp://festival.example", "http://[broken", "https://a:999999"])
def test_an_address_has_to_be_one(name: str, url: str) -> None:
    assert problems(**{name: url}) == [name]
    with pytest.raises(SettingsError, match=f"^{name}: must be an"):
        load({name: url})


@pytest.mark.parametrize("name", ["PAYRAIL_URL", "SMS_URL", "PUSH_URL", "SENTRY_DSN", "OTEL_EXPORTER_OTLP_ENDPOINT"])
def test_an_address_that_cannot_be_read_is_a_problem(name: str) -> None:
    live = {"PAYRAIL_MODE": "live", "PAYRAIL_KEY": "k", "PAYRAIL_SECRET": "s", "PAYRAIL_URL": "https://rail.example"}
    for url in ("http://[broken", "https://a:999999"):
        assert problems(**{**live, name: url}) == [name]


def test_production_may_be_tried_on_ones_own_machine() -> None:
    for host in ("localhost:8000", "127.0.0.1:8000", "[::1]:8000"):
        assert problems(PUBLIC_BASE_URL=f"http://{host}") == []


def test_all_problems_are_reported_together() -> None:
    wrong = {
        "SECRET_KEY": DEVELOPMENT_SECRET,
        "BOOTSTRAP_SECRET": "a",
        "PUBLIC_BASE_URL": PUBLIC,
        "SMS_URL": PUBLIC,
        "APPLE_JWKS_URL": PUBLIC,
        "GOOGLE_JWKS_URL": PUBLIC,
        "PAYRAIL_MODE": "x",
        "VAT_PERCENT": "x",
    }
    assert sorted(problems(**wrong)) == sorted(wrong)


@pytest.mark.parametrize("port", ["x", "0", "70000"])
def test_port_has_to_be_one(port: str) -> None:
    assert problems(PORT=port) == ["PORT"]


def test_base_url_follows_port() -> None:
    assert load({"PORT": "9000"}).PUBLIC_BASE_URL == "http://localhost:9000"
    assert load({}).PUBLIC_BASE_URL == "http://localhost:8000"
    assert load({"PORT": "9000", "PUBLIC_BASE_URL": "https://x.example/"}).PUBLIC_BASE_URL == "https://x.example"


def test_the_address_of_the_rail_selects_it() -> None:
    live = {"PAYRAIL_URL": "https://rail.example", "PAYRAIL_KEY": "k", "PAYRAIL_SECRET": "s"}
    assert (load(live).PAYRAIL_MODE, load(live).rail_url) == ("live", "https://rail.example")
    assert (load({}).PAYRAIL_MODE, load({}).rail_url) == ("mock", "http://127.0.0.1:8090")
    assert load({"PORT": "65500"}).rail_url == "http://127.0.0.1:65410"
    assert load({**live, "PAYRAIL_MODE": "mock"}).rail_url == "https://rail.example"
    assert load({**live, "PAYRAIL_MODE": "disabled"}).rail_url is None


def test_the_secret_of_the_mock_rail_follows_the_secret_key() -> None:
    made = [load({"SECRET_KEY": key}).PAYRAIL_SECRET for key in ("a" * 32, "b" * 32)]
    assert len(set(made)) == 2 and all(secret is not None and len(secret) == 64 for secret in made)
    assert load({"PAYRAIL_SECRET": "ours"}).PAYRAIL_SECRET == "ours"
    assert load({"PAYRAIL_MODE": "disabled"}).PAYRAIL_SECRET is None


@pytest.mark.parametrize(
    ("name", "url"),
    [
        ("PUBLIC_BASE_URL", "https://festival.example/?from=mail"),
        ("PUBLIC_BASE_URL", "https://festival.example/#top"),
        ("PUBLIC_BASE_URL", "https://user:word@festival.example"),
        ("SMTP_URL", "smtp://"),
        ("SMTP_URL", "smtp://[broken"),
        ("STORAGE_URL", "file://"),
        ("STORAGE_URL", "file:///"),
        ("STORAGE_URL", "file://var/storage"),
        ("STORAGE_URL", "s3://"),
    ],
)
def test_an_address_has_to_lead_somewhere(name: str, url: str) -> None:
    assert problems(**{name: url}) == [name]


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("REDIS_URL", "redis://r:x"),
        ("REDIS_URL", "redis://r:99999"),
        ("REDIS_URL", "redis://[broken"),
        ("REDIS_URL", "sentinel://r:x/service"),
        ("DATABASE_URL", "postgresql://db/x?pool=1"),
        ("DATABASE_REPLICA_URL", "postgresql://db/x?pool=1"),
        ("MAIL_FROM", "festival"),
        ("MAIL_FROM", "Festival <no-reply@festival.example>\r\nBcc: all@festival.example"),
        ("MAIL_FROM", "Lights, Windhoek <no-reply@festival.example>"),
        ("WEB_WORKERS", "9" * 20),
        ("WEB_THREADS", "9" * 20),
    ],
)
def test_a_setting_that_nothing_could_work_with_is_a_problem(name: str, value: str) -> None:
    assert problems(**{name: value}) == [name]


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("REDIS_URL", "rediss://user:word@r:6380/1?ssl_cert_reqs=none"),
        ("REDIS_URL", "unix:///run/redis.sock"),
        ("REDIS_URL", "sentinel://:word@r:26379,[::1]/service/0?tls=1"),
        ("DATABASE_URL", "postgresql://u:w@/x?host=one:5432&host=two:5432&target_session_attrs=primary"),
        ("DATABASE_URL", "postgresql://u@db/x?sslmode=verify-full&sslrootcert=/etc/ca.pem"),
        ("MAIL_FROM", "no-reply@festival.example"),
        ("MAIL_FROM", "Größe <no-reply@festival.example>"),
        ("MAIL_FROM", '"Lights, Windhoek" <no-reply@festival.example>'),
    ],
)
def test_a_setting_that_works_is_taken(name: str, value: str) -> None:
    assert problems(**{name: value}) == []


@pytest.mark.parametrize("token", ["a" * 16, "0123456789abcdef", "metrics"])
def test_production_refuses_guessable_metrics_token(token: str) -> None:
    assert problems(METRICS_TOKEN=token) == ["METRICS_TOKEN"]
    assert problems(METRICS_TOKEN=secrets.token_hex(8)) == []


def test_files_are_kept_below_any_folder() -> None:
    """A name with characters that mean something in an address."""
    assert load({"DATA_DIR": "/tmp/a #1?%20"}).STORAGE_URL == "file:///tmp/a%20%231%3F%2520/storage"


def test_settings_come_from_the_env_file_unless_the_environment_has_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / ".env").write_text(
        '# for this machine\nMAIL_FROM="Etosha Nights <no-reply@etosha.example>"\nVAT_PERCENT=10\n'
    )
    monkeypatch.chdir(tmp_path)
    for name in ("MAIL_FROM", "VAT_PERCENT"):
        monkeypatch.setenv(name, "16")
        monkeypatch.delenv(name)
    monkeypatch.delenv("FLASK_SKIP_DOTENV")
    monkeypatch.setenv("VAT_PERCENT", "16")
    settings = load()
    assert (settings.MAIL_FROM, settings.VAT_PERCENT) == ("Etosha Nights <no-reply@etosha.example>", 16.0)
    monkeypatch.setenv("FLASK_SKIP_DOTENV", "1")
    monkeypatch.delenv("MAIL_FROM")
    assert load().MAIL_FROM == "Event Commerce <no-reply@localhost>"


def test_gunicorn_reads_the_env_file(tmp_path: Path) -> None:
    (tmp_path / ".env").write_text("PORT=8123\nWEB_THREADS=3\n")
    program = f"import runpy; it = runpy.run_path({str(ROOT / 'gunicorn.conf.py')!r}); print(it['bind'], it['threads'])"
    environment = {
        name: value for name, value in os.environ.items() if name not in ("FLASK_SKIP_DOTENV", "PORT", "BIND")
    }
    process = subprocess.run(
        [sys.executable, "-c", program],
        cwd=tmp_path,
        env={**environment, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=True,
    )
    assert process.stdout == "['127.0.0.1:8123'] 3\n"


@pytest.mark.parametrize("provider", ["APPLE", "GOOGLE"])
def test_the_client_of_browsers_is_one_whose_tokens_are_accepted(provider: str) -> None:
    ids, web = f"{provider}_CLIENT_IDS", f"{provider}_WEB_CLIENT_ID"
    assert problems(**{ids: "app,web", web: "web"}) == []
    assert problems(**{ids: "app", web: "web"}) == [web]
    assert problems(**{web: "web"}) == [web]
