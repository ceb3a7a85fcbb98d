"""Every setting: declared once, read from the environment and `.env`, typed, and checked before anything starts.

`docs/settings.md` is generated from the `Settings` class.
"""

import hmac
import os
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, fields
from dataclasses import field as dataclass_field
from pathlib import Path
from typing import Any, get_type_hints
from urllib.parse import quote

import marshmallow
from dotenv import load_dotenv
from marshmallow.validate import OneOf, Range, Validator

from app.config_validation import SettingsByName, find_invalid_settings, parse_address
from app.secret_strength import PUBLISHED

DEVELOPMENT_SECRET = PUBLISHED
MOCK_RAIL_OFFSET, MAX_PORT = 90, 65535
"""How far the port of the mock rail is from PORT."""
PARSERS: dict[object, marshmallow.fields.Field[Any]] = {
    str: marshmallow.fields.String(),
    int: marshmallow.fields.Integer(),
    float: marshmallow.fields.Float(),
    bool: marshmallow.fields.Boolean(),
}


class SettingsError(Exception):
    """The settings are wrong; the message has one sentence for each."""


def setting(
    help: str,
    *,
    default: object = None,
    described_as: str | None = None,
    check: Validator | None = None,
    secret: bool = False,
) -> Any:
    """Return a field of `Settings`.

    `default` is a value, or a function of the settings declared before; then `described_as` is its text in the
    documentation. `check` validates a value from the environment.
    """
    text = described_as if described_as is not None else _describe(default)
    return dataclass_field(
        metadata={"help": help, "default": default, "described_as": text, "check": check, "secret": secret}
    )


def _describe(default: object) -> str:
    if isinstance(default, list):
        return ",".join(default) or "none"
    return "" if default is None else str(default)


def _by_environment(development: object, production: object) -> Callable[[SettingsByName], object]:
    return lambda read: production if read["APP_ENV"] == "production" else development


def _local_hosts(read: SettingsByName) -> list[str]:
    """The host names of a node: its public name, and those that health checks and Prometheus on it use."""
    parts = parse_address(read["PUBLIC_BASE_URL"])
    return [*([parts.hostname] if parts and parts.hostname else []), "localhost", "127.0.0.1"]


def _derive_mock_secret(read: SettingsByName) -> str:
    return hmac.new(read["SECRET_KEY"].encode(), b"mock rail", "sha256").hexdigest()


@dataclass(frozen=True, kw_only=True)
class Settings:
    """The settings, one field for each environment variable."""

    APP_ENV: str = setting(
        "`development` or `production`", default="development", check=OneOf(("development", "production"))
    )
    SECRET_KEY: str = setting(
        "32 or more random characters; every token and code is derived from it",
        default=_by_environment(DEVELOPMENT_SECRET, ""),
        described_as="a fixed one in development, none in production",
        secret=True,
    )
    DATABASE_URL: str = setting("PostgreSQL 15 or newer; the embedded server when absent", default="", secret=True)
    DATABASE_DIRECT_URL: str | None = setting(
        "the database itself, where DATABASE_URL is a pooler in transaction mode (PgBouncer)", secret=True
    )
    DATABASE_REPLICA_URL: str | None = setting(
        "one streaming replica (no balancer), for public reads and reports", secret=True
    )
    DATABASE_REPLICA_STALENESS: float = setting(
        "seconds that a public read may be behind the primary", default=1.0, described_as="1", check=Range(0.1, 60)
    )
    DATABASE_POOL: int = setting(
        "connections per process; as many as a worker has threads", default=8, check=Range(1, 100)
    )
    REDIS_URL: str = setting(
        "Redis 6.2 or newer, or its Sentinels; the embedded server when absent", default="", secret=True
    )
    PORT: int = setting(
        "port of the web process on this machine, unless BIND names another", default=8000, check=Range(1, MAX_PORT)
    )
    WEB_WORKERS: int = setting("web processes, one for each core", default=2, check=Range(1, 512))
    WEB_THREADS: int = setting("threads of each web process", default=8, check=Range(1, 512))
    PUBLIC_BASE_URL: str = setting(
        "start of the links in mails and documents; in production `https://`, or this machine itself",
        default=lambda read: f"http://localhost:{read['PORT']}",
        described_as="http://localhost:PORT",
    )
    TRUSTED_HOSTS: list[str] = setting(
        "accepted host names, comma-separated; requests for others get 400",
        default=lambda read: _local_hosts(read) if read["APP_ENV"] == "production" else [],
        described_as="any in development, that of PUBLIC_BASE_URL and of this machine itself in production",
    )
    PROXY_HOPS: int = setting("reverse proxies in front whose X-Forwarded-* count", default=0, check=Range(0, 5))
    CORS_ORIGINS: list[str] = setting("browser origins that may call the API, comma-separated", default=[])
    BOOTSTRAP_SECRET: str | None = setting(
        "lets the first admin register, once; in production 16 or more random characters", secret=True
    )
    SMTP_URL: str | None = setting(
        "smtp://user:pass@host:port?starttls=1, or smtps://user:pass@host; absent: mail stays in the mailbox",
        secret=True,
    )
    MAIL_FROM: str = setting("sender of all mail", default="Event Commerce <no-reply@localhost>")
    CONTACT_EMAIL: str | None = setting("address of the operators, for people whose account is suspended")
    SMS_URL: str | None = setting(
        "https://token@host/path, a gateway for text messages; absent: they stay in the mailbox", secret=True
    )
    PUSH_URL: str | None = setting("the same for push messages", secret=True)
    DATA_DIR: Path = setting(
        "embedded servers, files and the development mailbox", default=Path("var"), described_as="./var"
    )
    STORAGE_URL: str = setting(
        "`file:///folder` or `s3://bucket?endpoint=…`",
        default=lambda read: f"file://{quote(str(read['DATA_DIR']))}/storage",
        described_as="file://DATA_DIR/storage",
        secret=True,
    )
    PAYRAIL_URL: str | None = setting(
        "the payment rail's address; absent: in `mock` mode port PORT + 90 of this machine, where `flask up` starts the"
        " mock rail"
    )
    PAYRAIL_MODE: str = setting(
        "`live`, `mock` (a rail that moves no money) or `disabled`",
        default=lambda read: "live" if read["PAYRAIL_URL"] else "mock",
        described_as="`live` with PAYRAIL_URL, else `mock`",
        check=OneOf(("mock", "live", "disabled")),
    )
    PAYRAIL_KEY: str | None = setting(
        "our key at the rail",
        default=lambda read: "mock-key" if read["PAYRAIL_MODE"] == "mock" else None,
        described_as="`mock-key` in `mock` mode, else none",
        secret=True,
    )
    PAYRAIL_SECRET: str | None = setting(
        "signs requests to the rail and its callbacks",
        default=lambda read: _derive_mock_secret(read) if read["PAYRAIL_MODE"] == "mock" else None,
        described_as="derived from SECRET_KEY in `mock` mode, else none",
        secret=True,
    )
    # A job has 20 seconds in all.
    PAYRAIL_TIMEOUT: float = setting(
        "seconds for one call to the rail, repeats included",
        default=15.0,
        described_as="15",
        check=Range(0.1, 15),
    )
    PAYRAIL_ALLOW_MOCK: bool = setting("lets production start with the mock rail", default=False)
    PAYOUT_NEW_DESTINATION_HOLD: float = setting(
        "hours that the first payout to a new destination waits after a mail to its owner",
        default=_by_environment(0.0, 24.0),
        described_as="0 in development, else 24",
        check=Range(0, 720),
    )
    DOCUMENT_RETENTION_DAYS: int = setting(
        "days after which documents of declined, withdrawn and expired applications are erased",
        default=90,
        check=Range(1, 36500),
    )
    GUEST_RETENTION_DAYS: int = setting(
        "days after an event's end after which its guests and recipients of campaigns are erased; 0 keeps them",
        default=400,
        check=Range(0, 36500),
    )
    AUDIT_RETENTION_DAYS: int = setting(
        "days after which entries of the audit trail are erased; the database refuses to erase younger ones than a year",
        default=1826,
        check=Range(365, 36500),
    )
    APPLE_CLIENT_IDS: list[str] = setting(
        "audiences of Apple id tokens; none: the provider is off", default=[], described_as=""
    )
    APPLE_WEB_CLIENT_ID: str = setting(
        "which of `APPLE_CLIENT_IDS` browsers sign in with, a Services ID with the return URL "
        "`PUBLIC_BASE_URL`/sign-in/apple; none: no button",
        default="",
        described_as="",
    )
    APPLE_JWKS_URL: str = setting(
        "Apple's published keys; in production `https://`", default="https://appleid.apple.com/auth/keys"
    )
    APPLE_ISSUER: list[str] = setting("accepted issuers", default=["https://appleid.apple.com"])
    GOOGLE_CLIENT_IDS: list[str] = setting(
        "audiences of Google id tokens; none: the provider is off", default=[], described_as=""
    )
    GOOGLE_WEB_CLIENT_ID: str = setting(
        "which of `GOOGLE_CLIENT_IDS` browsers sign in with, a web client with the redirect URI "
        "`PUBLIC_BASE_URL`/sign-in/google; none: no button",
        default="",
        described_as="",
    )
    GOOGLE_JWKS_URL: str = setting(
        "Google's published keys; in production `https://`", default="https://www.googleapis.com/oauth2/v3/certs"
    )
    GOOGLE_ISSUER: list[str] = setting(
        "accepted issuers", default=["https://accounts.google.com", "accounts.google.com"]
    )
    VAT_PERCENT: float = setting("inside every price", default=15.0, described_as="15", check=Range(0, 100))
    RATE_LIMIT_SCALE: float = setting(
        "multiplies every count per time",
        default=_by_environment(20.0, 1.0),
        described_as="20 in development, else 1",
        check=Range(0.01),
    )
    LOG_LEVEL: str = setting(
        "`debug`, `info`, `warning` or `error`", default="info", check=OneOf(("debug", "info", "warning", "error"))
    )
    METRICS_TOKEN: str | None = setting(
        "16 or more characters; a client with it as Bearer may read /metrics from other machines", secret=True
    )
    METRICS_DIR: Path = setting(
        "folder of the metrics of this node, best in memory (tmpfs)",
        default=lambda read: read["DATA_DIR"] / "metrics",
        described_as="DATA_DIR/metrics",
    )
    SENTRY_DSN: str | None = setting("receives errors; needs requirements-observability.txt", secret=True)
    OTEL_EXPORTER_OTLP_ENDPOINT: str | None = setting(
        "receives traces by OTLP over HTTP; needs requirements-observability.txt", secret=True
    )

    @property
    def production(self) -> bool:
        return self.APP_ENV == "production"

    @property
    def rail_url(self) -> str | None:
        """The payment rail's address; None if payments are disabled."""
        if self.PAYRAIL_MODE == "disabled":
            return None
        port = self.PORT + MOCK_RAIL_OFFSET
        return self.PAYRAIL_URL or f"http://127.0.0.1:{port if port <= MAX_PORT else port - 2 * MOCK_RAIL_OFFSET}"


def load(environ: Mapping[str, str] | None = None) -> Settings:
    """Return the settings of this process. Raises SettingsError, which names every wrong variable.

    Without `environ` they come from the environment, and from `.env` in the current folder where the environment has none.
    """
    if environ is None:
        load_env_file()
    variables = os.environ if environ is None else environ
    problems: dict[str, str] = {}
    read: SettingsByName = {}
    types = get_type_hints(Settings)
    for field in fields(Settings):
        default, text = field.metadata["default"], variables.get(field.name, "")
        value = default(read) if callable(default) else default
        if text.strip():
            try:
                value = _parse(text, types[field.name], field.metadata["check"])
            except marshmallow.ValidationError as error:
                problems[field.name] = f"{field.name}: {' '.join(error.messages)}"
        read[field.name] = value.absolute() if isinstance(value, Path) else value
    read["PUBLIC_BASE_URL"] = read["PUBLIC_BASE_URL"].rstrip("/")
    # An unreadable setting has its default here; a second sentence about that default would be wrong.
    sentences = [*problems.values()]
    sentences += [item for item in find_invalid_settings(read) if item.partition(":")[0] not in problems]
    if sentences:
        raise SettingsError("\n".join(sentences))
    return Settings(**read)


def load_env_file() -> None:
    """Add the variables of `.env` in the current folder to the environment, which takes precedence.

    FLASK_SKIP_DOTENV turns it off, as it does for `flask`.
    """
    if not os.environ.get("FLASK_SKIP_DOTENV"):
        load_dotenv(Path.cwd() / ".env")


def table() -> Iterator[tuple[str, str, str]]:
    """Yield name, default and meaning of every setting, for the documentation."""
    for field in fields(Settings):
        yield field.name, field.metadata["described_as"], field.metadata["help"]


def _parse(text: str, type: object, check: Validator | None) -> object:
    """Return the typed value. Raises marshmallow.ValidationError."""
    if type == list[str]:
        return [part.strip() for part in text.split(",") if part.strip()]
    if type is Path:
        return Path(text)
    value: object = PARSERS.get(type, PARSERS[str]).deserialize(text)
    if check is not None:
        check(value)
    return value
